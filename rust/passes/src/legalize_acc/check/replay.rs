//! A quick proof for straight lines, loops and branches: replay the function cell by cell on all
//! machines at once.
//!
//! Every cell is in one state that holds on every machine the flags have to be right on (START sets
//! a pending bit or clears, in the partitions of the column group or of the destination). An
//! instruction either plainly does what the reference meaning asks for, or the replay gives up and
//! leaves the judgement to [`crate::verify_acc`], which knows more states. So the replay may refuse
//! what is right; it must not accept what is wrong.
//!
//! A loop is replayed in its first iteration, and then in another one until that leaves every cell as it
//! found it. From there on all iterations are alike: each begins in the same state, and the predicates
//! that the replay knows ask for nothing but first iterations. Inner loops are replayed anew in each. So
//! every combination of "first" and "not first" that can occur has been seen, from the state in which it
//! occurs.
//!
//! Where paths meet (behind a branch, a loop that may not run, or one that may end after several
//! iterations) the cells are joined ([`super::joins`]): a sum that was built on some paths alone may be
//! read and overwritten, but not added to. For a nest `for i { for k { tmatmul_acc } }` that says too
//! little if `k` may not run: the sum that the second `i` adds to was built in the first if `k` runs at all.
//! So where that fails, it is decided at the outermost loop which inner ones run ([`super::choices`]), and
//! the nest is replayed for every choice.
//!
//! In a loop a buffer takes the cells of another one in the first iteration only, and only if some
//! predicate tells that iteration from the others: the proof over all paths looks no closer, and what is
//! accepted here should be accepted there.

use pto_ir::{
    Asked, BlockId, Condition, InstId, Matmul, Op, Origin, Plan, Program, QuestionId, RegionId,
    RegionKind, Space, Target, Turn,
};

use super::cells::Replay;
use super::changes::Changes;
use super::choices::Choices;
use super::joins::End;
use crate::verify_acc::flow::tracked_loops;

/// Deeper nests are left to the proof over all paths: replaying doubles with each level.
const MAX_DEPTH: usize = 4;
/// So are branches in branches: the replay recurs.
const MAX_BRANCHES: usize = 16;
/// The ways of a loop: it runs, or it does not.
const WAY_INTO: u32 = 0;
const WAY_AROUND: u32 = 1;
/// After so many iterations beside the first one, the cells should have settled.
const MAX_ITERATIONS: usize = 3;

/// Whether the plan makes a function of straight lines, loops and branches right. `false` proves nothing.
pub(in crate::legalize_acc) fn is_plainly_right(
    program: &Program,
    target: &'static Target,
    plan: &Plan,
) -> bool {
    let Some([entry]) = program.body().map(|body| body.blocks.as_slice()) else {
        return false;
    };
    let is_plain = |alloc: &pto_ir::Alloc| {
        alloc.space != Space::Psum || (alloc.origin == Origin::Allocation && !alloc.escapes)
    };
    if !program.allocs().iter().all(is_plain) || !plan.drop_inserted_predicates.is_empty() {
        return false;
    }
    let Some(changes) = Changes::of(plan) else {
        return false;
    };
    let Some(choices) = Choices::of(program) else {
        return false;
    };
    let mut walk = Walk {
        program,
        choices,
        decided: Vec::new(),
        replay: Replay::new(program, target, plan),
        changes,
        told_apart: told_apart(program, plan),
        loops: Vec::new(),
        branches: 0,
    };
    walk.block(*entry) && walk.changes.are_seen()
}

/// By instruction: whether it is a loop of which a predicate asks if it is in its first iteration.
fn told_apart(program: &Program, plan: &Plan) -> Vec<bool> {
    let mut is_asked = vec![false; program.insts().len()];
    let new = plan.predicates.iter();
    let new = new.filter(|new| new.turn == Turn::First);
    let loops = new.flat_map(|new| new.loops.iter().copied());
    for holder in tracked_loops(program).into_iter().chain(loops) {
        is_asked[holder.index()] = true;
    }
    is_asked
}

/// Whether `holder`, one of `loops`, is in its first iteration.
fn is_first(loops: &[(InstId, bool)], holder: InstId) -> Option<bool> {
    let mut loops = loops.iter();
    loops
        .find(|&&(known, _)| known == holder)
        .map(|&(_, first)| first)
}

struct Walk<'p> {
    program: &'p Program,
    replay: Replay<'p>,
    changes: Changes<'p>,
    told_apart: Vec<bool>,
    choices: Choices,
    /// The answers to questions on this path.
    decided: Vec<(QuestionId, u32)>,
    /// The loops around the instruction, and whether each is in its first iteration.
    loops: Vec<(InstId, bool)>,
    /// The number of branches around it.
    branches: usize,
}

impl Walk<'_> {
    fn block(&mut self, id: BlockId) -> bool {
        let program = self.program;
        let block = program.block(id);
        self.changes.seek(&block.insts);
        block.successors.is_empty()
            && (0..block.insts.len()).all(|position| {
                let (inst, rest) = (block.insts[position], &block.insts[position + 1..]);
                self.memsets(inst) && self.inst(inst, rest)
            })
    }

    /// The memsets of the plan before `inst`.
    fn memsets(&mut self, inst: InstId) -> bool {
        while let Some(memset) = self.changes.memset(inst) {
            if !self.replay.clear(inst, memset.target) {
                return false;
            }
        }
        true
    }

    /// One instruction of a block, before `rest`.
    fn inst(&mut self, inst: InstId, rest: &[InstId]) -> bool {
        let program = self.program;
        match &program.inst(inst).op {
            Op::Matmul(matmul) => self.matmul(inst, matmul),
            Op::Engine if program.is_relay(inst) => true,
            Op::Engine if program.inst(inst).inserted => {
                self.replay.inserted(program.uses(inst), rest)
            }
            Op::Engine | Op::Effects => self.replay.plain(program.uses(inst)),
            // Every iteration has a buffer of its own in the place of the one before. Outside of loops a
            // buffer takes its cells as it writes them, since others may be done with them by then.
            Op::Alloc(id) => {
                self.loops.is_empty()
                    || program.alloc(*id).space != Space::Psum
                    || self.replay.renew(*id)
            }
            Op::Region { kind, regions } => {
                let is_right = match *kind {
                    RegionKind::For { trips } => self.nest(inst, trips, regions),
                    RegionKind::If | RegionKind::IndexSwitch => self.branch(inst, *kind, regions),
                    RegionKind::While | RegionKind::Other => false,
                };
                self.changes.seek(rest);
                is_right
            }
            Op::Dealloc(_) | Op::Call { .. } => false,
        }
    }

    fn matmul(&mut self, inst: InstId, matmul: &Matmul) -> bool {
        let (mut flags, mut region) = (matmul.flags, matmul.zero_region);
        if let Some(edit) = self.changes.acc(inst) {
            (flags, region) = (edit.flags, edit.zero_region);
        }
        let Some(flags) = flags.filter(|flags| flags.is_legal(true)) else {
            return false;
        };
        let loops = &self.loops;
        let starts = match (self.changes.start_if(inst), matmul.start_if) {
            (Some(asked), None) => {
                let mut asked = asked.iter().map(|&holder| is_first(loops, holder));
                asked.try_fold(true, |all, one| Some(all && one?))
            }
            (None, Some(known)) => self.holds(self.program.condition(known.condition)),
            (None, None) => Some(false),
            (Some(_), Some(_)) => None,
        };
        match starts {
            Some(starts) if !(starts && flags.accumulates()) => {
                let starts = flags.starts() || starts;
                self.replay
                    .matmul(inst, matmul, flags, starts, region.unwrap_or(0))
            }
            _ => false,
        }
    }

    /// Whether `condition` holds in the current iterations, if that is known.
    fn holds(&self, condition: &Condition) -> Option<bool> {
        condition
            .holds(|holder, turn| is_first(&self.loops, holder).filter(|_| turn == Turn::First))
    }

    /// A loop that runs `trips` times, or nobody knows how often.
    fn nest(&mut self, holder: InstId, trips: Option<u64>, regions: &[RegionId]) -> bool {
        let [region] = regions else { return false };
        let [body] = self.program.region(*region).blocks.as_slice() else {
            return false;
        };
        let asked = self.program.asks(holder);
        let may_not_run = match (trips, self.way(asked)) {
            (Some(0), _) => return false,
            (None, Some(WAY_AROUND)) => return true,
            (None, None) => !self.program.runs(holder),
            (Some(_), _) | (None, Some(_)) => false,
        };
        if self.loops.len() == MAX_DEPTH {
            return false;
        }
        let is_outermost = self.starts_log();
        let decided = self.decided.len();
        self.decide(asked.filter(|_| trips.is_none()), WAY_INTO);
        let is_right = self.choices(holder, trips, may_not_run, *body);
        self.decided.truncate(decided);
        if is_outermost {
            self.replay.end_log();
        }
        is_right
    }

    /// The way that whoever asks this takes, where that is decided.
    fn way(&self, asked: Option<Asked>) -> Option<u32> {
        let asked = asked?;
        let mut decided = self.decided.iter();
        let known = decided.find(|&&(question, _)| question == asked.question);
        known.map(|&(_, answer)| asked.way(answer))
    }

    /// From here on whoever asks this takes this way.
    fn decide(&mut self, asked: Option<Asked>, way: u32) {
        let answer = asked.map(|asked| (asked.question, asked.way(way)));
        self.decided.extend(answer);
    }

    /// Logs from here on; whether nobody did before.
    fn starts_log(&mut self) -> bool {
        let starts = self.replay.log.is_none();
        if starts {
            self.replay.start_log();
        }
        starts
    }

    /// The loop `holder`, however loops inside are decided.
    fn choices(
        &mut self,
        holder: InstId,
        trips: Option<u64>,
        may_not_run: bool,
        body: BlockId,
    ) -> bool {
        let mut inner = self.choices.at(holder);
        inner.retain(|asked| self.way(Some(*asked)).is_none());
        let (before, passed) = (self.replay.logged(), self.changes.passed);
        let mut ends = Vec::new();
        // Mostly it is right even if they are decided anew each time, which is less to replay.
        if !self.iterations(holder, trips, body, &mut ends) {
            if inner.is_empty() {
                return false;
            }
            ends.clear();
            for choice in 0..1 << inner.len() {
                self.replay.take_back(before);
                self.changes.passed = passed;
                let decided = self.decided.len();
                for (index, &asked) in inner.iter().enumerate() {
                    self.decide(Some(asked), choice >> index & 1);
                }
                let count = ends.len();
                let is_right = self.iterations(holder, trips, body, &mut ends);
                self.decided.truncate(decided);
                if !is_right {
                    return false;
                }
                if ends.len() == count {
                    ends.push(self.replay.end(before));
                }
            }
        }
        if may_not_run {
            ends.push(End::default());
        }
        if !ends.is_empty() {
            self.replay.take_back(before);
            self.replay.join(&ends);
        }
        true
    }

    /// All iterations of a loop that runs. If it ends as it is now there is nothing new in `ends`, else all
    /// ways in which it may end. Of a loop that runs more than twice it is not asked here how often.
    fn iterations(
        &mut self,
        holder: InstId,
        trips: Option<u64>,
        body: BlockId,
        ends: &mut Vec<End>,
    ) -> bool {
        let passed = self.changes.passed;
        let (since, count) = (self.replay.logged(), ends.len());
        let mut before = since;
        for iteration in 0..=MAX_ITERATIONS {
            self.changes.passed = passed;
            if !self.iteration(holder, iteration == 0, body) {
                return false;
            }
            // The first one is like all others if nobody tells it from them.
            let is_like_others = iteration > 0 || !self.told_apart[holder.index()];
            let is_last = trips.is_some_and(|trips| trips <= 2 && trips == iteration as u64 + 1);
            let is_over = is_last || is_like_others && self.replay.is_as_at(before);
            let may_end = trips.is_none() || iteration > 0;
            let is_only_end = is_over && trips.is_some() && ends.len() == count;
            if may_end && !is_only_end {
                ends.push(self.replay.end(since));
            }
            if is_over {
                return true;
            }
            before = self.replay.logged();
        }
        false
    }

    fn iteration(&mut self, holder: InstId, is_first: bool, body: BlockId) -> bool {
        let outside = self.replay.may_displace;
        let is_told_apart = self.told_apart[holder.index()];
        self.replay.may_displace = outside && is_first && is_told_apart;
        self.loops.push((holder, is_first));
        let is_right = self.block(body);
        self.loops.pop();
        self.replay.may_displace = outside;
        is_right
    }

    /// A branch: the region that is known to run, or any of them.
    fn branch(&mut self, holder: InstId, kind: RegionKind, regions: &[RegionId]) -> bool {
        let is_outermost = self.starts_log();
        let before = self.replay.logged();
        let asked = self.program.asks(holder);
        let known = self.known_way(holder, asked);
        let mut ends = Vec::new();
        for (way, &region) in (0..).zip(regions) {
            if known.is_some_and(|known| known != way) {
                continue;
            }
            let decided = self.decided.len();
            self.decide(asked, way);
            let is_right = self.arm(region);
            self.decided.truncate(decided);
            if !is_right {
                return false;
            }
            ends.push(self.replay.end(before));
            self.replay.take_back(before);
        }
        let has_rest = kind == RegionKind::If && regions.len() < 2;
        if ends.is_empty() || has_rest && known.is_none() {
            ends.push(End::default());
        }
        self.replay.join(&ends);
        if is_outermost {
            self.replay.end_log();
        }
        true
    }

    /// The number of the region that the branch `holder` takes, or one past the last, where that is known.
    fn known_way(&self, holder: InstId, asked: Option<Asked>) -> Option<u32> {
        let program = self.program;
        let condition = program.branch(holder).and_then(|known| self.holds(known));
        let by_condition = condition.map(|takes_first| u32::from(!takes_first));
        let choice = program.choice(holder).map(|chosen| chosen as u32);
        by_condition.or(choice).or_else(|| self.way(asked))
    }

    fn arm(&mut self, region: RegionId) -> bool {
        if self.branches == MAX_BRANCHES {
            return false;
        }
        self.branches += 1;
        let is_right = match self.program.region(region).blocks.as_slice() {
            [] => true,
            [block] => self.block(*block),
            _ => false,
        };
        self.branches -= 1;
        is_right
    }
}
