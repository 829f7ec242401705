//! What kind of operation a name of another dialect stands for.

use pto_ir::RegionKind;
use rustc_hash::FxHashMap;

use crate::handle::{Key, Op};

/// What the reader does with an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// Allocates a memref.
    Alloc,
    /// Makes a memref over the memory of operand 0, whose type counts from the same element.
    View,
    /// Ends lives under conditions that only the run knows: to the machine, nothing.
    Transparent,
    /// `memref.memory_space_cast`.
    SpaceCast,
    /// `memref.get_global`.
    Global,
    /// A call.
    Call,
    /// Holds regions of instructions.
    Region(RegionKind),
    /// Anything else: what it does is told by its effects.
    Leaf(Coverage),
}

/// How much of an operand a write with effects on it overwrites.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coverage {
    /// Perhaps only a part.
    Unknown,
    /// All of it.
    Whole,
    /// All of it, with the scalar that is operand 0.
    Fill,
}

/// The classes of the names seen so far.
#[derive(Default)]
pub(crate) struct Classes {
    by_name: FxHashMap<Key, Option<Class>>,
}

impl Classes {
    /// The class of `op`.
    pub(super) fn of(&mut self, op: Op) -> Class {
        let by_name = *self
            .by_name
            .entry(op.name_key())
            .or_insert_with(|| class_of_name(&op.name(), op));
        by_name.unwrap_or_else(|| class_of_op(op))
    }

    /// Whether `op` is a view of operand 0.
    pub(crate) fn is_view(&mut self, op: Op) -> bool {
        self.of(op) == Class::View
    }
}

/// The class of every operation called `name`, of which `op` is one; `None` where operations of
/// one name differ.
fn class_of_name(name: &str, op: Op) -> Option<Class> {
    let class = match name {
        "memref.alloc" | "memref.alloca" => Class::Alloc,
        "memref.subview"
        | "memref.cast"
        | "memref.collapse_shape"
        | "memref.expand_shape"
        | "memref.reinterpret_cast"
        | "memref.transpose"
        | "memref.assume_alignment"
        | "memref.extract_strided_metadata" => Class::View,
        "bufferization.dealloc" => Class::Transparent,
        "memref.memory_space_cast" => Class::SpaceCast,
        "memref.get_global" => Class::Global,
        "memref.copy" => Class::Leaf(Coverage::Whole),
        "linalg.fill" => Class::Leaf(Coverage::Fill),
        "linalg.generic" => return None,
        "memref.generic_atomic_rmw" => Class::Leaf(Coverage::Unknown),
        "scf.for" | "affine.for" => Class::Region(RegionKind::For { trips: None }),
        "scf.if" | "affine.if" => Class::Region(RegionKind::If),
        "scf.while" => Class::Region(RegionKind::While),
        "scf.index_switch" => Class::Region(RegionKind::IndexSwitch),
        // The output map of every other structured operation names each of its dimensions.
        _ if name.starts_with("linalg.") => Class::Leaf(Coverage::Whole),
        _ if op.is_call() => Class::Call,
        _ => return None,
    };
    Some(class)
}

/// The class of an operation whose name does not tell.
fn class_of_op(op: Op) -> Class {
    if let Some(maps) = op
        .attribute("indexing_maps")
        .and_then(|maps| maps.elements())
    {
        let covers = maps.iter().all(|map| map.is_projected_permutation());
        return Class::Leaf(match covers {
            true => Coverage::Whole,
            false => Coverage::Unknown,
        });
    }
    match op.region_count() {
        0 => Class::Leaf(Coverage::Unknown),
        _ => Class::Region(RegionKind::Other),
    }
}
