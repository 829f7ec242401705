//! The graph as text.

use std::collections::HashMap;

use pto_ir::{Engine, InstId, Op, Program, RegionId, RegionKind, TextPart};

use super::graph::{Arrow, Reason};

/// One function as a `subgraph`, its regions inside it. Nodes are called after the function, so that
/// several functions are one graph.
pub(super) fn subgraph(program: &Program, arrows: &[Arrow]) -> Vec<TextPart> {
    let mut printer = Printer {
        prefix: quoted_name(&program.name),
        program,
        text: Vec::new(),
        numbers: HashMap::new(),
        clusters: 0,
    };
    printer.open(&format!("@{} ", program.name));
    printer.body();
    printer.write("}\n");
    for arrow in arrows {
        printer.arrow(arrow);
    }
    printer.text
}

struct Printer<'a> {
    program: &'a Program,
    prefix: String,
    text: Vec<TextPart>,
    /// The number of each instruction in program order.
    numbers: HashMap<InstId, usize>,
    clusters: usize,
}

/// Something to be printed when what is before it has been.
enum Work<'a> {
    Entries(std::slice::Iter<'a, InstId>),
    Region(&'a str, RegionId),
    Close,
}

impl<'a> Printer<'a> {
    fn write(&mut self, text: &str) {
        match self.text.last_mut() {
            Some(TextPart::Text(last)) => last.push_str(text),
            _ => self.text.push(TextPart::Text(text.to_owned())),
        }
    }

    fn open(&mut self, label: &str) {
        let (prefix, number) = (self.prefix.clone(), self.clusters);
        self.clusters += 1;
        let label = escaped(label.trim());
        self.write(&format!(
            "subgraph \"cluster_{prefix}_{number}\" {{\nlabel=\"{label}\"; color=gray;\n"
        ));
    }

    /// The instructions, and regions as boxes; nesting may be as deep as memory allows.
    fn body(&mut self) {
        let program = self.program;
        let mut pending: Vec<Work<'a>> = vec![Work::Region("", RegionId::new(0))];
        while let Some(work) = pending.pop() {
            match work {
                Work::Close => self.write("}\n"),
                Work::Region(kind, region) => {
                    if !kind.is_empty() {
                        self.open(kind);
                        pending.push(Work::Close);
                    }
                    for &block in program.region(region).blocks.iter().rev() {
                        pending.push(Work::Entries(program.block(block).insts.iter()));
                    }
                }
                Work::Entries(mut entries) => {
                    let Some(&id) = entries.next() else { continue };
                    pending.push(Work::Entries(entries));
                    match &program.inst(id).op {
                        Op::Alloc(_) | Op::Dealloc(_) => {}
                        Op::Region { kind, regions } => {
                            let nested = regions.iter().rev();
                            pending.extend(nested.map(|&one| Work::Region(kind_name(*kind), one)));
                        }
                        _ => self.node(id),
                    }
                }
            }
        }
    }

    fn node(&mut self, id: InstId) {
        let number = self.numbers.len();
        self.numbers.insert(id, number);
        let inst = self.program.inst(id);
        let prefix = self.prefix.clone();
        self.write(&format!("\"{prefix}_{number}\" [label=\"#{number} "));
        self.text.push(TextPart::Name(id));
        let mut facts = String::new();
        if let Some(flags) = inst.matmul().and_then(|matmul| matmul.flags) {
            facts.push_str(&format!("\\nacc<{flags}>"));
        }
        if inst.inserted {
            facts.push_str("\\ninserted");
        }
        self.write(&format!("{facts}\\n"));
        self.text.push(TextPart::Location(id));
        let colour = match inst.engine {
            Engine::Pe => "lightblue",
            Engine::Other => "white",
            _ => "lightyellow",
        };
        self.write(&format!("\" fillcolor={colour}];\n"));
    }

    fn arrow(&mut self, arrow: &Arrow) {
        let number = |id: InstId| self.numbers.get(&id).copied();
        // What holds regions is a box, not a node.
        let (Some(from), Some(to)) = (number(arrow.from), number(arrow.to)) else {
            return;
        };
        let style = match arrow.reason {
            Reason::Data => "tooltip=\"data\"",
            Reason::Overwrite => "color=gray50 tooltip=\"overwrite\"",
            Reason::Token => "style=dashed color=blue constraint=false tooltip=\"token\"",
            Reason::InsertedToken => {
                "style=dashed color=blue constraint=false tooltip=\"token of legalization\""
            }
        };
        let prefix = self.prefix.clone();
        self.write(&format!(
            "\"{prefix}_{from}\" -> \"{prefix}_{to}\" [{style}];\n"
        ));
    }
}

const fn kind_name(kind: RegionKind) -> &'static str {
    match kind {
        RegionKind::For { .. } => "for",
        RegionKind::If => "if",
        RegionKind::While => "while",
        RegionKind::IndexSwitch => "switch",
        RegionKind::Other => "region",
    }
}

/// `text` inside quotes of the DOT language.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

/// A name that may stand in one: every function has another.
fn quoted_name(name: &str) -> String {
    escaped(name)
}
