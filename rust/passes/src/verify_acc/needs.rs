//! How long buffers matter: where a value they held may still be asked for.
//!
//! The answer is an interval of positions along the graph, never too short. A value is needed at a
//! point if some way from there reaches a use of the buffer without passing its allocation. The
//! allocation comes before every use on every way, so such points lie behind it in the graph's
//! order, and each way onwards either stays before the last use or comes back over an edge that
//! leads into the interval: then the interval reaches to where that edge begins.

use pto_ir::{AllocId, Op, Program};

use super::flow::Node;

/// Positions along the graph: the start of each node has one, and after it each of its instructions.
#[derive(Debug)]
pub(crate) struct Needs {
    /// By node.
    starts: Vec<u32>,
    /// By buffer: the position of its allocation, and the last at which its value may be needed.
    lives: Vec<(u32, u32)>,
}

/// The value of a buffer that escapes is needed to the end.
const ALWAYS: u32 = u32::MAX;

impl Needs {
    pub(crate) fn new(program: &Program, nodes: &[Node]) -> Self {
        let mut starts = Vec::with_capacity(nodes.len());
        let mut lives: Vec<(u32, u32)> = program
            .allocs()
            .iter()
            .map(|alloc| (0, if alloc.escapes { ALWAYS } else { 0 }))
            .collect();
        let mut next = 0;
        for node in nodes {
            starts.push(next);
            for &inst in &program.block(node.block).insts[node.first..node.end] {
                next += 1;
                if let Op::Alloc(alloc) = program.inst(inst).op {
                    // A block may be there several times.
                    let first = &mut lives[alloc.index()].0;
                    *first = match *first {
                        0 => next,
                        known => known.min(next),
                    };
                }
                for used in program.uses(inst) {
                    let last = &mut lives[program.access(used.access).alloc.index()].1;
                    *last = (*last).max(next);
                }
            }
            next += 1;
        }
        let returns = Returns::new(nodes, &starts, next);
        for life in &mut lives {
            life.1 = returns.extend(*life, &starts);
        }
        Self { starts, lives }
    }

    /// Whether something after instruction number `offset` of node `node` may need what `alloc` held
    /// before it. A block may be there in several nodes, so an instruction alone has no position.
    pub(crate) fn is_needed_after(&self, alloc: AllocId, (node, offset): (usize, usize)) -> bool {
        self.is_needed_at(alloc, self.starts[node] + 1 + offset as u32)
    }

    /// Whether node `node` or something after it may need what `alloc` held before it.
    pub(crate) fn is_needed_in(&self, alloc: AllocId, node: usize) -> bool {
        self.is_needed_at(alloc, self.starts[node])
    }

    fn is_needed_at(&self, alloc: AllocId, position: u32) -> bool {
        let (first, last) = self.lives[alloc.index()];
        first <= position && position < last
    }
}

/// The edges that lead back, as a tree of maxima over the nodes they lead to.
struct Returns {
    /// `furthest[size + node]` is the end of the last node from which an edge leads back to `node`;
    /// each inner entry is the larger of its two children.
    furthest: Vec<u32>,
    size: usize,
}

impl Returns {
    fn new(nodes: &[Node], starts: &[u32], end: u32) -> Self {
        let size = nodes.len().next_power_of_two();
        let mut furthest = vec![0; 2 * size];
        for (from, node) in nodes.iter().enumerate() {
            let after = starts.get(from + 1).copied().unwrap_or(end);
            for edge in node.edges.iter().filter(|edge| edge.to <= from) {
                let entry = &mut furthest[size + edge.to];
                *entry = after.max(*entry);
            }
        }
        for index in (1..size).rev() {
            furthest[index] = furthest[2 * index].max(furthest[2 * index + 1]);
        }
        Self { furthest, size }
    }

    /// The last position of a life, once no edge leads from behind it back into it.
    fn extend(&self, (first, last): (u32, u32), starts: &[u32]) -> u32 {
        let from = starts.partition_point(|&start| start < first);
        let mut last = last;
        loop {
            let to = starts.partition_point(|&start| start < last);
            let furthest = self.most(from, to);
            if furthest <= last {
                return last;
            }
            last = furthest;
        }
    }

    /// The end of the last node from which an edge leads back into the nodes `from..to`.
    fn most(&self, from: usize, to: usize) -> u32 {
        let (mut low, mut high, mut most) = (self.size + from, self.size + to, 0);
        while low < high {
            if low % 2 == 1 {
                most = most.max(self.furthest[low]);
                low += 1;
            }
            if high % 2 == 1 {
                high -= 1;
                most = most.max(self.furthest[high]);
            }
            (low, high) = (low / 2, high / 2);
        }
        most
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify_acc::flow::Graph;
    use pto_ir::BlockId;
    use pto_testkit::text::parse;

    /// Which blocks are reached from `from` without entering `without`.
    fn reached(jumps: &[Vec<usize>], from: usize, without: usize) -> Vec<bool> {
        let mut seen = vec![false; jumps.len()];
        let mut open = vec![from];
        while let Some(block) = open.pop() {
            if block != without && !seen[block] {
                seen[block] = true;
                open.extend(&jumps[block]);
            }
        }
        seen
    }

    /// Whether some way from the start of `block` meets a read of `alloc` before its allocation.
    fn is_needed(program: &Program, alloc: AllocId, block: BlockId) -> bool {
        let (mut seen, mut open) = (vec![false; program.blocks().len()], vec![block]);
        'ways: while let Some(block) = open.pop() {
            if std::mem::replace(&mut seen[block.index()], true) {
                continue;
            }
            for &inst in &program.block(block).insts {
                if matches!(program.inst(inst).op, Op::Alloc(made) if made == alloc) {
                    continue 'ways;
                }
                let uses = program.uses(inst).iter();
                if uses
                    .into_iter()
                    .any(|used| program.access(used.access).alloc == alloc)
                {
                    return true;
                }
            }
            open.extend(&program.block(block).successors);
        }
        false
    }

    /// A random function of `count` blocks and one buffer, which is allocated in one of them and
    /// read in some that this one dominates.
    fn random(rng: &mut fastrand::Rng, count: usize) -> String {
        let jump =
            |rng: &mut fastrand::Rng| (0..rng.usize(0..3)).map(|_| rng.usize(1..count)).collect();
        let jumps: Vec<Vec<usize>> = (0..count).map(|_| jump(rng)).collect();
        let home = rng.usize(0..count);
        let around = reached(&jumps, 0, home);
        let mut listed: Vec<usize> = (1..count).collect();
        rng.shuffle(&mut listed);
        let body = |block: usize, rng: &mut fastrand::Rng| {
            let alloc = if block == home {
                "alloc a bank 0 u0..1;"
            } else {
                ""
            };
            let read = if !around[block] && rng.bool() {
                "read a;"
            } else {
                ""
            };
            let names: Vec<String> = jumps[block].iter().map(|to| format!("b{to}")).collect();
            let goto = if names.is_empty() {
                String::new()
            } else {
                format!("goto {}", names.join(","))
            };
            format!("{alloc}{read}{goto}\n")
        };
        let mut text = format!("^b0: {}", body(0, rng));
        for block in listed {
            text += &format!("^b{block}: {}", body(block, rng));
        }
        text
    }

    #[test]
    fn no_interval_is_too_short() {
        let mut rng = fastrand::Rng::with_seed(11);
        let (mut needed, mut spared) = (0, 0);
        for _ in 0..3000 {
            let text = random(&mut rng, 8);
            // A read may stand before the allocation in the text: such a name is not known yet.
            let Ok(program) = parse(&text) else { continue };
            let nodes = Graph::new(&program, true).nodes;
            let needs = Needs::new(&program, &nodes);
            let jumps: Vec<Vec<usize>> = nodes
                .iter()
                .map(|node| node.edges.iter().map(|edge| edge.to).collect())
                .collect();
            let is_reached = reached(&jumps, 0, usize::MAX);
            for (index, node) in nodes
                .iter()
                .enumerate()
                .filter(|(index, _)| is_reached[*index])
            {
                for alloc in (0..program.allocs().len()).map(AllocId::new) {
                    let wanted = is_needed(&program, alloc, node.block);
                    let said = needs.is_needed_in(alloc, index);
                    assert!(said || !wanted, "block {}\n{text}", node.block.index());
                    (needed, spared) = (needed + usize::from(wanted), spared + usize::from(!said));
                }
            }
        }
        assert!(
            needed > 500 && spared > 500,
            "{needed} needed, {spared} spared"
        );
    }
}
