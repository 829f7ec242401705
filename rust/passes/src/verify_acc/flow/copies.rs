//! What is known in which copy of the graph: the first iterations of loops, and answers to questions.

use pto_ir::{Asked, BlockId, InstId, Op, QuestionId, RegionId, RegionKind};

use super::build::Builder;
use super::{Copy, Fact, RUNS, is_counted};

/// More choices of inner loops than this are not made.
const MAX_CHOICES: usize = 16;

impl Builder<'_> {
    /// The copies in which the entry at `position` of `block` stands, where control comes there in `copy`: one for
    /// each answer to the questions that are told apart from there on.
    pub(super) fn forked_at(&mut self, block: BlockId, position: usize, copy: u32) -> Vec<u32> {
        let mut variants = vec![copy];
        let Some(forks) = self.forks.within.get(&block) else {
            return variants;
        };
        let from = forks.partition_point(|fork| fork.first < position);
        let starting = forks[from..]
            .iter()
            .take_while(|fork| fork.first == position);
        for fork in starting.copied().collect::<Vec<_>>() {
            if !self.knows(copy, fork.question) {
                variants = self.answered(&variants, fork.question, fork.answers);
            }
        }
        variants
    }

    /// The copy in which control goes on after the entry at `position` of `block`, coming from `copy`: without
    /// the answers to questions that are told apart up to there, the block having begun in `base`.
    pub(super) fn joined_at(
        &mut self,
        block: BlockId,
        position: usize,
        copy: u32,
        base: u32,
    ) -> u32 {
        if copy == base {
            return copy;
        }
        let mut kept = Vec::new();
        let mut inner = copy;
        while inner != base && inner != 0 {
            let Copy { outer, fact } = self.graph.copies[inner as usize];
            let last = match fact {
                Fact::Answer(question, _) => self.forks.last.get(&(block, question)),
                Fact::IsFirst(..) => None,
            };
            if last != Some(&position) {
                kept.push(fact);
            }
            inner = outer;
        }
        let facts = kept.into_iter().rev();
        facts.fold(base, |outer, fact| self.interned_copy(outer, fact))
    }

    /// `copies`, each with every answer to `question`.
    fn answered(&mut self, copies: &[u32], question: QuestionId, answers: u32) -> Vec<u32> {
        let mut variants = Vec::new();
        for &known in copies {
            for answer in 0..answers {
                variants.push(self.interned_copy(known, Fact::Answer(question, answer)));
            }
        }
        variants
    }

    fn interned_copy(&mut self, outer: u32, fact: Fact) -> u32 {
        let graph = &mut self.graph;
        let new = || graph.copy(outer, fact);
        *self.interned.entry((outer, fact)).or_insert_with(new)
    }

    fn knows(&self, copy: u32, question: QuestionId) -> bool {
        let negated = false;
        self.graph
            .way(copy, Some(Asked { question, negated }))
            .is_some()
    }

    /// The copies of `region`: where questions are told apart all over it, one for each answer.
    pub(super) fn forked(&mut self, region: RegionId, copy: u32) -> Vec<u32> {
        let mut variants = vec![copy];
        for (question, answers) in self.forks.whole.get(&region).cloned().unwrap_or_default() {
            if !self.knows(copy, question) {
                variants = self.answered(&variants, question, answers);
            }
        }
        variants
    }

    /// The copies of the body of `holder` in its first and its other iterations, for every choice of
    /// inner loops that run. None where it does not run itself.
    pub(super) fn bodies(&mut self, holder: InstId, outer: u32) -> Vec<[u32; 2]> {
        if !is_counted(self.program, holder) {
            return vec![[outer; 2]];
        }
        let asked = self.program.asks(holder);
        let outer = match (self.graph.way(outer, asked), asked) {
            (Some(RUNS), _) => outer,
            (Some(_), _) => return Vec::new(),
            // It runs, and so do those inside that have its bounds.
            (None, Some(asked)) if self.shared.contains(&asked.question) => {
                let runs = Fact::Answer(asked.question, asked.way(RUNS));
                self.graph.copy(outer, runs)
            }
            _ => outer,
        };
        if !self.tracked.contains(&holder) {
            return vec![[outer; 2]];
        }
        let choices = self.choices(holder, outer);
        let graph = &mut self.graph;
        choices
            .into_iter()
            .map(|choice| {
                [true, false].map(|first| graph.copy(choice, Fact::IsFirst(holder, first)))
            })
            .collect()
    }

    /// Copies of `outer` that say of the inner loops that run in every iteration of `holder` or in none
    /// which it is.
    fn choices(&mut self, holder: InstId, outer: u32) -> Vec<u32> {
        let mut choices = vec![outer];
        for inner in self.inner_loops(holder) {
            let Some(asked) = self.program.asks(inner) else {
                continue;
            };
            let known = std::mem::take(&mut choices);
            for choice in known {
                // Where a loop around it does not run the question does not arise.
                if self.knows(choice, asked.question) || self.is_dead(inner, holder, choice) {
                    choices.push(choice);
                } else {
                    for answer in 0..2 {
                        let fact = Fact::Answer(asked.question, asked.way(answer));
                        choices.push(self.graph.copy(choice, fact));
                    }
                }
            }
            if choices.len() > MAX_CHOICES {
                return vec![outer];
            }
        }
        choices
    }

    /// The loops inside `holder` of which somebody asks and whose bounds do not vary there.
    fn inner_loops(&self, holder: InstId) -> Vec<InstId> {
        let program = self.program;
        let is_open = |&inner: &InstId| {
            let is_unknown = matches!(
                program.inst(inner).op,
                Op::Region {
                    kind: RegionKind::For { trips: None },
                    ..
                }
            );
            let varies = program.bounds(inner).is_none_or(|bounds| {
                let around = bounds.vary_in;
                around.is_some_and(|around| around == holder || self.is_inside(around, holder))
            });
            is_unknown && !varies
        };
        let inside = self.inside.get(&holder).into_iter().flatten();
        inside.copied().filter(is_open).collect()
    }

    fn is_inside(&self, inst: InstId, holder: InstId) -> bool {
        let mut inst = inst;
        while let Some(around) = self.program.holder(self.program.inst(inst).block) {
            if around == holder {
                return true;
            }
            inst = around;
        }
        false
    }

    fn is_dead(&self, inner: InstId, holder: InstId, choice: u32) -> bool {
        let mut inst = inner;
        while let Some(around) = self.program.holder(self.program.inst(inst).block)
            && around != holder
        {
            if self.graph.runs(self.program, choice, around) == Some(false) {
                return true;
            }
            inst = around;
        }
        false
    }
}
