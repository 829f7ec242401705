//! The walk over the graph, from the state at the start to what escapes at the end.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use pto_ir::{
    AllocId, Condition, Diag, InstId, Matmul, Origin, Program, Site, Space, Target, Turn,
};

use super::findings::Findings;
use super::flow::{Graph, Node};
use super::layout::{Layout, Misplaced};
use super::lost::Lost;
use super::memory::{Cell, NONE, State};
use super::needs::Needs;
use super::survey::Survey;
use super::ties::{Doubt, Ties};
use super::transitions::Transitions;
use super::worlds::{Event, Machine, VALUED};

/// One run of the analysis.
pub(super) struct Check<'a> {
    pub(super) program: &'a Program,
    pub(super) target: &'a Target,
    pub(super) nodes: &'a [Node],
    /// Computed when first asked for: most functions never do.
    pub(super) needs: OnceCell<Needs>,
    pub(super) layout: Layout,
    pub(super) transitions: Transitions,
    pub(super) findings: Findings,
    pub(super) misplaced_tiles: Vec<InstId>,
    pub(super) graph: &'a Graph,
    /// The node at hand, and the instruction of it.
    pub(super) here: (usize, usize),
    /// Whether some STOP depends on a predicate.
    has_stop_if: bool,
    /// By node: whether what goes wrong on some way there may be on none that a run takes. Empty is
    /// nowhere.
    is_doubtful: Vec<bool>,
}

impl<'a> Check<'a> {
    pub(super) fn new(
        program: &'a Program,
        target: &'a Target,
        survey: &Survey,
        graph: &'a Graph,
        machines: Vec<Machine>,
    ) -> Self {
        Self {
            program,
            target,
            nodes: &graph.nodes,
            needs: OnceCell::new(),
            layout: Layout::new(program, target, &survey.cuts),
            transitions: Transitions::new(machines),
            findings: Findings::default(),
            misplaced_tiles: Vec::new(),
            graph,
            here: (0, 0),
            has_stop_if: false,
            is_doubtful: Vec::new(),
        }
    }

    /// The diagnostics, at most `limit` of them. With `ties`, which tells all decisions that are not free,
    /// errors are certain. `unwritten` are the instructions that read cells which nobody wrote, whatever
    /// loops run: a graph that does not tell apart which do adds to them, one that does asks for them.
    pub(super) fn run(
        mut self,
        limit: usize,
        ties: Option<&Ties>,
        unwritten: &mut BTreeSet<InstId>,
    ) -> Vec<Diag> {
        let mut diags = self.misplaced();
        if self.program.body().is_none() || !diags.is_empty() {
            return diags;
        }
        if self.graph.is_refined {
            self.findings.unwritten.clone_from(unwritten);
        }
        let before = self.walk();
        if let Some(ties) = ties {
            self.is_doubtful = ties.nodes_behind(self.program, self.graph);
            self.judge_again(before);
        }
        self.misplaced_tiles.sort_unstable();
        self.misplaced_tiles.dedup();
        diags.extend(
            self.misplaced_tiles
                .iter()
                .map(|&inst| tile_position(self.program, inst)),
        );
        let Self {
            program,
            layout,
            transitions,
            findings,
            ..
        } = self;
        let rest = limit.saturating_sub(diags.len());
        unwritten.extend(&findings.unwritten);
        diags.extend(findings.diags(program, &layout, transitions.machines(), rest));
        diags
    }

    /// Buffers that nothing can be said about.
    fn misplaced(&self) -> Vec<Diag> {
        let tell = |&(alloc, reason): &(AllocId, Misplaced)| {
            let site = Site::Alloc(alloc);
            let diag = match reason {
                Misplaced::Unplaced => {
                    let message = "expected a placed buffer, found one without a bank";
                    Diag::error("pto:unplaced", site, message)
                }
                Misplaced::Outside => {
                    let name = self.target.name;
                    let message =
                        format!("expected the buffer and its accesses inside the psum of {name}");
                    Diag::error("pto:target-limit", site, message)
                }
            };
            match first_use(self.program, alloc) {
                Some(inst) => diag.with_note(Site::Inst(inst), "first used here"),
                None => diag,
            }
        };
        self.layout.misplaced.iter().map(tell).collect()
    }

    // The graph.

    /// Finds the state before every node, and tells what is wrong on the way.
    fn walk(&mut self) -> Vec<Option<State>> {
        let (program, nodes) = (self.program, self.nodes);
        let mut matmuls = program.insts().iter().filter_map(|inst| inst.matmul());
        self.has_stop_if = nodes.len() > 1 && matmuls.any(|m| m.stop_if.is_some());
        let mut before: Vec<Option<State>> = vec![None; nodes.len()];
        let mut is_target = vec![false; nodes.len()];
        for edge in nodes.iter().flat_map(|node| &node.edges) {
            is_target[edge.to] = true;
        }
        let Some(first) = before.first_mut() else {
            return before;
        };
        *first = Some(self.initial_state());
        let mut waiting = BTreeSet::from([0]);
        while let Some(index) = waiting.pop_first() {
            let state = if is_target[index] {
                before[index].clone()
            } else {
                before[index].take()
            };
            let Some(mut state) = state else {
                continue;
            };
            let node = &nodes[index];
            self.node(index, &mut state);
            for edge in &node.edges {
                let mut arriving = match (edge.skips_loop, edge.leaves) {
                    (true, _) => state.without_a_trip(),
                    (false, Some(holder)) if self.has_stop_if => self.after_loop(&state, holder),
                    _ => state.clone(),
                };
                let is_needed = |alloc| {
                    let needs = self.needs.get_or_init(|| Needs::new(program, nodes));
                    needs.is_needed_in(alloc, edge.to)
                };
                arriving.lost.retain(is_needed);
                let renew = |worlds| self.transitions.apply(worlds, Event::Renew).0;
                let changed = match &mut before[edge.to] {
                    Some(known) => known.join(&arriving, renew, is_needed),
                    unknown => {
                        *unknown = Some(arriving);
                        true
                    }
                };
                if changed {
                    waiting.insert(edge.to);
                }
            }
        }
        before
    }

    /// Looks once more at every node, now that all is known of what may come before it: only that tells
    /// what is wrong whatever came.
    fn judge_again(&mut self, before: Vec<Option<State>>) {
        self.findings.forget();
        for (index, state) in before.into_iter().enumerate() {
            let state = match (index, state) {
                (0, None) => Some(self.initial_state()),
                (_, state) => state,
            };
            if let Some(mut state) = state {
                self.node(index, &mut state);
            }
        }
    }

    /// Whether the node at hand is there only for some answers to questions that are asked more than once.
    pub(super) fn is_chosen(&self) -> bool {
        self.graph.is_refined && self.graph.is_chosen(&self.nodes[self.here.0])
    }

    /// What doubt there is about what goes wrong at hand.
    pub(super) fn doubt(&self) -> Doubt {
        let node = self.here.0;
        match self.is_doubtful.get(node) {
            Some(true) if self.graph.is_chosen(&self.nodes[node]) => Doubt::Always,
            Some(true) => Doubt::InSomeWorlds,
            _ => Doubt::Never,
        }
    }

    fn node(&mut self, index: usize, state: &mut State) {
        self.here = (index, 0);
        let (program, node) = (self.program, &self.nodes[index]);
        let insts = &program.block(node.block).insts[node.first..node.end];
        for (offset, &inst) in insts.iter().enumerate() {
            self.here = (index, offset);
            self.inst(inst, node, state);
        }
        if node.is_exit {
            self.exit(state);
        }
    }

    /// The state on the way out of the loop `holder`: groups that its last iteration closes are closed.
    fn after_loop(&self, state: &State, holder: InstId) -> State {
        let closes = |matmul: &Matmul| {
            let condition = matmul
                .stop_if
                .map(|stop| self.program.condition(stop.condition));
            matches!(condition, Some(Condition::Loops { turn: Turn::Last, loops, negated: false })
                if loops.first() == Some(&holder))
        };
        let mut result = state.clone();
        result.close(|writer| self.program.inst(writer).matmul().is_some_and(closes));
        result
    }

    /// Arguments hold plain data unless they are fresh; everything else was never written.
    fn initial_state(&mut self) -> State {
        let undefined = self.transitions.initial(false);
        let (banks, bytes) = (self.target.banks, self.target.bank_bytes);
        let mut state = State::new(&self.layout, banks, bytes, undefined);
        let worlds = self.transitions.initial(true);
        for (index, alloc) in self.program.allocs().iter().enumerate() {
            if !matches!(alloc.origin, Origin::Argument { fresh: false, .. }) {
                continue;
            }
            let owner = index as u32;
            for &piece in self
                .layout
                .pieces(self.layout.place_of_alloc(AllocId::new(index)))
            {
                for strip in piece.strips.start..piece.strips.end {
                    let mut taken = Vec::new();
                    let cells = &mut state.bank_mut(piece.bank)[strip as usize];
                    cells.change(piece.bytes, |cell, bytes| {
                        if cell.worlds & VALUED != 0 {
                            let (alloc, bank) = (cell.owner, piece.bank);
                            taken.push(Lost {
                                alloc,
                                bank,
                                strip,
                                bytes,
                                by: NONE,
                            });
                        }
                        *cell = Cell {
                            worlds,
                            owner,
                            fresh: 0,
                            ..*cell
                        };
                    });
                    state.lost.extend(taken);
                }
            }
        }
        state
    }

    /// The end of the function: what escapes is read, but for cells that are fresh.
    fn exit(&mut self, state: &mut State) {
        for (index, alloc) in self.program.allocs().iter().enumerate() {
            if alloc.escapes && alloc.space == Space::Psum {
                let id = AllocId::new(index);
                let place = self.layout.place_of_alloc(id);
                self.read(None, id, place, Event::Exit, state);
            }
        }
    }
}

/// The first instruction that touches `alloc`.
fn first_use(program: &Program, alloc: AllocId) -> Option<InstId> {
    let touches = |&inst: &InstId| {
        program
            .uses(inst)
            .iter()
            .any(|used| program.access(used.access).alloc == alloc)
    };
    program.walk().find(touches)
}

fn tile_position(program: &Program, inst: InstId) -> Diag {
    let message = "expected a tile whose first column is the first partition of the destination, \
                   found another";
    let diag = Diag::error("pto:tile-position", Site::Inst(inst), message);
    match program.inst(inst).matmul() {
        Some(matmul) => {
            let buffer = Site::Alloc(program.access(matmul.dst).alloc);
            diag.with_note(buffer, "the buffer is allocated here")
        }
        None => diag,
    }
}
