//! Loops, branches and jumps.
//!
//! Where paths meet, a cell gets a value that stands for "what the path brought"; cells that every
//! path brings the same pair of things get the same one. A loop is first assumed to change nothing.
//! When its end contradicts that, the cells that differ are told apart and the loop is run again:
//! cells are only ever told apart, so this ends, and what is equal in the end is equal in every
//! iteration by induction.

use std::collections::BTreeSet;
use std::rc::Rc;

use pto_ir::{AllocId, Program};
use rustc_hash::FxHashMap;

use crate::verify_acc::flow::{Graph, Node, Repeats};
use crate::verify_acc::needs::Needs;

use super::align::Pair;
use super::rects::{Rect, Rects};
use super::run::{Mismatch, Sides};
use super::state::{BankCell, BufferCell, MAX_MACHINES, NONE, State};
use super::value::{Origin, Value, Values};

/// Runs both sides over every path, and returns the first read that differs.
pub(super) fn run(
    sides: &Sides<'_>,
    blocks: &[Vec<Pair>],
    values: &mut Values,
) -> Option<Mismatch> {
    let found = run_on(&Graph::new(sides.after, true), sides, blocks, values)?;
    // What differs on some path may do so on none that loops with equal bounds allow.
    match Graph::refined(sides.after, Repeats::Alike) {
        Some(refined) => run_on(&refined, sides, blocks, values),
        None => Some(found),
    }
}

fn run_on(
    graph: &Graph,
    sides: &Sides<'_>,
    blocks: &[Vec<Pair>],
    values: &mut Values,
) -> Option<Mismatch> {
    let nodes = &graph.nodes;
    let needs = Needs::new(sides.after, nodes);
    let stretches = stretches(sides, nodes, blocks);
    let mut sources: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
    for (from, node) in nodes.iter().enumerate() {
        for edge in &node.edges {
            if sources[edge.to].last() != Some(&from) {
                sources[edge.to].push(from);
            }
        }
    }
    let target = sides.target;
    let initial = State::new(
        sides.before,
        &sides.new_places,
        target,
        sides.sticky(),
        values,
    );
    let mut before: Vec<Option<State>> = vec![None; nodes.len()];
    let mut after: Vec<Option<State>> = vec![None; nodes.len()];
    let mut found: Vec<Option<Mismatch>> = vec![None; nodes.len()];
    let mut waiting = BTreeSet::from([0]);
    while let Some(index) = waiting.pop_first() {
        let start = (index == 0).then_some(&initial);
        let ends = sources[index]
            .iter()
            .filter_map(|&from| after[from].as_ref());
        let incoming: Vec<&State> = start.into_iter().chain(ends).collect();
        let old = before[index].as_ref();
        let is_needed = |alloc| needs.is_needed_in(alloc, index);
        let mut state = match incoming.as_slice() {
            [] => continue,
            [one] => {
                let mut state = (*one).clone();
                state.buffers.retain(|&alloc, _| is_needed(alloc));
                state
            }
            several => {
                let met = meet(sides, old, several, is_needed, values);
                if old.is_some_and(|old| is_same(sides.before, old, &met)) {
                    continue;
                }
                met
            }
        };
        before[index] = (incoming.len() > 1 || sources[index].len() > 1).then(|| state.clone());
        found[index] = run_node(
            sides,
            graph,
            &nodes[index],
            stretches[index],
            &mut state,
            values,
        );
        after[index] = Some(state);
        waiting.extend(nodes[index].edges.iter().map(|edge| edge.to));
    }
    found.into_iter().flatten().next()
}

/// The pairs of each node: a block's pairs are cut at the operations that hold regions.
fn stretches<'a>(sides: &Sides<'_>, nodes: &[Node], blocks: &'a [Vec<Pair>]) -> Vec<&'a [Pair]> {
    let holds_regions = |pair: &Pair| match pair {
        Pair::Both(old, _) => {
            matches!(sides.before.inst(*old).op, pto_ir::Op::Region { .. })
        }
        _ => false,
    };
    let parts: Vec<Vec<&[Pair]>> = blocks
        .iter()
        .map(|pairs| pairs.split(holds_regions).collect())
        .collect();
    let part = |node: &Node| match node.is_fork {
        true => None,
        false => parts[node.block.index()].get(node.stretch).copied(),
    };
    nodes
        .iter()
        .map(|node| part(node).unwrap_or_default())
        .collect()
}

fn run_node(
    sides: &Sides<'_>,
    graph: &Graph,
    node: &Node,
    pairs: &[Pair],
    state: &mut State,
    values: &mut Values,
) -> Option<Mismatch> {
    let mut first = None;
    for &pair in pairs {
        first = first.or(sides.step(pair, Some((graph, node)), state, values));
    }
    if node.is_exit {
        first.or_else(|| sides.end(state))
    } else {
        first
    }
}

/// The state in which `incoming` meet. `old` is what it was when this was last computed.
/// Buffers that are not needed from here on are left out.
fn meet(
    sides: &Sides<'_>,
    old: Option<&State>,
    incoming: &[&State],
    is_needed: impl Fn(AllocId) -> bool,
    values: &mut Values,
) -> State {
    values.begin_meeting();
    let mut met = incoming[0].clone();
    for (index, bank) in met.banks.iter_mut().enumerate() {
        let all: Vec<_> = incoming.iter().map(|state| &state.banks[index]).collect();
        if !all.iter().all(|other| Rc::ptr_eq(other, bank)) {
            let before = old.map(|old| &*old.banks[index]);
            *bank = Rc::new(meet_rects(before, &all, |old, cells| {
                meet_bank_cells(old, cells, values)
            }));
        }
    }
    let written: BTreeSet<AllocId> = incoming
        .iter()
        .flat_map(|state| state.buffers.keys().copied())
        .filter(|&alloc| is_needed(alloc))
        .collect();
    met.buffers.clear();
    for alloc in written {
        let all: Vec<_> = incoming
            .iter()
            .map(|state| state.all_of(sides.before, alloc))
            .collect();
        let is_mixed = |cells: &Rects<BufferCell>| cells.all().iter().any(|c| c.state.is_mixed());
        let is_shared = all.iter().all(|other| Rc::ptr_eq(other, &all[0]));
        if is_shared && !is_mixed(&all[0]) {
            met.buffers.insert(alloc, all[0].clone());
            continue;
        }
        let before = old.map(|old| old.all_of(sides.before, alloc));
        let all: Vec<_> = all.iter().collect();
        let mut cells = meet_rects(before.as_deref(), &all, |old, cells| {
            meet_buffer_cells(old, cells, values)
        });
        if is_mixed(&cells) {
            settle_mixed(sides, alloc, &mut cells, incoming, &met, values);
        }
        met.buffers.insert(alloc, Rc::new(cells));
    }
    met
}

/// Says what the mixed cells of `alloc` must hold from here on: what the machines hold in `met`, if
/// they are right on every path that writes the cell, and otherwise something they never hold.
fn settle_mixed(
    sides: &Sides<'_>,
    alloc: AllocId,
    cells: &mut Rects<BufferCell>,
    incoming: &[&State],
    met: &State,
    values: &mut Values,
) {
    for piece in sides.new_places.of_alloc(alloc) {
        for bank_rect in met.banks[piece.bank as usize].meeting(piece.partitions, piece.bytes) {
            let (rows, bytes) = piece.in_buffer(bank_rect.partitions, bank_rect.bytes);
            let mixed: Vec<_> = cells
                .meeting(rows, bytes)
                .filter(|part| part.state.is_mixed())
                .collect();
            for part in mixed {
                let (partitions, columns) = piece.in_bank(part.partitions, part.bytes);
                let is_right = |machine: usize, state: &State| {
                    let buffer = state.buffer(alloc);
                    let wanted = buffer.and_then(|cells| at(cells, &part));
                    let found = state.banks[piece.bank as usize]
                        .meeting(partitions, columns)
                        .next();
                    let expected = wanted.and_then(|cell| cell.expected(machine));
                    expected.is_none_or(|e| found.is_some_and(|f| f.state.values[machine] == e))
                };
                let mut seen = bank_rect.state.values;
                for (machine, value) in seen.iter_mut().enumerate().take(sides.machines.len()) {
                    if !incoming.iter().all(|state| is_right(machine, state)) {
                        *value = values.fresh(Origin::Meeting);
                    }
                }
                cells.change(part.partitions, part.bytes, |cell| cell.seen = seen);
            }
        }
    }
}

/// Overlays `incoming` and `old`, and meets cell by cell.
fn meet_rects<T: Copy + PartialEq>(
    old: Option<&Rects<T>>,
    incoming: &[&Rc<Rects<T>>],
    mut meet: impl FnMut(Option<&T>, &[T]) -> T,
) -> Rects<T> {
    let mut grid = (**incoming[0]).clone();
    for other in incoming.iter().skip(1) {
        grid.cut_like(other);
    }
    if let Some(old) = old {
        grid.cut_like(old);
    }
    grid.map(|rect| {
        let cells: Vec<T> = incoming
            .iter()
            .filter_map(|rects| at(rects, rect))
            .collect();
        let before = old.and_then(|old| at(old, rect));
        meet(before.as_ref(), &cells)
    })
}

/// The state of the cells of `rect`, which lies in one rectangle of `rects`.
fn at<T: Copy + PartialEq>(rects: &Rects<T>, rect: &Rect<T>) -> Option<T> {
    rects
        .meeting(rect.partitions, rect.bytes)
        .next()
        .map(|part| part.state)
}

fn meet_buffer_cells(
    old: Option<&BufferCell>,
    cells: &[BufferCell],
    values: &mut Values,
) -> BufferCell {
    let incoming: Vec<Value> = cells.iter().map(|cell| cell.value).collect();
    BufferCell {
        value: values.meet(old.map(|cell| cell.value), &incoming),
        may_be_fresh: cells.iter().any(|cell| cell.may_be_fresh),
        may_be_written: cells.iter().any(|cell| cell.may_be_written),
        seen: [Value::POISON; MAX_MACHINES],
        writer: cells.iter().map(|cell| cell.writer).min().unwrap_or(NONE),
    }
}

fn meet_bank_cells(old: Option<&BankCell>, cells: &[BankCell], values: &mut Values) -> BankCell {
    let mut met = cells[0];
    for index in 0..MAX_MACHINES {
        let incoming: Vec<Value> = cells.iter().map(|cell| cell.values[index]).collect();
        met.values[index] = values.meet(old.map(|cell| cell.values[index]), &incoming);
        let incoming: Vec<Value> = cells.iter().map(|cell| cell.bases[index]).collect();
        met.bases[index] = values.meet(old.map(|cell| cell.bases[index]), &incoming);
    }
    for cell in cells {
        met.unsure |= cell.unsure | (met.pending ^ cell.pending);
        met.writer = met.writer.min(cell.writer);
    }
    met.pending &= !met.unsure;
    met
}

/// Whether two states tell the same cells apart: values may have other names.
fn is_same(program: &Program, old: &State, new: &State) -> bool {
    let mut names = Names::default();
    let written: BTreeSet<&AllocId> = old.buffers.keys().chain(new.buffers.keys()).collect();
    written.into_iter().all(|&alloc| {
        let (old, new) = (old.all_of(program, alloc), new.all_of(program, alloc));
        all_parts(&old, &new, |old, new| {
            (old.may_be_fresh, old.may_be_written) == (new.may_be_fresh, new.may_be_written)
                && names.agree(old.value, new.value)
                && old
                    .seen
                    .iter()
                    .zip(&new.seen)
                    .all(|(&old, &new)| names.agree(old, new))
        })
    }) && old.banks.iter().zip(&new.banks).all(|(old, new)| {
        all_parts(old, new, |old, new| {
            let values = old.values.iter().zip(&new.values);
            let mut all = values.chain(old.bases.iter().zip(&new.bases));
            (old.pending, old.unsure) == (new.pending, new.unsure)
                && all.all(|(&old, &new)| names.agree(old, new))
        })
    })
}

fn all_parts<T: Copy + PartialEq>(
    old: &Rects<T>,
    new: &Rects<T>,
    mut holds: impl FnMut(&T, &T) -> bool,
) -> bool {
    new.all().iter().all(|rect| {
        let mut parts = old.meeting(rect.partitions, rect.bytes);
        parts.all(|part| holds(&part.state, &rect.state))
    })
}

/// A one-to-one renaming of values that grows as it is used. Zero keeps its name: sums treat it
/// differently from everything else.
#[derive(Default)]
struct Names {
    forward: FxHashMap<Value, Value>,
    backward: FxHashMap<Value, Value>,
}

impl Names {
    fn agree(&mut self, old: Value, new: Value) -> bool {
        (old == Value::ZERO) == (new == Value::ZERO)
            && *self.forward.entry(old).or_insert(new) == new
            && *self.backward.entry(new).or_insert(old) == old
    }
}
