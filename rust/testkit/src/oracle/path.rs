//! One way through a function, as a straight line.

use std::collections::BTreeMap;

use pto_ir::{
    Asked, Block, BlockId, Condition, InstId, Op, Predicate, Program, QuestionId, RegionId,
    RegionKind, Turn,
};

/// One execution of one instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Event {
    /// The instruction.
    pub inst: InstId,
    /// How often it ran before.
    pub occurrence: u32,
}

/// An event with the predicates that held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// What ran.
    pub event: Event,
    /// The value of `start_if`, where there is one.
    pub start_if: bool,
    /// The value of `stop_if`, where there is one.
    pub stop_if: bool,
}

/// Decides what a run decides: each answer is smaller than the number of choices. The answers to
/// one seed are the same for every program that asks the same questions.
#[derive(Clone, Debug)]
pub struct Chooser {
    rng: fastrand::Rng,
    max_trips: u64,
}

impl Chooser {
    /// The choices of run number `seed`; loops whose trips are not known run `0..=max_trips` times.
    pub fn new(seed: u64, max_trips: u64) -> Self {
        Self {
            rng: fastrand::Rng::with_seed(seed),
            max_trips,
        }
    }

    fn choose(&mut self, choices: usize) -> usize {
        if choices < 2 {
            0
        } else {
            self.rng.usize(0..choices)
        }
    }

    fn trips(&mut self) -> u64 {
        self.rng.u64(0..=self.max_trips)
    }
}

/// The steps of one run of `program`; `None` where it takes more than `fuel` steps or blocks.
pub fn trace(program: &Program, chooser: &mut Chooser, fuel: usize) -> Option<Vec<Step>> {
    let mut tracer = Tracer {
        program,
        chooser,
        fuel,
        occurrences: vec![0; program.insts().len()],
        steps: Vec::new(),
        turns: Vec::new(),
        answers: vec![None; program.questions().len()],
        trips: vec![None; program.insts().len()],
        trips_made_in: trips_made_in(program),
        answers_made_in: answers_made_in(program),
    };
    if program.body().is_some() {
        tracer.region(RegionId::new(0))?;
    }
    Some(tracer.steps)
}

struct Tracer<'a> {
    program: &'a Program,
    chooser: &'a mut Chooser,
    fuel: usize,
    occurrences: Vec<u32>,
    steps: Vec<Step>,
    /// The loops that are running, each with its iteration and the number of its iterations.
    turns: Vec<(InstId, u64, u64)>,
    /// By question: the answer.
    answers: Vec<Option<u32>>,
    /// By loop: how often it runs if it does.
    trips: Vec<Option<u64>>,
    /// By operation: the loops whose bounds it makes anew.
    trips_made_in: BTreeMap<InstId, Vec<InstId>>,
    /// By operation: the questions whose answers it makes anew.
    answers_made_in: BTreeMap<InstId, Vec<QuestionId>>,
}

fn answers_made_in(program: &Program) -> BTreeMap<InstId, Vec<QuestionId>> {
    let mut made_in: BTreeMap<InstId, Vec<QuestionId>> = BTreeMap::new();
    for (index, question) in program.questions().iter().enumerate() {
        if let Some(maker) = question.made_in {
            made_in
                .entry(maker)
                .or_default()
                .push(QuestionId::new(index));
        }
    }
    made_in
}

fn trips_made_in(program: &Program) -> BTreeMap<InstId, Vec<InstId>> {
    let mut made_in: BTreeMap<InstId, Vec<InstId>> = BTreeMap::new();
    for id in program.walk() {
        if let Some(maker) = program.bounds(id).and_then(|bounds| bounds.vary_in) {
            made_in.entry(maker).or_default().push(id);
        }
    }
    made_in
}

impl Tracer<'_> {
    fn region(&mut self, region: RegionId) -> Option<()> {
        self.forget_values(self.program.region(region).holder);
        let mut next = self.program.region(region).blocks.first().copied();
        while let Some(block) = next {
            next = self.block(block)?;
        }
        Some(())
    }

    /// Runs `block` and says where control goes.
    fn block(&mut self, block: BlockId) -> Option<Option<BlockId>> {
        let program = self.program;
        self.fuel = self.fuel.checked_sub(1)?;
        for &inst in &program.block(block).insts {
            match &program.inst(inst).op {
                Op::Region { kind, regions } => self.holder(inst, *kind, regions)?,
                op => {
                    self.fuel = self.fuel.checked_sub(1)?;
                    let matmul = match op {
                        Op::Matmul(matmul) => Some(matmul),
                        _ => None,
                    };
                    let start_if = self.predicate(matmul.and_then(|m| m.start_if));
                    let stop_if = self.predicate(matmul.and_then(|m| m.stop_if));
                    let occurrence = self.occurrences[inst.index()];
                    self.occurrences[inst.index()] += 1;
                    self.steps.push(Step {
                        event: Event { inst, occurrence },
                        start_if,
                        stop_if,
                    });
                }
            }
        }
        let Block {
            successors, asks, ..
        } = program.block(block);
        let chosen = self.way(*asks, successors.len());
        Some(successors.get(chosen).copied())
    }

    fn predicate(&mut self, predicate: Option<Predicate>) -> bool {
        let Some(predicate) = predicate else {
            return false;
        };
        let condition = self.program.condition(predicate.condition);
        self.holds(condition).unwrap_or_else(|| self.coin())
    }

    fn holds(&self, condition: &Condition) -> Option<bool> {
        condition.holds(|holder, turn| {
            let running = self.turns.iter().find(|(id, _, _)| *id == holder);
            running.map(|&(_, iteration, trips)| match turn {
                Turn::First => iteration == 0,
                Turn::Last => iteration + 1 == trips,
            })
        })
    }

    /// As long as its bounds are not made anew a loop runs equally often every time; and of loops that ask the
    /// same all run or none does.
    fn trips(&mut self, holder: InstId) -> u64 {
        let chooser = &mut *self.chooser;
        let runs = self.program.runs(holder);
        let first = chooser.trips().max(u64::from(runs));
        let Some(asked) = self.program.asks(holder).filter(|_| !runs) else {
            return first;
        };
        let way = asked.way(u32::from(first == 0));
        let answer = *self.answers[asked.question.index()].get_or_insert(way);
        let trips = *self.trips[holder.index()].get_or_insert(first.max(1));
        match asked.way(answer) {
            0 => trips,
            _ => 0,
        }
    }

    /// Which of `ways` is taken; who asks what was asked before goes as it was answered.
    fn way(&mut self, asked: Option<Asked>, ways: usize) -> usize {
        let chosen = self.chooser.choose(ways);
        let Some(asked) = asked else {
            return chosen;
        };
        let answer = &mut self.answers[asked.question.index()];
        asked.way(*answer.get_or_insert(asked.way(chosen as u32))) as usize
    }

    /// The values that a region of `holder` makes are no longer those of the time before.
    fn forget_values(&mut self, holder: Option<InstId>) {
        let Some(holder) = holder else {
            return;
        };
        for id in self.trips_made_in.get(&holder).into_iter().flatten() {
            self.trips[id.index()] = None;
        }
        for question in self.answers_made_in.get(&holder).into_iter().flatten() {
            self.answers[question.index()] = None;
        }
    }

    fn coin(&mut self) -> bool {
        self.chooser.choose(2) == 1
    }

    fn holder(&mut self, holder: InstId, kind: RegionKind, regions: &[RegionId]) -> Option<()> {
        match kind {
            RegionKind::For { trips } => {
                let trips = trips.unwrap_or_else(|| self.trips(holder));
                for iteration in 0..trips {
                    self.fuel = self.fuel.checked_sub(1)?;
                    self.turns.push((holder, iteration, trips));
                    self.region(*regions.first()?)?;
                    self.turns.pop();
                }
            }
            RegionKind::If | RegionKind::IndexSwitch => {
                let absent = usize::from(kind == RegionKind::If && regions.len() < 2);
                let known = self.program.branch(holder).and_then(|c| self.holds(c));
                let settled = self.program.choice(holder);
                let chosen = match settled.or(known.map(|taken| usize::from(!taken))) {
                    Some(chosen) => chosen,
                    None => self.way(self.program.asks(holder), regions.len() + absent),
                };
                if let Some(&region) = regions.get(chosen) {
                    self.region(region)?;
                }
            }
            RegionKind::While => {
                let trips = match self.program.branch(holder) {
                    Some(Condition::Constant(false)) => 0,
                    Some(Condition::Constant(true)) => return None,
                    _ => self.chooser.trips(),
                };
                let (&condition, body) = regions.split_first()?;
                for _ in 0..trips {
                    self.region(condition)?;
                    if let Some(&body) = body.first() {
                        self.region(body)?;
                    }
                }
                self.region(condition)?;
            }
            RegionKind::Other => {
                for _ in 0..self.chooser.trips() {
                    let chosen = self.chooser.choose(regions.len());
                    self.region(*regions.get(chosen)?)?;
                }
            }
        }
        Some(())
    }
}
