//! A program as text.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::loops_around_block;
use pto_ir::{
    AccessId, AllocId, Asked, BlockId, Condition, Engine, InstId, Interval, Matmul, Op, Origin,
    Program, QuestionId, RegionKind, Space, Turn, Use, UseKind,
};

/// `program` in the form that [`parse`](super::parse) reads.
pub fn print(program: &Program) -> String {
    let mut printer = Printer {
        program,
        named: named_instructions(program),
        ranks: ranks(program),
        questions: named_questions(program),
        text: String::new(),
        depth: 0,
    };
    printer.program();
    printer.text
}

/// The instructions that another one waits for, with their numbers: places in program order, which
/// do not depend on what was there before.
fn named_instructions(program: &Program) -> BTreeMap<InstId, usize> {
    let edges = program.insts().iter().flat_map(|inst| &inst.after);
    let named: BTreeSet<InstId> = edges.map(|edge| edge.from).collect();
    let numbered = program.walk().enumerate();
    let numbers = numbered.map(|(number, inst)| (inst, number));
    numbers.filter(|(inst, _)| named.contains(inst)).collect()
}

/// The buffers in the order in which they are printed, which is that in which they are read back: arguments first.
fn ranks(program: &Program) -> BTreeMap<AllocId, usize> {
    let all = (0..program.allocs().len()).map(AllocId::new);
    let arguments = all.filter(|&id| program.alloc(id).origin != Origin::Allocation);
    let allocated = program
        .walk()
        .filter_map(|inst| match program.inst(inst).op {
            Op::Alloc(alloc) => Some(alloc),
            _ => None,
        });
    let ordered = arguments.chain(allocated).enumerate();
    ordered.map(|(rank, id)| (id, rank)).collect()
}

/// The questions that are printed, with their numbers: all but those of one loop alone.
fn named_questions(program: &Program) -> BTreeMap<QuestionId, usize> {
    let holders = program
        .walk()
        .filter_map(|id| Some((is_loop(program, id), program.asks(id)?.question)));
    let jumps = program.blocks().iter().filter_map(|block| block.asks);
    let jumps = jumps.map(|asked| (false, asked.question));
    let mut named = BTreeMap::new();
    let mut of_a_loop = BTreeSet::new();
    for (is_loop, question) in holders.chain(jumps) {
        if !is_loop || !of_a_loop.insert(question) {
            let next = named.len();
            named.entry(question).or_insert(next);
        }
    }
    named
}

fn is_loop(program: &Program, id: InstId) -> bool {
    matches!(
        program.inst(id).op,
        Op::Region {
            kind: RegionKind::For { .. },
            ..
        }
    )
}

/// What is left to print, last first: nesting may be deeper than the machine stack allows.
enum Work {
    Inst(InstId),
    BlockStart(BlockId),
    BlockEnd(BlockId),
    RegionEnd,
    Line(String),
}

struct Printer<'a> {
    program: &'a Program,
    named: BTreeMap<InstId, usize>,
    ranks: BTreeMap<AllocId, usize>,
    /// The questions that are printed, with their numbers.
    questions: BTreeMap<QuestionId, usize>,
    text: String,
    depth: usize,
}

impl Printer<'_> {
    fn program(&mut self) {
        if self.program.body().is_none() {
            self.line(&format!("declare {}", self.program.name));
            return;
        }
        let mut head = format!("func {}", self.program.name);
        head.push_str(if self.program.provisional {
            "; provisional"
        } else {
            ""
        });
        head.push_str(if self.program.legalized {
            "; legalized"
        } else {
            ""
        });
        self.line(&head);
        for (index, alloc) in self.program.allocs().iter().enumerate() {
            if alloc.origin != Origin::Allocation {
                let text = self.alloc(AllocId::new(index));
                self.line(&text);
            }
        }
        let mut work = Vec::new();
        self.push_region(0, &mut work);
        while let Some(item) = work.pop() {
            self.item(item, &mut work);
        }
    }

    fn item(&mut self, item: Work, work: &mut Vec<Work>) {
        match item {
            Work::Line(line) => self.line(&line),
            Work::Inst(id) => self.inst(id, work),
            Work::RegionEnd => self.depth -= 1,
            Work::BlockStart(block) => self.line(&format!("^b{}:", block.index())),
            Work::BlockEnd(block) => {
                let successors = &self.program.block(block).successors;
                if !successors.is_empty() {
                    let names: Vec<String> = successors
                        .iter()
                        .map(|to| format!("b{}", to.index()))
                        .collect();
                    let asked = self.asked(self.program.block(block).asks);
                    self.line(&format!("goto{asked} {}", names.join(", ")));
                }
            }
        }
    }

    /// Blocks have labels only where there is more than one or where control goes back to one.
    fn push_region(&self, region: usize, work: &mut Vec<Work>) {
        let blocks = &self.program.regions()[region].blocks;
        let has_labels = blocks.len() > 1
            || blocks
                .iter()
                .any(|&b| !self.program.block(b).successors.is_empty());
        for &block in blocks.iter().rev() {
            work.push(Work::BlockEnd(block));
            let insts = &self.program.block(block).insts;
            work.extend(insts.iter().rev().map(|&id| Work::Inst(id)));
            if has_labels {
                work.push(Work::BlockStart(block));
            }
        }
    }

    fn inst(&mut self, id: InstId, work: &mut Vec<Work>) {
        let inst = self.program.inst(id);
        let text = match &inst.op {
            Op::Alloc(alloc) => self.alloc(*alloc),
            Op::Dealloc(alloc) => format!("dealloc {}", self.name(*alloc)),
            Op::Region { kind, regions } => {
                let holder = self.region_holder(id, *kind);
                let bodies: Vec<usize> = regions.iter().map(|region| region.index()).collect();
                return self.bodies(holder, &bodies, work);
            }
            Op::Matmul(matmul) => self.matmul(id, matmul),
            Op::Engine => self.engine_op(id),
            Op::Effects => format!("effects {}", self.uses(self.program.uses(id))),
            Op::Call { banks } => {
                format!(
                    "call({}) {}",
                    bank_list(*banks),
                    self.uses(self.program.uses(id))
                )
            }
        };
        let text = format!("{}{}{}", self.label(id), text.trim_end(), self.suffix(id));
        self.line(&text);
    }

    /// Only the regions' own lines are indented further: the braces belong to the holder.
    fn bodies(&mut self, holder: String, regions: &[usize], work: &mut Vec<Work>) {
        let is_empty = |&region: &usize| self.program.regions()[region].blocks.is_empty();
        let mut open = holder;
        let mut pieces = Vec::new();
        for region in regions {
            if is_empty(region) {
                open.push_str(" -");
                continue;
            }
            open.push_str(" {");
            pieces.push((std::mem::replace(&mut open, "}".to_owned()), *region));
        }
        work.push(Work::Line(open));
        for (line, region) in pieces.into_iter().rev() {
            work.push(Work::RegionEnd);
            self.push_region(region, work);
            work.push(Work::Line(line));
        }
    }

    fn region_holder(&self, id: InstId, kind: RegionKind) -> String {
        let condition = self.program.branch(id);
        let condition = condition.map_or_else(String::new, |c| self.condition(id, c));
        match kind {
            RegionKind::For { trips } => {
                let trips = trips.map_or_else(String::new, |trips| format!(" {trips}"));
                let bounds = self.program.bounds(id);
                let varies = bounds.and_then(|bounds| bounds.vary_in);
                let varies = varies.map_or("", |_| " varying");
                let runs = bounds.filter(|bounds| bounds.runs);
                let runs = runs.map_or("", |_| " runs");
                let asked = self.asked(self.program.asks(id));
                format!("for{varies}{asked}{runs}{trips}")
            }
            RegionKind::If => {
                format!("if{}{condition}", self.branch_asks(id))
            }
            RegionKind::While => format!("while{condition}"),
            RegionKind::IndexSwitch => {
                let choice = self.program.choice(id);
                let choice = choice.map_or_else(String::new, |chosen| format!(" {chosen}"));
                format!("switch{}{choice}", self.branch_asks(id))
            }
            RegionKind::Other => "region".to_owned(),
        }
    }

    /// What the branch `id` asks.
    fn branch_asks(&self, id: InstId) -> String {
        let asked = self.program.asks(id);
        let made_in = asked.and_then(|asked| self.program.question(asked.question).made_in);
        let around = self.program.holder(self.program.inst(id).block);
        let varies = match made_in.is_some() && made_in == around {
            true => " varying",
            false => "",
        };
        format!("{varies}{}", self.asked(asked))
    }

    fn asked(&self, asked: Option<Asked>) -> String {
        let known = asked.and_then(|asked| Some((asked, self.questions.get(&asked.question)?)));
        known.map_or_else(String::new, |(asked, number)| {
            let word = if asked.negated { "unlike" } else { "like" };
            format!(" {word} {number}")
        })
    }

    fn alloc(&self, id: AllocId) -> String {
        let alloc = self.program.alloc(id);
        let mut text = match alloc.origin {
            Origin::Allocation => format!("alloc {}", self.name(id)),
            Origin::Argument { .. } => format!("arg {}", self.name(id)),
        };
        match alloc.space {
            Space::Psum => {}
            Space::Sbuf => text.push_str(" sbuf"),
            Space::Hbm => text.push_str(" hbm"),
        }
        let (partition, offset) = match alloc.placement {
            Some(place) => {
                _ = write!(text, " bank {}", place.bank);
                (place.partition, place.offset)
            }
            None => {
                text.push_str(" unplaced");
                (0, 0)
            }
        };
        let partitions = Interval::new(0, alloc.partitions).shifted(partition);
        let bytes = Interval::new(0, alloc.bytes).shifted(offset);
        _ = write!(text, " p{partitions} b{bytes}");
        if matches!(alloc.origin, Origin::Argument { fresh: true, .. }) {
            text.push_str(" fresh");
        }
        if alloc.escapes {
            text.push_str(" escapes");
        }
        if alloc.may_alias {
            text.push_str(" aliases");
        }
        text
    }

    fn access(&self, id: AccessId) -> String {
        let access = self.program.access(id);
        let alloc = self.program.alloc(access.alloc);
        let mut text = self.name(access.alloc);
        if access.partitions != Interval::new(0, alloc.partitions) {
            _ = write!(text, " p{}", access.partitions);
        }
        let spans = self.program.bytes(id);
        if spans != [Interval::new(0, alloc.bytes)] {
            let spans: Vec<String> = spans.iter().map(Interval::to_string).collect();
            let list = if spans.is_empty() {
                "0..0".to_owned()
            } else {
                spans.join("+")
            };
            _ = write!(text, " b{list}");
        }
        text
    }

    fn uses(&self, uses: &[Use]) -> String {
        let each = uses.iter().map(|u| {
            let word = match u.kind {
                UseKind::Read => "read",
                UseKind::WriteZero => "memset",
                UseKind::Write | UseKind::PeOverwrite | UseKind::PeAccumulate => "data",
            };
            format!("{word} {}", self.access(u.access))
        });
        each.collect::<Vec<_>>().join(", ")
    }

    fn engine_op(&self, id: InstId) -> String {
        let uses = self.program.uses(id);
        let list = self.uses(uses);
        if uses.len() == 1 {
            list
        } else {
            format!("do {list}")
        }
    }

    fn matmul(&self, id: InstId, matmul: &Matmul) -> String {
        let word = if matmul.accumulator.is_some() {
            "mma"
        } else {
            "mm"
        };
        let mut text = format!("{word} {}", self.access(matmul.dst));
        if let Some(accumulator) = matmul.accumulator
            && accumulator != matmul.dst
        {
            _ = write!(text, " from {}", self.access(accumulator));
        }
        let mut operands = self.program.uses(id).iter().skip(1);
        if let Some(stationary) = matmul.stationary {
            _ = write!(text, " weights {}", self.access(stationary));
            operands.next();
        }
        if let Some(moving) = operands.next() {
            _ = write!(text, " moving {}", self.access(moving.access));
        }
        if let Some(tile) = matmul.tile {
            let (rows, cols, row, col) = (tile.rows, tile.cols, tile.row, tile.col);
            _ = write!(text, " tile({rows},{cols})@({row},{col})");
        }
        if let Some(flags) = matmul.flags {
            _ = write!(text, " acc<{flags}>");
        }
        if let Some(region) = matmul.zero_region {
            _ = write!(text, " region {region}");
        }
        for (word, predicate) in [("start_if", matmul.start_if), ("stop_if", matmul.stop_if)] {
            if let Some(predicate) = predicate {
                let condition = self.program.condition(predicate.condition);
                let mark = if predicate.inserted { " inserted" } else { "" };
                _ = write!(text, " {word}{}{mark}", self.condition(id, condition));
            }
        }
        text
    }

    /// Loops are named by how many loops lie between them and `inst`.
    fn condition(&self, inst: InstId, condition: &Condition) -> String {
        let Condition::Loops {
            turn,
            loops,
            negated,
        } = condition
        else {
            return match condition {
                Condition::Constant(value) => format!("({value})"),
                _ => String::new(),
            };
        };
        let around = loops_around_block(self.program, self.program.inst(inst).block);
        let level = |holder: &InstId| around.iter().position(|around| around == holder);
        let mut levels: Vec<usize> = loops.iter().filter_map(level).collect();
        levels.sort_unstable();
        let levels: Vec<String> = levels.iter().map(usize::to_string).collect();
        let turn = match turn {
            Turn::First => "first",
            Turn::Last => "last",
        };
        let not = if *negated { "not " } else { "" };
        format!("({not}{turn} {})", levels.join(","))
    }

    fn label(&self, id: InstId) -> String {
        match self.named.get(&id) {
            Some(number) => format!("t{number} = "),
            None => String::new(),
        }
    }

    fn suffix(&self, id: InstId) -> String {
        let inst = self.program.inst(id);
        let default = match inst.op {
            Op::Matmul(_) => Engine::Pe,
            Op::Engine => Engine::Vector,
            _ => Engine::Other,
        };
        let mut text = String::new();
        if inst.engine != default {
            _ = write!(text, " engine({})", inst.engine.name());
        }
        if !inst.after.is_empty() {
            let each = inst.after.iter().map(|edge| {
                let mark = if edge.inserted { "inserted " } else { "" };
                let number = self.named.get(&edge.from).copied().unwrap_or(0);
                format!("{mark}t{number}")
            });
            _ = write!(text, " after({})", each.collect::<Vec<_>>().join(", "));
        }
        text.push_str(if inst.inserted { " inserted" } else { "" });
        text
    }

    fn name(&self, id: AllocId) -> String {
        match self.ranks.get(&id) {
            Some(&rank @ 0..26) => char::from(b'a' + rank as u8).to_string(),
            Some(rank) => format!("a{rank}"),
            None => format!("unknown{}", id.index()),
        }
    }

    /// Prints one line; what follows an opening brace is a step further in, up to a limit that
    /// keeps deep nests readable and their text linear.
    fn line(&mut self, text: &str) {
        let width = 2 * self.depth.min(40);
        _ = writeln!(self.text, "{:width$}{text}", "");
        self.depth += usize::from(text.ends_with('{'));
    }
}

fn bank_list(banks: Option<u32>) -> String {
    let Some(banks) = banks else {
        return "?".to_owned();
    };
    let each = (0..u32::BITS)
        .filter(|bank| banks >> bank & 1 == 1)
        .map(|bank| bank.to_string());
    each.collect::<Vec<_>>().join(",")
}
