//! The `memref` dialect.

use pto_ir::Engine;
use pto_machine::code::{
    Allocate, EngineOp, Expand, Index, Inst, Metadata, Reinterpret, Reshape, ScalarSlot, Slot,
    Store, Subview, Transfer, ViewCast,
};

use super::attributes::{Attr, attribute};
use super::types::known;
use super::{Decode, Decoding, FunctionDecoder, types, unsupported};
use crate::handle::{Op, Value};

/// How operations called `name` are decoded.
pub(super) fn handler(name: &str) -> Option<Decode> {
    Some(match name {
        "memref.alloc" | "memref.alloca" => allocate,
        "memref.dealloc" => deallocate,
        "bufferization.dealloc" => conditional_deallocate,
        "memref.get_global" => get_global,
        "memref.subview" => subview,
        "memref.collapse_shape" => collapse,
        "memref.expand_shape" => expand,
        "memref.reinterpret_cast" => reinterpret,
        "memref.transpose" => transpose,
        "memref.cast" => cast,
        "memref.memory_space_cast" | "memref.assume_alignment" | "memref.distinct_objects" => alias,
        "memref.extract_strided_metadata" => metadata,
        "memref.prefetch" | "affine.prefetch" => |_, _| Ok(()),
        "memref.dim" => dim,
        "memref.rank" => rank,
        "memref.load" => load,
        "memref.store" => store,
        "memref.copy" => copy,
        _ => return None,
    })
}

impl FunctionDecoder<'_> {
    /// Numbers that are static or, where they are not, the next of `dynamic`.
    pub(super) fn mixed(
        &mut self,
        statics: &[i64],
        dynamic: &mut impl Iterator<Item = Value>,
        op: Op,
    ) -> Decoding<Box<[Index]>> {
        statics
            .iter()
            .map(|&number| match known(number) {
                Some(number) => Ok(Index::Constant(number)),
                None => {
                    let value = dynamic.next().ok_or_else(|| unsupported(op))?;
                    self.scalar(value, op).map(Index::Slot)
                }
            })
            .collect()
    }

    /// The indices of an access.
    fn indices(&mut self, values: impl Iterator<Item = Value>, op: Op) -> Decoding<Box<[Index]>> {
        values
            .map(|value| self.scalar(value, op).map(Index::Slot))
            .collect()
    }
}

pub(super) fn statics(op: Op, name: &str) -> Decoding<Vec<i64>> {
    attribute(op, name)
        .and_then(Attr::i64_array)
        .ok_or_else(|| unsupported(op))
}

fn allocate(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    let result = op.result(0).r#type();
    let ty = types::view_type(result, op)?;
    let sizes = result.sizes().ok_or_else(|| unsupported(op))?;
    let mut dynamic = op.operands();
    let sizes = decoder.mixed(&sizes, &mut dynamic, op)?;
    // What is left are symbols of a layout.
    if dynamic.next().is_some() {
        return Err(unsupported(op));
    }
    let allocate = Allocate {
        dst: decoder.view_result(op, 0)?,
        element: ty.element,
        space: ty.space,
        sizes,
        layout: ty.layout,
        placement: None,
        capacity: None,
    };
    decoder.emit(Inst::Allocate(Box::new(allocate)), op);
    Ok(())
}

fn deallocate(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    let view = decoder.view(op.operand(0), op)?;
    decoder.emit(Inst::Deallocate(view), op);
    Ok(())
}

/// Frees nothing: what nothing refers to is found anyway. It passes no ownership on.
fn conditional_deallocate(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    for index in 0..op.result_count() {
        let slot = decoder.builder.constant(0);
        decoder.bind(op.result(index), Slot::Scalar(slot));
    }
    Ok(())
}

fn get_global(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    let global = decoder.module.global(op)?;
    let dst = decoder.view_result(op, 0)?;
    decoder.emit(Inst::Global { dst, global }, op);
    Ok(())
}

fn subview(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    let (offsets, sizes, strides) = (
        statics(op, "static_offsets")?,
        statics(op, "static_sizes")?,
        statics(op, "static_strides")?,
    );
    let mut dynamic = op.operands().skip(1);
    let kept = kept_dimensions(op, &sizes, &strides)?;
    let subview = Subview {
        dst: decoder.view_result(op, 0)?,
        src: decoder.view(op.operand(0), op)?,
        offsets: decoder.mixed(&offsets, &mut dynamic, op)?,
        sizes: decoder.mixed(&sizes, &mut dynamic, op)?,
        strides: decoder.mixed(&strides, &mut dynamic, op)?,
        kept,
    };
    decoder.emit(Inst::Subview(Box::new(subview)), op);
    Ok(())
}

/// Which dimensions the result of a subview keeps. A rank-reducing one drops dimensions of size 1;
/// where several sizes are 1 the strides of the result tell which, as upstream decides it.
fn kept_dimensions(op: Op, sizes: &[i64], steps: &[i64]) -> Decoding<Box<[bool]>> {
    let result = op.result(0).r#type();
    let kept_sizes = result.sizes().ok_or_else(|| unsupported(op))?;
    if kept_sizes.len() == sizes.len() {
        return Ok(vec![true; sizes.len()].into());
    }
    let (_, source_strides) = op
        .operand(0)
        .r#type()
        .strides(sizes.len())
        .ok_or_else(|| unsupported(op))?;
    let (_, strides) = result
        .strides(kept_sizes.len())
        .ok_or_else(|| unsupported(op))?;
    let full_stride = |dim: usize| match (known(source_strides[dim]), known(steps[dim])) {
        (Some(stride), Some(step)) => stride.checked_mul(step),
        _ => None,
    };
    let mut kept = vec![false; sizes.len()];
    let mut next = 0;
    for (dim, &size) in sizes.iter().enumerate() {
        let left = sizes.len() - dim;
        let needed = kept_sizes.len() - next;
        let fits = kept_sizes.get(next).is_some_and(|&kept_size| {
            let same_stride = match (full_stride(dim), known(strides[next])) {
                (Some(full), Some(stride)) => full == stride,
                _ => true,
            };
            kept_size == size && (same_stride || size != 1)
        });
        if (fits && (size != 1 || needed > 0)) || left == needed {
            kept[dim] = true;
            next += 1;
        }
    }
    if next == kept_sizes.len() {
        Ok(kept.into())
    } else {
        Err(unsupported(op))
    }
}

/// The lengths of the groups of a reassociation.
fn groups(op: Op) -> Decoding<Box<[u32]>> {
    let groups = attribute(op, "reassociation").and_then(Attr::elements);
    let length = |group: Attr| group.elements().map(|dims| dims.len() as u32);
    let lengths = groups.and_then(|groups| groups.into_iter().map(length).collect());
    lengths.ok_or_else(|| unsupported(op))
}

fn collapse(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    let reshape = Reshape {
        dst: decoder.view_result(op, 0)?,
        src: decoder.view(op.operand(0), op)?,
        groups: groups(op)?,
    };
    decoder.emit(Inst::Collapse(Box::new(reshape)), op);
    Ok(())
}

fn expand(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    let shape = statics(op, "static_output_shape")?;
    let expand = Expand {
        dst: decoder.view_result(op, 0)?,
        src: decoder.view(op.operand(0), op)?,
        groups: groups(op)?,
        sizes: decoder.mixed(&shape, &mut op.operands().skip(1), op)?,
    };
    decoder.emit(Inst::Expand(Box::new(expand)), op);
    Ok(())
}

fn reinterpret(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    let mut dynamic = op.operands().skip(1);
    let offsets = decoder.mixed(&statics(op, "static_offsets")?, &mut dynamic, op)?;
    let reinterpret = Reinterpret {
        dst: decoder.view_result(op, 0)?,
        src: decoder.view(op.operand(0), op)?,
        offset: offsets.first().copied().unwrap_or(Index::Constant(0)),
        sizes: decoder.mixed(&statics(op, "static_sizes")?, &mut dynamic, op)?,
        strides: decoder.mixed(&statics(op, "static_strides")?, &mut dynamic, op)?,
    };
    decoder.emit(Inst::Reinterpret(Box::new(reinterpret)), op);
    Ok(())
}

fn transpose(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    let map = attribute(op, "permutation")
        .and_then(Attr::map)
        .ok_or_else(|| unsupported(op))?;
    let permutation: Option<Box<[u32]>> = map.results.iter().map(|expr| expr.as_input()).collect();
    let inst = Inst::Transpose {
        dst: decoder.view_result(op, 0)?,
        src: decoder.view(op.operand(0), op)?,
        permutation: permutation.ok_or_else(|| unsupported(op))?,
    };
    decoder.emit(inst, op);
    Ok(())
}

fn cast(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    // What the new type says of strides counts even where it is the row-major layout.
    let ty = types::view_type(op.result(0).r#type(), op)?;
    let cast = ViewCast {
        dst: decoder.view_result(op, 0)?,
        src: decoder.view(op.operand(0), op)?,
        sizes: ty.sizes.into(),
        layout: ty.layout,
    };
    decoder.emit(Inst::ViewCast(Box::new(cast)), op);
    Ok(())
}

/// The same memrefs under other types.
fn alias(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    for index in 0..op.result_count() {
        let src = decoder.view(op.operand(index), op)?;
        let dst = decoder.view_result(op, index)?;
        decoder.emit(Inst::MoveView { dst, src }, op);
    }
    Ok(())
}

fn metadata(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    let rank = (op.result_count() - 2) / 2;
    let mut numbers = (1..op.result_count()).map(|index| decoder.scalar_result(op, index));
    let mut next = |count| numbers.by_ref().take(count).collect::<Decoding<_>>();
    let [offset, sizes, strides]: [Box<[ScalarSlot]>; 3] = [next(1)?, next(rank)?, next(rank)?];
    let metadata = Metadata {
        src: decoder.view(op.operand(0), op)?,
        base: decoder.view_result(op, 0)?,
        offset: offset[0],
        sizes,
        strides,
    };
    decoder.emit(Inst::Metadata(Box::new(metadata)), op);
    Ok(())
}

fn dim(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    let inst = Inst::Dim {
        dst: decoder.scalar_result(op, 0)?,
        view: decoder.view(op.operand(0), op)?,
        dim: Index::Slot(decoder.scalar(op.operand(1), op)?),
    };
    decoder.emit(inst, op);
    Ok(())
}

fn rank(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    let sizes = op
        .operand(0)
        .r#type()
        .sizes()
        .ok_or_else(|| unsupported(op))?;
    let slot = decoder.builder.constant(sizes.len() as u64);
    decoder.bind(op.result(0), Slot::Scalar(slot));
    Ok(())
}

fn load(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    let inst = Inst::Load {
        dst: decoder.scalar_result(op, 0)?,
        view: decoder.view(op.operand(0), op)?,
        indices: decoder.indices(op.operands().skip(1), op)?,
    };
    decoder.emit(inst, op);
    Ok(())
}

fn store(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    let store = Store {
        value: decoder.scalar(op.operand(0), op)?,
        view: decoder.view(op.operand(1), op)?,
        indices: decoder.indices(op.operands().skip(2), op)?,
    };
    decoder.emit(Inst::Store(Box::new(store)), op);
    Ok(())
}

fn copy(decoder: &mut FunctionDecoder<'_>, op: Op) -> Decoding<()> {
    let transfer = Transfer {
        op: EngineOp::plain(Engine::Other),
        source: decoder.view(op.operand(0), op)?,
        source_type: None,
        dst: decoder.view(op.operand(1), op)?,
    };
    decoder.emit(Inst::Copy(Box::new(transfer)), op);
    Ok(())
}
