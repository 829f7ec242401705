//! The checker: runs described as stretches instead of found by a state machine.

use pto_ir::{EdgeNode, Engine, InstId, NewEdge, Op, Plan, Program, Target};

use super::Options;

/// A key, whether the tile is at the origin, and the matmul.
type Link = (u32, u32, bool, InstId);

/// Whether the plan adds exactly the edges that the definition of runs asks for.
pub(super) fn check(
    program: &Program,
    target: &Target,
    options: &Options,
    plan: &Plan,
) -> Result<(), String> {
    let mut expected: Vec<NewEdge> = Vec::new();
    for block in program.blocks() {
        let has_member = |&id: &InstId| link(program, id, target).is_some();
        if !block.insts.iter().any(has_member) {
            continue;
        }
        for stretch in stretches(program, &block.insts, target, options) {
            expected.extend(missing_edges(program, &stretch, options));
        }
    }
    let mut found = plan.edges.clone();
    expected.sort_unstable();
    found.sort_unstable();
    let changes_only_edges = Plan {
        edges: plan.edges.clone(),
        ..Plan::default()
    };
    if expected != found {
        return Err(format!(
            "expected {} ordering edges, found {}",
            expected.len(),
            found.len()
        ));
    }
    if *plan != changes_only_edges {
        return Err("expected a plan of ordering edges alone".to_owned());
    }
    Ok(())
}

/// Maximal stretches of members of one key that nothing interrupts.
fn stretches(
    program: &Program,
    insts: &[InstId],
    target: &Target,
    options: &Options,
) -> Vec<Vec<Link>> {
    let links: Vec<Option<Link>> = insts
        .iter()
        .filter(|&&id| is_looked_at(program, id, options))
        .map(|&id| link(program, id, target))
        .collect();
    links
        .chunk_by(|left, right| {
            let key = |link: &Option<Link>| link.map(|(rows, cols, _, _)| (rows, cols));
            key(left).is_some() && key(left) == key(right)
        })
        .map(|chunk| chunk.iter().copied().flatten().collect())
        .collect()
}

fn is_looked_at(program: &Program, id: InstId, options: &Options) -> bool {
    let inst = program.inst(id);
    match inst.op {
        Op::Alloc(_) | Op::Dealloc(_) => false,
        Op::Region { .. } | Op::Call { .. } | Op::Matmul(_) => true,
        Op::Engine | Op::Effects => !options.ignore_other_engines || inst.engine == Engine::Pe,
    }
}

fn link(program: &Program, id: InstId, target: &Target) -> Option<Link> {
    let tile = program.inst(id).matmul()?.tile?;
    let takes_all_rows = tile.rows == target.pe_rows;
    let takes_some_columns = tile.cols >= 1 && tile.cols < target.pe_columns;
    let is_origin = tile.row == 0 && tile.col == 0;
    (takes_all_rows && takes_some_columns).then_some((tile.rows, tile.cols, is_origin, id))
}

/// The edges between neighbours from the first opener of a stretch on.
fn missing_edges(program: &Program, stretch: &[Link], options: &Options) -> Vec<NewEdge> {
    let opener = stretch.iter().position(|&(_, _, is_origin, _)| is_origin);
    let run = &stretch[opener.unwrap_or(stretch.len())..];
    let pairs = run.windows(2).filter(|pair| {
        let (_, _, is_origin, to) = pair[1];
        let is_known = program
            .inst(to)
            .after
            .iter()
            .any(|edge| edge.from == pair[0].3);
        let is_torn = options.restart_at_origin && is_origin;
        !is_known && !is_torn
    });
    pairs
        .map(|pair| NewEdge {
            from: EdgeNode::Inst(pair[0].3),
            to: EdgeNode::Inst(pair[1].3),
        })
        .collect()
}
