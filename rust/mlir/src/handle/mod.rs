//! MLIR's C handles with safe methods.
//!
//! # Safety
//!
//! A handle is a pointer into IR that the host compiler owns. Handles are made by
//! [`Op::from_raw`], whose caller promises that the operation lives and that no other thread
//! changes it, and by navigation from there. The bridge makes one per call and drops everything it
//! reached before it returns, and only [`crate::apply`] destroys operations, after which it uses no
//! handle to them. So every handle that exists is live, which is all that the C functions below
//! ask for: that is the reason behind each `unsafe` block of this file, and the only one.

#![allow(clippy::undocumented_unsafe_blocks)]

mod data;
mod print;

pub(crate) use print::Printer;

pub(crate) use data::tile_type_spelling;

use mlir_sys::*;

use crate::accessors::{self, PtoAlloc, PtoArgument, PtoLoop, PtoMatmul, PtoTileAlloc, PtoTileOp};

/// An operation.
#[derive(Clone, Copy)]
pub(crate) struct Op(MlirOperation);

/// A value of any sort.
#[derive(Clone, Copy)]
pub(crate) struct Value(MlirValue);

/// A block.
#[derive(Clone, Copy)]
pub(crate) struct Block(MlirBlock);

/// A type.
#[derive(Clone, Copy)]
pub(crate) struct Type(MlirType);

/// An attribute.
#[derive(Clone, Copy)]
pub(crate) struct Attribute(MlirAttribute);

/// A location. Unlike the other handles it lives as long as the context.
#[derive(Clone, Copy)]
pub(crate) struct Location(MlirLocation);

/// An address that tells two handles of one sort apart: a key for tables, never dereferenced.
pub(crate) type Key = usize;

/// A dimension, offset or stride that is not known statically.
pub(crate) const DYNAMIC: i64 = i64::MIN;

/// What an engine operation says of its engine and its order.
#[derive(Clone, Copy, Default)]
pub(crate) struct EngineFacts {
    /// The engine, as the dialect numbers them.
    pub(crate) engine: u32,
    /// Number of tokens it waits for.
    pub(crate) after_count: u32,
    /// Whether it makes a token.
    pub(crate) has_token: bool,
    /// Whether legalization inserted it.
    pub(crate) inserted: bool,
}

impl Op {
    /// The handle of `raw`.
    ///
    /// # Safety
    ///
    /// `raw` must be a live operation that no other thread changes while handles reached from it
    /// are in use.
    pub(crate) const unsafe fn from_raw(raw: MlirOperation) -> Self {
        Self(raw)
    }

    pub(crate) const fn raw(self) -> MlirOperation {
        self.0
    }

    pub(crate) fn key(self) -> Key {
        self.0.ptr as Key
    }

    /// Which operation of the dialect it is: see [`accessors::kind`].
    pub(crate) fn kind(self) -> u32 {
        unsafe { accessors::ptoOpGetKind(self.0) }
    }

    /// A key that is equal for operations of one name.
    pub(crate) fn name_key(self) -> Key {
        unsafe { mlirOperationGetName(self.0) }.ptr as Key
    }

    /// The name, such as `memref.copy`.
    pub(crate) fn name(self) -> String {
        let text = unsafe { mlirIdentifierStr(mlirOperationGetName(self.0)) };
        string_of(text)
    }

    pub(crate) fn location(self) -> Location {
        Location(unsafe { mlirOperationGetLocation(self.0) })
    }

    pub(crate) fn context(self) -> MlirContext {
        unsafe { mlirOperationGetContext(self.0) }
    }

    /// The next operation of its block.
    pub(crate) fn next(self) -> Option<Self> {
        let next = unsafe { mlirOperationGetNextInBlock(self.0) };
        (!next.ptr.is_null()).then_some(Self(next))
    }

    pub(crate) fn block(self) -> Block {
        Block(unsafe { mlirOperationGetBlock(self.0) })
    }

    /// The operation around it.
    pub(crate) fn parent(self) -> Option<Self> {
        let parent = unsafe { mlirOperationGetParentOperation(self.0) };
        (!parent.ptr.is_null()).then_some(Self(parent))
    }

    pub(crate) fn operand_count(self) -> usize {
        unsafe { mlirOperationGetNumOperands(self.0) as usize }
    }

    pub(crate) fn operand(self, index: usize) -> Value {
        debug_assert!(index < self.operand_count());
        Value(unsafe { mlirOperationGetOperand(self.0, index as isize) })
    }

    pub(crate) fn operands(self) -> impl Iterator<Item = Value> {
        (0..self.operand_count()).map(move |index| self.operand(index))
    }

    pub(crate) fn result_count(self) -> usize {
        unsafe { mlirOperationGetNumResults(self.0) as usize }
    }

    pub(crate) fn result(self, index: usize) -> Value {
        debug_assert!(index < self.result_count());
        Value(unsafe { mlirOperationGetResult(self.0, index as isize) })
    }

    pub(crate) fn region_count(self) -> usize {
        unsafe { mlirOperationGetNumRegions(self.0) as usize }
    }

    /// The first block of region `index`; `None` where the region is empty.
    pub(crate) fn first_block(self, index: usize) -> Option<Block> {
        debug_assert!(index < self.region_count());
        let block =
            unsafe { mlirRegionGetFirstBlock(mlirOperationGetRegion(self.0, index as isize)) };
        (!block.ptr.is_null()).then_some(Block(block))
    }

    pub(crate) fn successor_count(self) -> usize {
        unsafe { mlirOperationGetNumSuccessors(self.0) as usize }
    }

    pub(crate) fn successor(self, index: usize) -> Block {
        debug_assert!(index < self.successor_count());
        Block(unsafe { mlirOperationGetSuccessor(self.0, index as isize) })
    }

    /// The attribute `name`, inherent or discardable.
    pub(crate) fn attribute(self, name: &str) -> Option<Attribute> {
        let attribute = unsafe { mlirOperationGetAttributeByName(self.0, string_ref(name)) };
        Attribute::from_option(attribute)
    }

    /// Name and value of every attribute, inherent or discardable, whose name is not in `without`:
    /// equal keys are equal attributes.
    pub(crate) fn attribute_keys(self, without: &[&str]) -> Vec<(Key, Key)> {
        let count = unsafe { mlirOperationGetNumAttributes(self.0) };
        let attributes =
            (0..count).map(|index| unsafe { mlirOperationGetAttribute(self.0, index) });
        attributes
            .filter(|named| {
                let name = string_of(unsafe { mlirIdentifierStr(named.name) });
                !without.contains(&name.as_str())
            })
            .map(|named| (named.name.ptr as Key, named.attribute.ptr as Key))
            .collect()
    }

    pub(crate) fn has_mark(self, name: &str) -> bool {
        let attribute =
            unsafe { mlirOperationGetDiscardableAttributeByName(self.0, string_ref(name)) };
        !attribute.ptr.is_null()
    }

    /// The facts of a PE matmul.
    pub(crate) fn matmul(self) -> Option<PtoMatmul> {
        let mut matmul = std::mem::MaybeUninit::uninit();
        // The callee fills the struct in where it returns true.
        unsafe {
            accessors::ptoMatmulGet(self.0, matmul.as_mut_ptr()).then(|| matmul.assume_init())
        }
    }

    /// The facts of an allocation of the dialect.
    pub(crate) fn alloc(self) -> Option<PtoAlloc> {
        let mut alloc = std::mem::MaybeUninit::uninit();
        // The callee fills the struct in where it returns true.
        unsafe { accessors::ptoAllocGet(self.0, alloc.as_mut_ptr()).then(|| alloc.assume_init()) }
    }

    /// The facts of a matmul of the tile ISA.
    pub(crate) fn tile_matmul(self) -> Option<PtoTileOp> {
        let mut matmul = std::mem::MaybeUninit::uninit();
        // The callee fills the struct in where it returns true.
        unsafe {
            accessors::ptoTileOpGet(self.0, matmul.as_mut_ptr()).then(|| matmul.assume_init())
        }
    }

    /// The facts of an allocation of a tile.
    pub(crate) fn tile_alloc(self) -> Option<PtoTileAlloc> {
        let mut alloc = std::mem::MaybeUninit::uninit();
        // The callee fills the struct in where it returns true.
        unsafe {
            accessors::ptoTileAllocGet(self.0, alloc.as_mut_ptr()).then(|| alloc.assume_init())
        }
    }

    /// What operand `index` is to a matmul of the tile ISA: see [`accessors::tile_use`].
    pub(crate) fn tile_use(self, index: usize) -> u32 {
        unsafe { accessors::ptoTileOpGetUse(self.0, index as u32) }
    }

    /// Engine and order of an engine operation of the dialect.
    pub(crate) fn engine(self) -> Option<EngineFacts> {
        let mut facts = EngineFacts::default();
        let found = unsafe {
            accessors::ptoEngineOpGet(
                self.0,
                &mut facts.engine,
                &mut facts.after_count,
                &mut facts.has_token,
                &mut facts.inserted,
            )
        };
        found.then_some(facts)
    }

    /// Whether a matmul inside says its tile of the PE array.
    pub(crate) fn holds_tiled_matmul(self) -> bool {
        unsafe { accessors::ptoOpHoldsTiledMatmul(self.0) }
    }

    /// The token number `index` that an engine operation waits for.
    pub(crate) fn after(self, index: u32) -> Value {
        Value(unsafe { accessors::ptoEngineOpGetAfter(self.0, index) })
    }

    pub(crate) fn is_after_inserted(self, index: u32) -> bool {
        unsafe { accessors::ptoEngineOpIsAfterInserted(self.0, index) }
    }

    /// The effects on what operand `index` refers to: see [`accessors::effect`].
    pub(crate) fn operand_effects(self, index: usize) -> u32 {
        unsafe { accessors::ptoOpOperandEffects(self.0, index as u32) }
    }

    /// Whether it only makes values: no effects, no regions, not the end of a block.
    pub(crate) fn is_pure(self) -> bool {
        self.region_count() == 0 && self.is_effect_free() && !self.is_terminator()
    }

    /// Whether it only computes: no effects, also none of what it holds.
    pub(crate) fn is_effect_free(self) -> bool {
        unsafe { accessors::ptoOpIsEffectFree(self.0) }
    }

    /// Whether it ends its block. Asked of MLIR's own C interface, which knows traits by the names that
    /// MLIR's compiler gave them: ours may spell that of a template another way, and the first to ask
    /// settles it for the process.
    pub(crate) fn is_terminator(self) -> bool {
        self.next().is_none() && self.block().terminator().is_some()
    }

    /// Moves it to before `other`.
    pub(crate) fn move_before(self, other: Self) {
        unsafe { mlirOperationMoveBefore(self.0, other.0) };
    }

    /// Moves it to after `other`.
    pub(crate) fn move_after(self, other: Self) {
        unsafe { mlirOperationMoveAfter(self.0, other.0) };
    }

    pub(crate) fn is_call(self) -> bool {
        unsafe { accessors::ptoOpIsCall(self.0) }
    }

    /// The PSUM banks that a function says it touches, as a bit mask.
    pub(crate) fn named_banks(self) -> Option<u32> {
        let mut mask = 0;
        unsafe { accessors::ptoFunctionGetPsumBanks(self.0, &mut mask) }.then_some(mask)
    }

    /// The PSUM banks that the callee of a call says it touches, as a bit mask.
    pub(crate) fn callee_banks(self) -> Option<u32> {
        let mut mask = 0;
        unsafe { accessors::ptoCallGetPsumBanks(self.0, &mut mask) }.then_some(mask)
    }

    /// How often a loop runs its body, where that is a constant.
    pub(crate) fn trip_count(self) -> Option<u64> {
        let mut trips = 0;
        unsafe { accessors::ptoLoopGetTripCount(self.0, &mut trips) }.then_some(trips)
    }

    /// The induction variable and the bounds of a loop that has one.
    pub(crate) fn loop_facts(self) -> Option<PtoLoop> {
        let mut facts = std::mem::MaybeUninit::uninit();
        // The callee fills the struct in where it returns true.
        unsafe { accessors::ptoLoopGet(self.0, facts.as_mut_ptr()).then(|| facts.assume_init()) }
    }

    /// What a function says of its argument `index`.
    pub(crate) fn argument(self, index: usize) -> PtoArgument {
        let mut argument = PtoArgument::default();
        unsafe { accessors::ptoFunctionGetArgument(self.0, index as u32, &mut argument) };
        argument
    }
}

impl Value {
    /// The handle of `raw`, `None` where it is null.
    ///
    /// # Safety
    ///
    /// As [`Op::from_raw`].
    pub(crate) unsafe fn from_option_raw(raw: MlirValue) -> Option<Self> {
        (!raw.ptr.is_null()).then_some(Self(raw))
    }

    pub(crate) const fn raw(self) -> MlirValue {
        self.0
    }

    pub(crate) fn key(self) -> Key {
        self.0.ptr as Key
    }

    pub(crate) fn r#type(self) -> Type {
        Type(unsafe { mlirValueGetType(self.0) })
    }

    /// The operation that makes it; `None` for a block argument.
    pub(crate) fn owner(self) -> Option<Op> {
        unsafe { mlirValueIsAOpResult(self.0) }.then(|| Op(unsafe { mlirOpResultGetOwner(self.0) }))
    }

    /// The operation that holds the block it is an argument of; `None` for a result.
    pub(crate) fn argument_holder(self) -> Option<Op> {
        if !unsafe { mlirValueIsABlockArgument(self.0) } {
            return None;
        }
        let holder = unsafe { mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(self.0)) };
        (!holder.ptr.is_null()).then_some(Op(holder))
    }

    /// The block it is an argument of; `None` for a result.
    pub(crate) fn argument_block(self) -> Option<Block> {
        unsafe { mlirValueIsABlockArgument(self.0) }
            .then(|| Block(unsafe { mlirBlockArgumentGetOwner(self.0) }))
    }

    pub(crate) fn is_unused(self) -> bool {
        unsafe { mlirValueGetFirstUse(self.0) }.ptr.is_null()
    }

    /// The integer it is, where it is a constant.
    pub(crate) fn constant(self) -> Option<i64> {
        self.owner()
            .filter(|op| op.operand_count() == 0)
            .and_then(|op| op.attribute("value"))
            .and_then(Attribute::integer)
    }

    /// The two summands, where it is a sum with a constant.
    pub(crate) fn sum(self) -> Option<(Self, i64)> {
        let (mut base, mut constant) = (self.0, 0);
        unsafe { accessors::ptoValueGetSum(self.0, &mut base, &mut constant) }
            .then_some((Self(base), constant))
    }

    /// Whether it is the constant +0.0 or integer 0.
    pub(crate) fn is_positive_zero(self) -> bool {
        self.owner()
            .filter(|op| op.operand_count() == 0)
            .and_then(|op| op.attribute("value"))
            .is_some_and(Attribute::is_positive_zero)
    }
}

impl Block {
    pub(crate) fn key(self) -> Key {
        self.0.ptr as Key
    }

    pub(crate) const fn raw(self) -> MlirBlock {
        self.0
    }

    /// The operation that holds it; every block that is read is in one.
    pub(crate) fn holder(self) -> Op {
        Op(unsafe { mlirBlockGetParentOperation(self.0) })
    }

    pub(crate) fn first_op(self) -> Option<Op> {
        let op = unsafe { mlirBlockGetFirstOperation(self.0) };
        (!op.ptr.is_null()).then_some(Op(op))
    }

    /// The operation that ends it; `None` where there is none.
    pub(crate) fn terminator(self) -> Option<Op> {
        let op = unsafe { mlirBlockGetTerminator(self.0) };
        (!op.ptr.is_null()).then_some(Op(op))
    }

    /// Its last operation, which need not end it where the operation around is not registered.
    pub(crate) fn last_op(self) -> Option<Op> {
        std::iter::successors(self.first_op(), |op| op.next()).last()
    }

    /// The next block of its region.
    pub(crate) fn next(self) -> Option<Self> {
        let next = unsafe { mlirBlockGetNextInRegion(self.0) };
        (!next.ptr.is_null()).then_some(Self(next))
    }

    pub(crate) fn arguments(self) -> impl Iterator<Item = Value> {
        let count = unsafe { mlirBlockGetNumArguments(self.0) };
        (0..count).map(move |index| Value(unsafe { mlirBlockGetArgument(self.0, index) }))
    }
}

impl Location {
    pub(crate) const fn raw(self) -> MlirLocation {
        self.0
    }
}

/// A view of `text` for the C API.
pub(crate) fn string_ref(text: &str) -> MlirStringRef {
    MlirStringRef {
        data: text.as_ptr().cast(),
        length: text.len(),
    }
}

/// A copy of a string of the C API. MLIR's strings are UTF-8 in practice; what is not is replaced.
fn string_of(text: MlirStringRef) -> String {
    if text.length == 0 {
        return String::new();
    }
    let bytes = unsafe { std::slice::from_raw_parts(text.data.cast::<u8>(), text.length) };
    String::from_utf8_lossy(bytes).into_owned()
}
