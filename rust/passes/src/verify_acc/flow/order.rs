//! The order of the nodes.

use pto_ir::{BlockId, Op, Program, Region};
use rustc_hash::FxHashMap;

use super::Node;

/// The nodes in an order in which only edges of loops lead back; those that nothing leads to are left out.
/// Among nodes that neither comes first of, the order of the program stays: loop bodies before what
/// follows the loop.
pub(super) fn reverse_postorder(nodes: &[Node]) -> Vec<usize> {
    let mut finished: Vec<usize> = Vec::with_capacity(nodes.len());
    let mut is_seen = vec![false; nodes.len()];
    // Each node with the targets left to follow, the last in program order first.
    let mut path: Vec<(usize, Vec<usize>)> = Vec::new();
    let targets = |node: usize| {
        let mut targets: Vec<usize> = nodes[node].edges.iter().map(|edge| edge.to).collect();
        targets.sort_unstable();
        targets
    };
    if !nodes.is_empty() {
        is_seen[0] = true;
        path.push((0, targets(0)));
    }
    while let Some((node, left)) = path.last_mut() {
        match left.pop() {
            Some(next) if is_seen[next] => {}
            Some(next) => {
                is_seen[next] = true;
                path.push((next, targets(next)));
            }
            None => {
                finished.push(*node);
                path.pop();
            }
        }
    }
    finished.reverse();
    finished
}

/// Those that something leads to in the order of the program, in which the variants of one piece of it are
/// neighbours: so a value is needed along a stretch of nodes, whatever the variant. Without jumps only edges
/// of loops lead back there too.
pub(super) fn program_order(program: &Program, nodes: &[Node]) -> Vec<usize> {
    let ranks = ranks(program);
    let mut order = reverse_postorder(nodes);
    order.sort_by_key(|&index| ranks.get(&(nodes[index].block, nodes[index].stretch)));
    order
}

/// By block and number of operations with regions before it: where a stretch stands in the program.
fn ranks(program: &Program) -> FxHashMap<(BlockId, usize), usize> {
    let mut ranks = FxHashMap::default();
    // Stretches that are left, the next last: the block, the number, the position where it begins.
    let mut left: Vec<(BlockId, usize, usize)> = Vec::new();
    let push = |region: &Region, left: &mut Vec<_>| {
        left.extend(region.blocks.iter().rev().map(|&block| (block, 0, 0)));
    };
    if let Some(body) = program.body() {
        push(body, &mut left);
    }
    while let Some((block, stretch, first)) = left.pop() {
        ranks.insert((block, stretch), ranks.len());
        let insts = &program.block(block).insts;
        let mut holders = (first..insts.len()).filter_map(|at| match &program.inst(insts[at]).op {
            Op::Region { regions, .. } => Some((at, regions)),
            _ => None,
        });
        if let Some((at, regions)) = holders.next() {
            left.push((block, stretch + 1, at + 1));
            for &region in regions.iter().rev() {
                push(program.region(region), &mut left);
            }
        }
    }
    ranks
}

/// Those of `nodes` that `order` lists, in that order.
pub(super) fn renumbered(nodes: Vec<Node>, order: &[usize]) -> Vec<Node> {
    const LEFT_OUT: usize = usize::MAX;
    let mut rank = vec![LEFT_OUT; nodes.len()];
    for (new, &old) in order.iter().enumerate() {
        rank[old] = new;
    }
    let mut ranked: Vec<(usize, Node)> = nodes.into_iter().enumerate().collect();
    ranked.retain(|&(old, _)| rank[old] != LEFT_OUT);
    ranked.sort_unstable_by_key(|&(old, _)| rank[old]);
    let renamed = |(_, mut node): (usize, Node)| {
        for edge in &mut node.edges {
            edge.to = rank[edge.to];
        }
        node
    };
    ranked.into_iter().map(renamed).collect()
}
