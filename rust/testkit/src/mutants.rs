//! Deliberate mistakes in plans of legalization: each must be noticed by whoever claims to check.

use pto_ir::{AccEdit, AccFlags, Anchor, Interval, MemsetTarget, NewMemset, Plan, Program, Target};
use pto_passes::legalize_acc;

/// Makes one kind of mistake in the plan for a program; nothing where the plan leaves no room for it.
pub type Mutate = fn(&Program, &Plan, &'static Target, &mut fastrand::Rng) -> Option<Plan>;

/// Every kind of mistake, by name.
pub const MUTANTS: &[(&str, Mutate)] = &[
    ("no start at all", |_, plan, _, _| {
        edit_all(plan, |flags| without(flags, AccFlags::START))
    }),
    ("start everywhere", |_, plan, _, _| {
        edit_all(plan, only_start)
    }),
    ("start on one more member", |_, plan, _, rng| {
        edit_one(
            plan,
            rng,
            |edit| !starts(edit),
            |edit| edit.flags = edit.flags.map(only_start),
        )
    }),
    ("start dropped from one group", |_, plan, _, rng| {
        edit_one(plan, rng, starts, |edit| {
            edit.flags = edit.flags.map(|flags| without(flags, AccFlags::START));
        })
    }),
    ("start on a later member", |_, plan, _, rng| {
        move_start(plan, rng)
    }),
    ("start on the last member", |_, plan, _, _| start_last(plan)),
    ("flags moved on by one member", |_, plan, _, _| rotate(plan)),
    ("literal clustering", |program, _, target, _| {
        naive(program, target)
    }),
    ("one memset dropped", |_, plan, _, rng| {
        let index = pick(rng, plan.memsets.len())?;
        Some(with_memsets(plan, |memsets| {
            memsets.remove(index);
        }))
    }),
    ("all memsets dropped", |_, plan, _, _| {
        (!plan.memsets.is_empty()).then(|| with_memsets(plan, Vec::clear))
    }),
    ("a memset after its matmul", |program, plan, _, rng| {
        late_memset(program, plan, rng)
    }),
    ("a memset of half the cells", |program, plan, _, rng| {
        half_memset(program, plan, rng)
    }),
    (
        "a memset before an interior member",
        |program, plan, _, rng| extra_memset(program, plan, rng),
    ),
    ("stop dropped", |_, plan, _, rng| {
        edit_one(plan, rng, stops, |edit| {
            edit.flags = edit.flags.map(|flags| without(flags, AccFlags::STOP));
        })
    }),
    ("stop on the member before", |_, plan, _, rng| {
        early_stop(plan, rng)
    }),
    (
        "accumulate on an interior member",
        |_, plan, target, rng| {
            let is_interior = |edit: &AccEdit| edit.flags == Some(AccFlags::NONE);
            let mutant = edit_one(plan, rng, is_interior, |edit| {
                edit.flags = Some(AccFlags::ACCUMULATE);
            });
            mutant.filter(|_| target.has_accumulate)
        },
    ),
    ("start instead of accumulate", |_, plan, _, rng| {
        edit_one(plan, rng, accumulates, |edit| {
            let rest = edit.flags.map(|flags| without(flags, AccFlags::ACCUMULATE));
            edit.flags = rest.map(only_start);
        })
    }),
    ("a window of one bank", |_, plan, _, rng| {
        let is_wide = |edit: &AccEdit| edit.zero_region > Some(0) && starts(edit);
        edit_one(plan, rng, is_wide, |edit| edit.zero_region = Some(0))
    }),
    ("the widest window", |_, plan, target, rng| {
        let widest = target.max_zero_region_code;
        let is_narrow = |edit: &AccEdit| edit.zero_region < Some(widest) && starts(edit);
        edit_one(plan, rng, is_narrow, |edit| edit.zero_region = Some(widest))
    }),
];

fn starts(edit: &AccEdit) -> bool {
    edit.flags.is_some_and(AccFlags::starts)
}

fn stops(edit: &AccEdit) -> bool {
    edit.flags.is_some_and(AccFlags::stops)
}

fn accumulates(edit: &AccEdit) -> bool {
    edit.flags.is_some_and(AccFlags::accumulates)
}

fn without(flags: AccFlags, bit: AccFlags) -> AccFlags {
    AccFlags::from_byte(flags.byte() & !bit.byte()).unwrap_or_default()
}

/// START, and STOP where it was.
fn only_start(flags: AccFlags) -> AccFlags {
    without(flags, AccFlags::ACCUMULATE).with(AccFlags::START)
}

fn pick(rng: &mut fastrand::Rng, count: usize) -> Option<usize> {
    (count > 0).then(|| rng.usize(0..count))
}

/// The plan with other memsets. Edges name memsets by number, and matter to schedulers alone.
fn with_memsets(plan: &Plan, change: impl FnOnce(&mut Vec<NewMemset>)) -> Plan {
    let mut mutant = Plan {
        edges: Vec::new(),
        ..plan.clone()
    };
    change(&mut mutant.memsets);
    mutant
}

fn edit_all(plan: &Plan, change: impl Fn(AccFlags) -> AccFlags) -> Option<Plan> {
    let mut mutant = plan.clone();
    for edit in &mut mutant.acc {
        edit.flags = edit.flags.map(&change);
    }
    (mutant.acc != plan.acc).then_some(mutant)
}

fn edit_one(
    plan: &Plan,
    rng: &mut fastrand::Rng,
    fits: impl Fn(&AccEdit) -> bool,
    change: impl FnOnce(&mut AccEdit),
) -> Option<Plan> {
    let candidates: Vec<usize> = (0..plan.acc.len())
        .filter(|&i| fits(&plan.acc[i]))
        .collect();
    let index = candidates[pick(rng, candidates.len())?];
    let mut mutant = plan.clone();
    change(&mut mutant.acc[index]);
    Some(mutant)
}

fn move_start(plan: &Plan, rng: &mut fastrand::Rng) -> Option<Plan> {
    let heads: Vec<usize> = (0..plan.acc.len().saturating_sub(1))
        .filter(|&i| starts(&plan.acc[i]))
        .collect();
    let head = heads[pick(rng, heads.len())?];
    let mut mutant = plan.clone();
    mutant.acc[head].flags = mutant.acc[head]
        .flags
        .map(|flags| without(flags, AccFlags::START));
    mutant.acc[head + 1].flags = mutant.acc[head + 1].flags.map(only_start);
    Some(mutant)
}

fn start_last(plan: &Plan) -> Option<Plan> {
    let mut mutant = edit_all(plan, |flags| without(flags, AccFlags::START))?;
    let last = mutant.acc.last_mut()?;
    last.flags = last.flags.map(only_start);
    (mutant.acc != plan.acc).then_some(mutant)
}

fn rotate(plan: &Plan) -> Option<Plan> {
    let mut mutant = plan.clone();
    let count = plan.acc.len();
    for (index, edit) in mutant.acc.iter_mut().enumerate() {
        edit.flags = plan.acc[(index + count - 1) % count].flags;
    }
    (mutant.acc != plan.acc).then_some(mutant)
}

fn naive(program: &Program, target: &'static Target) -> Option<Plan> {
    let options = legalize_acc::Options {
        profile: legalize_acc::Profile::Naive,
        ..legalize_acc::Options::default()
    };
    legalize_acc::plan(program, target, &options).ok()
}

fn late_memset(program: &Program, plan: &Plan, rng: &mut fastrand::Rng) -> Option<Plan> {
    let index = pick(rng, plan.memsets.len())?;
    let Anchor::Before(before) = plan.memsets[index].at else {
        return None;
    };
    let insts = &program.block(program.inst(before).block).insts;
    let position = insts.iter().position(|&inst| inst == before)?;
    let next = *insts.get(position + 1)?;
    let target = concrete(program, plan.memsets[index].target);
    Some(with_memsets(plan, |memsets| {
        memsets[index] = NewMemset {
            at: Anchor::Before(next),
            target,
        }
    }))
}

/// The cells of a memset as a rectangle, where they are one.
fn concrete(program: &Program, target: MemsetTarget) -> MemsetTarget {
    let MemsetTarget::Access(access) = target else {
        return target;
    };
    match program.bytes(access) {
        [bytes] => MemsetTarget::Rectangle {
            alloc: program.access(access).alloc,
            partitions: program.access(access).partitions,
            bytes: *bytes,
        },
        _ => target,
    }
}

fn half_memset(program: &Program, plan: &Plan, rng: &mut fastrand::Rng) -> Option<Plan> {
    let index = pick(rng, plan.memsets.len())?;
    let whole = concrete(program, plan.memsets[index].target);
    let MemsetTarget::Rectangle {
        alloc,
        partitions,
        bytes,
    } = whole
    else {
        return None;
    };
    let half = Interval::new(bytes.start, bytes.start + bytes.len() / 8 * 4);
    let target = MemsetTarget::Rectangle {
        alloc,
        partitions,
        bytes: half,
    };
    (!half.is_empty()).then(|| with_memsets(plan, |memsets| memsets[index].target = target))
}

fn extra_memset(program: &Program, plan: &Plan, rng: &mut fastrand::Rng) -> Option<Plan> {
    let index = pick(rng, plan.acc.len())?;
    let AccEdit { inst, .. } = plan.acc[index];
    let matmul = program.inst(inst).matmul()?;
    matmul.accumulator?;
    let memset = NewMemset {
        at: Anchor::Before(inst),
        target: MemsetTarget::Access(matmul.dst),
    };
    Some(with_memsets(plan, |memsets| memsets.push(memset)))
}

fn early_stop(plan: &Plan, rng: &mut fastrand::Rng) -> Option<Plan> {
    let fits = |index: usize| stops(&plan.acc[index]) && !stops(&plan.acc[index - 1]);
    let tails: Vec<usize> = (1..plan.acc.len()).filter(|&index| fits(index)).collect();
    let tail = tails[pick(rng, tails.len())?];
    let mut mutant = plan.clone();
    mutant.acc[tail].flags = mutant.acc[tail]
        .flags
        .map(|flags| without(flags, AccFlags::STOP));
    let before = &mut mutant.acc[tail - 1];
    before.flags = before.flags.map(|flags| flags.with(AccFlags::STOP));
    Some(mutant)
}
