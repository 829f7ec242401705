//! Where the refined graph tells apart how questions are answered that are asked more than once.
//!
//! A question is told apart from before the first operation that asks it, or holds one that does, to after the
//! last, in the region that makes its answer: between them each node is there once for each answer. So questions
//! that are asked one after the other cost twice the nodes, however many there are.

use std::collections::{BTreeMap, BTreeSet};

use pto_ir::{Asked, BlockId, InstId, Op, Program, QuestionId, RegionId, RegionKind};
use rustc_hash::FxHashMap;

/// The most answers that are told apart in one place, as a power of two.
pub(super) const MAX_BITS: u32 = 4;

/// A question that is told apart in a part of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Fork {
    /// The entries of the block between which it is: operations with regions.
    pub(super) first: usize,
    pub(super) last: usize,
    pub(super) question: QuestionId,
    pub(super) answers: u32,
}

/// What the refined graph knows of a loop that is reached again with the same bounds, where nobody else asks
/// the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Repeats {
    /// Nothing.
    Any,
    /// It runs every time or never.
    Alike,
}

/// What is told apart where.
#[derive(Clone, Debug, Default)]
pub(super) struct Forks {
    /// In blocks that are all of their region: ascending.
    pub(super) within: FxHashMap<BlockId, Vec<Fork>>,
    /// By block and question: the last position of its fork.
    pub(super) last: FxHashMap<(BlockId, QuestionId), usize>,
    /// In regions of several blocks: all over them, with the number of answers.
    pub(super) whole: FxHashMap<RegionId, Vec<(QuestionId, u32)>>,
    /// All questions that are told apart wherever they are asked.
    pub(super) settled: BTreeSet<QuestionId>,
}

/// Where a question is asked, as seen from the region that makes its answer.
#[derive(Clone, Copy, Debug)]
struct Place {
    region: RegionId,
    /// The entry that asks, or holds who does; `None` at the end of the block.
    entry: Option<InstId>,
    /// Whether it may be asked several times for one answer.
    repeats: bool,
    ways: u32,
}

impl Forks {
    /// Of the questions `asked`, as many as go with at most 2^`max_bits` copies of a place.
    pub(super) fn new(program: &Program, asked: &AskedOften, max_bits: u32) -> Self {
        let mut forks = Self::default();
        let positions = positions(program);
        for (&(region, question), places) in &asked.places {
            let answers = places.iter().map(|place| place.ways).max().unwrap_or(1);
            let entries = places.iter().filter_map(|place| place.entry);
            let at = entries.map(|entry| positions[entry.index()]);
            match (
                program.region(region).blocks.as_slice(),
                at.clone().min().zip(at.max()),
            ) {
                (&[block], Some((first, last))) => {
                    let fork = Fork {
                        first,
                        last,
                        question,
                        answers,
                    };
                    forks.within.entry(block).or_default().push(fork);
                }
                _ => {
                    let all_over = forks.whole.entry(region).or_default();
                    all_over.push((question, answers));
                }
            }
        }
        forks.settled = asked.questions();
        for known in forks.within.values_mut() {
            known.sort_unstable();
            for question in thin_out(known, max_bits) {
                forks.settled.remove(&question);
            }
        }
        for (&region, known) in &mut forks.whole {
            let count = |question| asked.places.get(&(region, question)).map_or(0, Vec::len);
            known.sort_by_key(|&(question, _)| std::cmp::Reverse(count(question)));
            let mut bits = 0;
            known.retain(|&(question, answers)| {
                bits += bits_of(answers);
                bits <= max_bits || {
                    forks.settled.remove(&question);
                    false
                }
            });
        }
        forks.within.retain(|_, known| !known.is_empty());
        forks.whole.retain(|_, known| !known.is_empty());
        for (&block, known) in &forks.within {
            let ends = known.iter().map(|fork| ((block, fork.question), fork.last));
            forks.last.extend(ends);
        }
        forks
    }

    pub(super) fn is_empty(&self) -> bool {
        self.within.is_empty() && self.whole.is_empty()
    }
}

/// The number of bits that tell `answers` apart.
const fn bits_of(answers: u32) -> u32 {
    answers.next_power_of_two().ilog2()
}

/// Leaves no more than fit in any place, those that end first, and returns the others.
fn thin_out(forks: &mut Vec<Fork>, max_bits: u32) -> BTreeSet<QuestionId> {
    let mut left_out = BTreeSet::new();
    let mut open: Vec<Fork> = Vec::new();
    for fork in forks.iter() {
        open.retain(|known| known.last >= fork.first);
        open.push(*fork);
        while open.iter().map(|known| bits_of(known.answers)).sum::<u32>() > max_bits {
            let longest = (0..open.len()).max_by_key(|&index| open[index].last);
            let Some(longest) = longest else { break };
            left_out.insert(open.swap_remove(longest).question);
        }
    }
    forks.retain(|fork| !left_out.contains(&fork.question));
    left_out
}

/// By entry: its position in its block, where it holds regions.
fn positions(program: &Program) -> Vec<usize> {
    let mut positions = vec![0; program.insts().len()];
    for block in program.blocks() {
        for (position, &inst) in block.insts.iter().enumerate() {
            positions[inst.index()] = position;
        }
    }
    positions
}

/// The questions that are asked more than once for one answer, with where.
#[derive(Debug, Default)]
pub(super) struct AskedOften {
    places: BTreeMap<(RegionId, QuestionId), Vec<Place>>,
}

impl AskedOften {
    /// Those of `program`. What only one loop asks, again and again, is told apart as `repeats` says.
    pub(super) fn of(program: &Program, repeats: Repeats) -> Self {
        let mut places: BTreeMap<(RegionId, QuestionId), Vec<Place>> = BTreeMap::new();
        let mut add = |asked: Asked, block, entry, ways| {
            if let Some(place) = place(program, repeats, asked.question, block, entry, ways) {
                let known = places.entry((place.region, asked.question)).or_default();
                known.push(place);
            }
        };
        let several = asked_by_several(program);
        for &(holder, asked) in program.all_asks() {
            let is_alone = is_loop(program, holder) && !several.contains(&asked.question);
            let is_wanted = !is_alone || repeats == Repeats::Alike;
            if let (true, Some(ways)) = (is_wanted, ways(program, holder)) {
                add(asked, program.inst(holder).block, Some(holder), ways);
            }
        }
        for (index, block) in program.blocks().iter().enumerate() {
            if let Some(asked) = block.asks {
                let ways = block.successors.len() as u32;
                add(asked, BlockId::new(index), None, ways);
            }
        }
        places.retain(|_, places| places.len() > 1 || places[0].repeats);
        Self { places }
    }

    /// All but those about `known`.
    pub(super) fn without(mut self, known: &BTreeSet<QuestionId>) -> Self {
        self.places
            .retain(|(_, question), _| !known.contains(question));
        self
    }

    pub(super) fn questions(&self) -> BTreeSet<QuestionId> {
        self.places.keys().map(|&(_, question)| question).collect()
    }
}

/// The number of ways on from the loop or branch `holder`; `None` where that is no matter of a question.
fn ways(program: &Program, holder: InstId) -> Option<u32> {
    match &program.inst(holder).op {
        Op::Region {
            kind: RegionKind::For { trips: None } | RegionKind::If,
            ..
        } => Some(2),
        Op::Region {
            kind: RegionKind::IndexSwitch,
            regions,
        } => Some(regions.len() as u32),
        _ => None,
    }
}

/// Where `entry`, or the end of `block`, asks `question`; `None` where it does so outside what makes the answer.
fn place(
    program: &Program,
    repeats: Repeats,
    question: QuestionId,
    block: BlockId,
    entry: Option<InstId>,
    ways: u32,
) -> Option<Place> {
    let made_in = program.question(question).made_in;
    let is_told = repeats == Repeats::Alike || entry.is_none_or(|entry| !is_loop(program, entry));
    let (mut block, mut entry, mut is_in_loop) = (block, entry, false);
    while program.holder(block) != made_in {
        let holder = program.holder(block)?;
        is_in_loop |= is_loop(program, holder);
        block = program.inst(holder).block;
        entry = Some(holder);
    }
    let region = program.block(block).region;
    let is_among_jumps = program.region(region).blocks.len() > 1;
    Some(Place {
        region,
        entry,
        repeats: is_told && (is_in_loop || is_among_jumps),
        ways,
    })
}

/// Whether what `holder` holds may run more than once.
fn is_loop(program: &Program, holder: InstId) -> bool {
    !matches!(
        program.inst(holder).op,
        Op::Region {
            kind: RegionKind::If | RegionKind::IndexSwitch,
            ..
        }
    )
}

/// The questions that more than one loop, branch or block asks.
pub(super) fn asked_by_several(program: &Program) -> BTreeSet<QuestionId> {
    let mut is_asked = vec![false; program.questions().len()];
    let holders = program.all_asks().iter().map(|(_, asked)| *asked);
    let jumps = program.blocks().iter().filter_map(|block| block.asks);
    let again = holders
        .chain(jumps)
        .filter(|asked| std::mem::replace(&mut is_asked[asked.question.index()], true));
    again.map(|asked| asked.question).collect()
}
