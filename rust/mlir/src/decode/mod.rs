//! From an MLIR module to executable [`Code`].
//!
//! Functions are decoded from the entry on, as calls reach them; what nothing calls is not looked
//! at. Structured control flow becomes jumps: an operation with regions emits what comes before its
//! body and leaves the body, and what comes after it, on a stack of pending [`work`](Work). So
//! nesting may be as deep as memory allows.
//!
//! An operation that the machine does not have is refused by name, with its location.

mod affine;
mod attributes;
mod control;
mod engines;
mod index;
mod linalg;
mod memrefs;
mod names;
mod parallel;
mod scalars;
mod tiles;
mod types;

use pto_machine::code::{
    Code, Func, FuncBuilder, FuncId, Global, GlobalId, Inst, Label, Param, Platform, ScalarSlot,
    Slot, ValueType, ViewSlot,
};
use pto_machine::report::SiteId;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::handle::{Block, Key, Location, Op, Value};
use attributes::{Attr, attribute, signature};
use names::Simple;

/// Why a module cannot be decoded.
pub(crate) struct Refusal {
    /// Where.
    pub(crate) location: Location,
    /// The stable tag.
    pub(crate) tag: &'static str,
    /// The sentence, without the tag.
    pub(crate) message: String,
}

/// The result of decoding something; a refusal is boxed because it is rare and large.
pub(crate) type Decoding<T> = Result<T, Box<Refusal>>;

/// A module as code.
pub(crate) struct Decoded {
    /// The code.
    pub(crate) code: Code,
    /// The function to run.
    pub(crate) entry: FuncId,
    /// The operation of each site of the code.
    pub(crate) sites: Vec<Op>,
}

/// Decodes what `entry` reaches in `module`: the function of that name, or `main`, or the only one.
pub(crate) fn decode(module: Op, entry: Option<&str>) -> Decoding<Decoded> {
    let mut decoder = Decoder::new(module);
    let entry = decoder.entry(entry)?;
    let entry = decoder.function_id(entry);
    while let Some(&op) = decoder.queue.get(decoder.code.funcs.len()) {
        let func = decoder.function(op)?;
        decoder.code.funcs.push(func);
    }
    decoder.code.platform = platform_of(module)?;
    Ok(Decoded {
        code: decoder.code,
        entry,
        sites: decoder.sites,
    })
}

/// What a module holds, and what was decoded of it.
struct Decoder {
    module: Op,
    code: Code,
    sites: Vec<Op>,
    /// The symbols of the module.
    symbols: FxHashMap<String, Op>,
    /// The functions in the order of their ids: those beyond the code's are to be decoded.
    queue: Vec<Op>,
    function_ids: FxHashMap<Key, FuncId>,
    global_ids: FxHashMap<Key, GlobalId>,
    handlers: FxHashMap<Key, Handler>,
}

/// How operations of one name are decoded.
#[derive(Clone, Copy)]
enum Handler {
    /// To one instruction on scalars.
    Simple(Simple),
    /// By a function.
    Function(fn(&mut FunctionDecoder<'_>, Op) -> Decoding<()>),
}

impl Decoder {
    fn new(module: Op) -> Self {
        let mut symbols = FxHashMap::default();
        let body = (module.region_count() > 0)
            .then(|| module.first_block(0))
            .flatten();
        for op in body.into_iter().flat_map(ops) {
            if let Some(name) = attribute(op, "sym_name").and_then(Attr::text) {
                symbols.insert(name, op);
            }
        }
        Self {
            module,
            code: Code::default(),
            sites: Vec::new(),
            symbols,
            queue: Vec::new(),
            function_ids: FxHashMap::default(),
            global_ids: FxHashMap::default(),
            handlers: FxHashMap::default(),
        }
    }

    /// The function to run.
    fn entry(&self, name: Option<&str>) -> Decoding<Op> {
        let refuse = |message: String| {
            Err(Box::new(Refusal {
                location: self.module.location(),
                tag: "pto:entry",
                message,
            }))
        };
        let is_function = |op: &&Op| op.name() == "func.func";
        if let Some(&op) = self.symbols.get(name.unwrap_or("main")).filter(is_function) {
            return Ok(op);
        }
        if let Some(name) = name {
            return refuse(format!("there is no function @{name}"));
        }
        let mut functions = self.symbols.values().filter(is_function);
        match (functions.next(), functions.next()) {
            (Some(&only), None) => Ok(only),
            (None, _) => refuse("there is no function to run".into()),
            _ => refuse("there are several functions and none is called @main: name one".into()),
        }
    }

    /// The id of a function, which is decoded some time later.
    fn function_id(&mut self, op: Op) -> FuncId {
        let next = Code::func_id(self.queue.len());
        let id = *self.function_ids.entry(op.key()).or_insert(next);
        if id == next {
            self.queue.push(op);
        }
        id
    }

    /// The function that `call` calls.
    fn callee(&mut self, call: Op) -> Decoding<FuncId> {
        let name = attribute(call, "callee").and_then(Attr::symbol);
        let callee = name.and_then(|name| self.symbols.get(&name).copied());
        match callee.filter(|op| op.name() == "func.func") {
            Some(op) => Ok(self.function_id(op)),
            None => Err(refuse(
                call,
                "pto:unsupported-op",
                "calls something that is no function",
            )),
        }
    }

    /// The global that `op` refers to.
    fn global(&mut self, op: Op) -> Decoding<GlobalId> {
        let name = attribute(op, "name").and_then(Attr::symbol);
        let Some(global) = name.and_then(|name| self.symbols.get(&name).copied()) else {
            return Err(refuse(
                op,
                "pto:unsupported-op",
                "names no global of the module",
            ));
        };
        if let Some(&id) = self.global_ids.get(&global.key()) {
            return Ok(id);
        }
        let decoded = self.decode_global(global)?;
        let id = Code::global_id(self.code.globals.len());
        self.code.globals.push(decoded);
        self.global_ids.insert(global.key(), id);
        Ok(id)
    }

    fn decode_global(&mut self, op: Op) -> Decoding<Global> {
        let ty = attribute(op, "type").and_then(Attr::r#type);
        let ty = types::view_type(ty.ok_or_else(|| unsupported(op))?, op)?;
        let contents = match attribute(op, "initial_value") {
            // A unit attribute stands for "uninitialized", no attribute for "elsewhere".
            None => None,
            Some(value) => value.dense(ty.element),
        };
        Ok(Global {
            name: attribute(op, "sym_name")
                .and_then(Attr::text)
                .unwrap_or_default(),
            site: self.site(op),
            ty,
            contents,
        })
    }

    fn site(&mut self, op: Op) -> SiteId {
        self.sites.push(op);
        SiteId::new(self.sites.len() - 1)
    }

    fn function(&mut self, op: Op) -> Decoding<Func> {
        let site = self.site(op);
        let name = attribute(op, "sym_name")
            .and_then(Attr::text)
            .unwrap_or_default();
        let mut function = FunctionDecoder {
            builder: FuncBuilder::new(name, site),
            module: self,
            op,
            scalars: FxHashMap::default(),
            views: FxHashMap::default(),
            blocks: FxHashMap::default(),
            exits: FxHashMap::default(),
            pending: Vec::new(),
        };
        function.signature()?;
        if op.has_mark("pto.acc_provisional") {
            function.builder.set_provisional();
        }
        match op.first_block(0) {
            None => function.builder.set_declaration(),
            Some(entry) => function.body(entry)?,
        }
        function
            .builder
            .finish()
            .ok_or_else(|| refuse(op, "pto:malformed", "control flow that leads nowhere"))
    }
}

/// Something to be done once what is before it is decoded.
enum Work {
    /// Decode this operation and those after it.
    Ops(Op),
    /// Put the label here.
    Bind(Label),
    /// Emit an instruction.
    Emit(Inst, SiteId),
}

/// A function being decoded.
struct FunctionDecoder<'m> {
    module: &'m mut Decoder,
    builder: FuncBuilder,
    op: Op,
    scalars: FxHashMap<Key, ScalarSlot>,
    views: FxHashMap<Key, ViewSlot>,
    /// The label of each block that branches may name.
    blocks: FxHashMap<Key, Label>,
    /// Where a terminator of the regions of an operation jumps to.
    exits: FxHashMap<Key, Label>,
    /// The last entry is done first.
    pending: Vec<Work>,
}

impl FunctionDecoder<'_> {
    fn signature(&mut self) -> Decoding<()> {
        let function = self.op;
        let ty = attribute(function, "function_type").and_then(Attr::r#type);
        let (inputs, results) = ty
            .and_then(signature)
            .ok_or_else(|| unsupported(function))?;
        let arguments: Vec<Value> = function
            .first_block(0)
            .into_iter()
            .flat_map(|block| block.arguments())
            .collect();
        for (index, input) in inputs.into_iter().enumerate() {
            let ty = types::value_type(input, function)?;
            let slot = match ty {
                ValueType::View(_) => Slot::View(self.builder.view()),
                ValueType::Scalar(_) | ValueType::Token => Slot::Scalar(self.builder.scalar()),
            };
            let place = function.argument(index);
            let argument = arguments.get(index).copied();
            if let Some(argument) = argument {
                self.bind(argument, slot);
            }
            self.builder.push_param(Param {
                ty,
                slot,
                is_used: argument.is_some_and(|argument| !argument.is_unused()),
                placement: place
                    .placed
                    .then(|| engines::placement(place.bank, place.offset, place.partition)),
                is_fresh: place.fresh,
                is_apart: place.noalias || place.placed,
            });
        }
        for result in results {
            let ty = types::value_type(result, function)?;
            self.builder.push_result(ty);
        }
        Ok(())
    }

    /// Decodes a function's blocks and all that is in them.
    fn body(&mut self, entry: Block) -> Decoding<()> {
        self.push_blocks(entry)?;
        while let Some(work) = self.pending.pop() {
            match work {
                Work::Ops(op) => {
                    if let Some(next) = op.next() {
                        self.pending.push(Work::Ops(next));
                    }
                    self.operation(op)?;
                }
                Work::Bind(label) => self.builder.bind(label),
                Work::Emit(inst, site) => self.builder.push(inst, site),
            }
        }
        Ok(())
    }

    fn operation(&mut self, op: Op) -> Decoding<()> {
        let known = self.module.handlers.get(&op.name_key()).copied();
        let handler = match known {
            Some(handler) => handler,
            None => {
                let handler = handler(&op.name(), op)?;
                self.module.handlers.insert(op.name_key(), handler);
                handler
            }
        };
        match handler {
            Handler::Simple(simple) => self.simple(op, simple),
            Handler::Function(decode) => decode(self, op),
        }
    }

    /// Leaves the blocks of a region, the first being `entry`, to be decoded: those that control can
    /// reach, each after every block that dominates it, so that what is used was defined before.
    fn push_blocks(&mut self, entry: Block) -> Decoding<()> {
        let mut works = Vec::new();
        for block in reverse_postorder(entry) {
            let label = self.builder.label();
            self.blocks.insert(block.key(), label);
            if block.key() != entry.key() {
                self.bind_arguments(block)?;
            }
            works.push(Work::Bind(label));
            works.extend(block.first_op().map(Work::Ops));
        }
        self.push_works(works);
        Ok(())
    }

    /// Gives the arguments of a block slots of their own.
    fn bind_arguments(&mut self, block: Block) -> Decoding<()> {
        block
            .arguments()
            .try_for_each(|argument| self.bind_new(argument, self.op).map(|_| ()))
    }

    /// A new slot for `value`, for which `at` is blamed if there can be none.
    fn bind_new(&mut self, value: Value, at: Op) -> Decoding<Slot> {
        let slot = match types::value_type(value.r#type(), at)? {
            ValueType::View(_) => Slot::View(self.builder.view()),
            ValueType::Scalar(_) | ValueType::Token => Slot::Scalar(self.builder.scalar()),
        };
        self.bind(value, slot);
        Ok(slot)
    }

    fn bind(&mut self, value: Value, slot: Slot) {
        match slot {
            Slot::Scalar(slot) => {
                self.scalars.insert(value.key(), slot);
            }
            Slot::View(slot) => {
                self.views.insert(value.key(), slot);
            }
        }
    }

    /// The slot of a value that is used: a new one if its definition comes later in the text.
    fn slot(&mut self, value: Value, at: Op) -> Decoding<Slot> {
        if let Some(&slot) = self.scalars.get(&value.key()) {
            return Ok(Slot::Scalar(slot));
        }
        match self.views.get(&value.key()) {
            Some(&slot) => Ok(Slot::View(slot)),
            None => self.bind_new(value, at),
        }
    }

    /// The slot of result `index`.
    fn result(&mut self, op: Op, index: usize) -> Decoding<Slot> {
        self.slot(op.result(index), op)
    }

    fn scalar(&mut self, value: Value, at: Op) -> Decoding<ScalarSlot> {
        match self.slot(value, at)? {
            Slot::Scalar(slot) => Ok(slot),
            Slot::View(_) => Err(unsupported(at)),
        }
    }

    fn view(&mut self, value: Value, at: Op) -> Decoding<ViewSlot> {
        match self.slot(value, at)? {
            Slot::View(slot) => Ok(slot),
            Slot::Scalar(_) => Err(unsupported(at)),
        }
    }

    fn scalar_result(&mut self, op: Op, index: usize) -> Decoding<ScalarSlot> {
        self.scalar(op.result(index), op)
    }

    fn view_result(&mut self, op: Op, index: usize) -> Decoding<ViewSlot> {
        self.view(op.result(index), op)
    }

    /// Emits an instruction for `op`.
    fn emit(&mut self, inst: Inst, op: Op) {
        let site = self.module.site(op);
        self.builder.push(inst, site);
    }
}

/// How operations called `name`, of which `op` is one, are decoded.
fn handler(name: &str, op: Op) -> Decoding<Handler> {
    if let Some(simple) = names::simple(name) {
        return Ok(Handler::Simple(simple));
    }
    let found = scalars::handler(name)
        .or_else(|| control::handler(name))
        .or_else(|| parallel::handler(name))
        .or_else(|| index::handler(name))
        .or_else(|| memrefs::handler(name))
        .or_else(|| affine::handler(name))
        .or_else(|| linalg::handler(name))
        .or_else(|| engines::handler(op));
    match found {
        Some(decode) => Ok(Handler::Function(decode)),
        None if attributes::indexing_maps(op).is_some() => {
            Ok(Handler::Function(linalg::structured))
        }
        None => Err(unsupported(op)),
    }
}

/// Decodes operations of one name.
type Decode = fn(&mut FunctionDecoder<'_>, Op) -> Decoding<()>;

/// The blocks that control can reach from `entry`, each after every block that dominates it.
fn reverse_postorder(entry: Block) -> Vec<Block> {
    let mut seen = FxHashSet::default();
    let mut order = Vec::new();
    // A block, and how many of its successors were looked at.
    let mut path = vec![(entry, 0)];
    seen.insert(entry.key());
    while let Some((block, looked_at)) = path.last_mut() {
        let successor = block
            .terminator()
            .filter(|op| *looked_at < op.successor_count());
        let Some(op) = successor else {
            order.push(*block);
            path.pop();
            continue;
        };
        let next = op.successor(*looked_at);
        *looked_at += 1;
        if seen.insert(next.key()) {
            path.push((next, 0));
        }
    }
    order.reverse();
    order
}

/// The operations of a block.
fn ops(block: Block) -> impl Iterator<Item = Op> {
    std::iter::successors(block.first_op(), |op| op.next())
}

/// The machine that the module names.
fn platform_of(module: Op) -> Decoding<Option<Platform>> {
    let Some(attribute) = attribute(module, "pto.target") else {
        return Ok(None);
    };
    // `#pto.target<trn2>`: the dialect has no C function for it, and it is asked once a run.
    let text = attribute.print();
    let name = text
        .split_once('<')
        .map_or("", |(_, rest)| rest)
        .trim_end_matches('>');
    match Platform::from_name(name) {
        Some(platform) => Ok(Some(platform)),
        None => {
            let message = format!("the interpreter has no target {name}");
            Err(refuse(module, "pto:target", &message))
        }
    }
}

fn refuse(op: Op, tag: &'static str, message: &str) -> Box<Refusal> {
    Box::new(Refusal {
        location: op.location(),
        tag,
        message: message.into(),
    })
}

/// The refusal of an operation that the machine does not have.
fn unsupported(op: Op) -> Box<Refusal> {
    let message = format!("the interpreter does not execute {}", op.name());
    refuse(op, "pto:unsupported-op", &message)
}
