//! Attributes and types, as plain data. The only `unsafe` of the decoder.
//!
//! # Safety
//!
//! As in [`crate::handle`]: every handle that exists is live, and each accessor below is preceded by
//! the test that makes it legal on that kind of attribute, type or expression.

#![allow(clippy::undocumented_unsafe_blocks)]

use mlir_sys::*;
use pto_machine::code::{Affine, AffineOp, ElementType};
use pto_machine::formats::Format;

use crate::handle::{Op, Type, string_ref};

/// An attribute.
#[derive(Clone, Copy)]
pub(super) struct Attr(MlirAttribute);

/// The attribute `name` of `op`, inherent or discardable.
pub(super) fn attribute(op: Op, name: &str) -> Option<Attr> {
    Attr::new(unsafe { mlirOperationGetAttributeByName(op.raw(), string_ref(name)) })
}

/// The indexing maps of a structured `linalg` operation; `None` for any other operation.
pub(super) fn indexing_maps(op: Op) -> Option<Vec<Map>> {
    let maps = Attr::new(unsafe { mlirLinalgGetIndexingMapsAttribute(op.raw()) })?;
    maps.elements()?.into_iter().map(Attr::map).collect()
}

impl Attr {
    fn new(raw: MlirAttribute) -> Option<Self> {
        (!raw.ptr.is_null()).then_some(Self(raw))
    }

    /// The value of an integer, boolean or index attribute of at most 64 bits, sign-extended unless
    /// it is unsigned.
    pub(super) fn integer(self) -> Option<i64> {
        if !unsafe { mlirAttributeIsAInteger(self.0) } {
            return None;
        }
        let ty = unsafe { mlirAttributeGetType(self.0) };
        if !unsafe { mlirTypeIsAInteger(ty) } {
            return Some(unsafe { mlirIntegerAttrGetValueInt(self.0) });
        }
        if unsafe { mlirIntegerTypeGetWidth(ty) } > 64 {
            return None;
        }
        Some(unsafe {
            if mlirIntegerTypeIsSigned(ty) {
                mlirIntegerAttrGetValueSInt(self.0)
            } else if mlirIntegerTypeIsUnsigned(ty) {
                mlirIntegerAttrGetValueUInt(self.0) as i64
            } else {
                mlirIntegerAttrGetValueInt(self.0)
            }
        })
    }

    /// The value of a float attribute; exact for every type up to 64 bits.
    pub(super) fn float(self) -> Option<f64> {
        unsafe { mlirAttributeIsAFloat(self.0) }
            .then(|| unsafe { mlirFloatAttrGetValueDouble(self.0) })
    }

    /// The entries of an `array<i64: ...>`.
    pub(super) fn i64_array(self) -> Option<Vec<i64>> {
        if !unsafe { mlirAttributeIsADenseI64Array(self.0) } {
            return None;
        }
        let count = unsafe { mlirDenseArrayGetNumElements(self.0) };
        let entry = |index| unsafe { mlirDenseI64ArrayGetElement(self.0, index) };
        Some((0..count).map(entry).collect())
    }

    /// The elements of an array attribute.
    pub(super) fn elements(self) -> Option<Vec<Self>> {
        if !unsafe { mlirAttributeIsAArray(self.0) } {
            return None;
        }
        let count = unsafe { mlirArrayAttrGetNumElements(self.0) };
        let element = |index| Self(unsafe { mlirArrayAttrGetElement(self.0, index) });
        Some((0..count).map(element).collect())
    }

    /// The text of a string attribute.
    pub(super) fn text(self) -> Option<String> {
        unsafe { mlirAttributeIsAString(self.0) }
            .then(|| text_of(unsafe { mlirStringAttrGetValue(self.0) }))
    }

    /// The attribute as text.
    pub(super) fn print(self) -> String {
        let mut text = String::new();
        let sink: *mut String = &mut text;
        // The callback runs before the call returns, with the pointer to `text` given here.
        unsafe { mlirAttributePrint(self.0, Some(append), sink.cast()) };
        text
    }

    /// The symbol that a flat reference names.
    pub(super) fn symbol(self) -> Option<String> {
        unsafe { mlirAttributeIsAFlatSymbolRef(self.0) }
            .then(|| text_of(unsafe { mlirFlatSymbolRefAttrGetValue(self.0) }))
    }

    /// The type that a type attribute holds.
    pub(super) fn r#type(self) -> Option<Type> {
        unsafe { mlirAttributeIsAType(self.0) }
            .then(|| unsafe { Type::from_raw(mlirTypeAttrGetValue(self.0)) })
    }

    /// The map of an affine-map attribute.
    pub(super) fn map(self) -> Option<Map> {
        if !unsafe { mlirAttributeIsAAffineMap(self.0) } {
            return None;
        }
        let map = unsafe { mlirAffineMapAttrGetValue(self.0) };
        let (dims, symbols) = unsafe {
            (
                mlirAffineMapGetNumDims(map),
                mlirAffineMapGetNumSymbols(map),
            )
        };
        let count = unsafe { mlirAffineMapGetNumResults(map) };
        let result = |index| expression(unsafe { mlirAffineMapGetResult(map, index) }, dims);
        Some(Map {
            dims: dims as usize,
            inputs: (dims + symbols) as usize,
            results: (0..count).map(result).collect::<Option<_>>()?,
        })
    }

    /// The constraints of an integer-set attribute: each expression with whether it must be zero
    /// (or else not negative), and the number of inputs.
    pub(super) fn integer_set(self) -> Option<(usize, Vec<(Affine, bool)>)> {
        if !unsafe { mlirAttributeIsAIntegerSet(self.0) } {
            return None;
        }
        let set = unsafe { mlirIntegerSetAttrGetValue(self.0) };
        let dims = unsafe { mlirIntegerSetGetNumDims(set) };
        let inputs = dims + unsafe { mlirIntegerSetGetNumSymbols(set) };
        let count = unsafe { mlirIntegerSetGetNumConstraints(set) };
        let constraint = |index| {
            let expr = expression(unsafe { mlirIntegerSetGetConstraint(set, index) }, dims)?;
            Some((expr, unsafe { mlirIntegerSetIsConstraintEq(set, index) }))
        };
        let constraints = (0..count).map(constraint).collect::<Option<_>>()?;
        Some((inputs as usize, constraints))
    }

    /// The elements of a dense attribute, packed as the machine packs elements of `element`; a splat
    /// is one element.
    pub(super) fn dense(self, element: ElementType) -> Option<Vec<u8>> {
        if !unsafe { mlirAttributeIsADenseElements(self.0) } {
            return None;
        }
        let is_splat = unsafe { mlirDenseElementsAttrIsSplat(self.0) };
        let total = unsafe { mlirElementsAttrGetNumElements(self.0) } as usize;
        let count = if is_splat { total.min(1) } else { total };
        if element == ElementType::I1 {
            if is_splat && count == 1 {
                return Some(vec![
                    unsafe { mlirDenseElementsAttrGetBoolSplatValue(self.0) } as u8,
                ]);
            }
            let bit = |at| unsafe { mlirDenseElementsAttrGetBoolValue(self.0, at as isize) };
            return Some((0..count).map(|at| bit(at) as u8).collect());
        }
        let stored = stored_bytes(element);
        let data = unsafe { mlirDenseElementsAttrGetRawData(self.0) }.cast::<u8>();
        // MLIR keeps the elements of other types than i1 in whole bytes, one element of a splat.
        let raw: &[u8] = match count {
            0 => &[],
            _ => unsafe { std::slice::from_raw_parts(data, count * stored) },
        };
        Some(repack(raw, stored, element))
    }
}

/// An affine map.
#[derive(Clone, Debug)]
pub(super) struct Map {
    /// Number of dimensions.
    pub(super) dims: usize,
    /// Number of dimensions and symbols.
    pub(super) inputs: usize,
    pub(super) results: Vec<Affine>,
}

/// Bytes that MLIR keeps an element of a dense attribute in.
fn stored_bytes(element: ElementType) -> usize {
    match element {
        ElementType::Int(width) | ElementType::Uint(width) => usize::from(width).div_ceil(8),
        // 19 bits.
        ElementType::Float(Format::Tf32) => 3,
        _ => element.bytes(),
    }
}

/// Elements of `stored` bytes as the machine packs them.
fn repack(raw: &[u8], stored: usize, element: ElementType) -> Vec<u8> {
    let width = element.bytes();
    if stored == width {
        return raw.to_vec();
    }
    let mut packed = Vec::with_capacity(raw.len() / stored * width);
    for chunk in raw.chunks_exact(stored) {
        let mut word = [0; 8];
        word[..stored].copy_from_slice(chunk);
        let bits = match element {
            ElementType::Float(Format::Tf32) => u64::from_le_bytes(word) << 13,
            _ => u64::from_le_bytes(word),
        };
        packed.extend_from_slice(&bits.to_le_bytes()[..width]);
    }
    packed
}

/// The type of a scalar or of an element, if the machine has it.
pub(super) fn element_type(ty: Type) -> Option<ElementType> {
    let raw = ty.raw();
    unsafe {
        if mlirTypeIsAIndex(raw) {
            return Some(ElementType::Index);
        }
        if mlirTypeIsAInteger(raw) {
            let width = u8::try_from(mlirIntegerTypeGetWidth(raw)).ok()?;
            let fits = (1..=64).contains(&width);
            return fits.then(|| match mlirIntegerTypeIsUnsigned(raw) {
                true => ElementType::Uint(width),
                false => ElementType::Int(width),
            });
        }
        if mlirTypeIsAF64(raw) {
            return Some(ElementType::F64);
        }
        float_format(raw).map(ElementType::Float)
    }
}

/// # Safety
///
/// `raw` is a live type.
unsafe fn float_format(raw: MlirType) -> Option<Format> {
    // One test each: the C API has no way to ask a float type for its semantics.
    let tests: [(unsafe extern "C" fn(MlirType) -> bool, Format); 11] = [
        (mlirTypeIsAF32, Format::F32),
        (mlirTypeIsABF16, Format::Bf16),
        (mlirTypeIsAF16, Format::F16),
        (mlirTypeIsATF32, Format::Tf32),
        (mlirTypeIsAFloat8E5M2, Format::F8E5M2),
        (mlirTypeIsAFloat8E4M3FN, Format::F8E4M3FN),
        (mlirTypeIsAFloat8E3M4, Format::F8E3M4),
        (mlirTypeIsAFloat8E8M0FNU, Format::F8E8M0FNU),
        (mlirTypeIsAFloat6E3M2FN, Format::F6E3M2FN),
        (mlirTypeIsAFloat6E2M3FN, Format::F6E2M3FN),
        (mlirTypeIsAFloat4E2M1FN, Format::F4E2M1FN),
    ];
    let found = tests.into_iter().find(|(test, _)| unsafe { test(raw) });
    found.map(|(_, format)| format)
}

/// Whether `ty` is a ranked memref.
pub(super) fn is_memref(ty: Type) -> bool {
    unsafe { mlirTypeIsAMemRef(ty.raw()) }
}

/// Whether `ty` has elements: a memref, a tensor or a vector.
pub(super) fn is_shaped(ty: Type) -> bool {
    unsafe { mlirTypeIsAShaped(ty.raw()) }
}

/// The inputs and results of a function type.
pub(super) fn signature(ty: Type) -> Option<(Vec<Type>, Vec<Type>)> {
    let raw = ty.raw();
    if !unsafe { mlirTypeIsAFunction(raw) } {
        return None;
    }
    let inputs = unsafe { mlirFunctionTypeGetNumInputs(raw) };
    let results = unsafe { mlirFunctionTypeGetNumResults(raw) };
    let input = |index| unsafe { Type::from_raw(mlirFunctionTypeGetInput(raw, index)) };
    let result = |index| unsafe { Type::from_raw(mlirFunctionTypeGetResult(raw, index)) };
    Some((
        (0..inputs).map(input).collect(),
        (0..results).map(result).collect(),
    ))
}

/// An affine expression in postfix order; symbols count on from `dims`. Without recursion: an
/// expression may be as deep as the parser allows.
fn expression(root: MlirAffineExpr, dims: isize) -> Option<Affine> {
    // Root, right, left: read backwards, that is postfix.
    let mut steps = Vec::new();
    let mut pending = vec![root];
    while let Some(expr) = pending.pop() {
        unsafe {
            if mlirAffineExprIsADim(expr) {
                steps.push(AffineOp::Input(mlirAffineDimExprGetPosition(expr) as u32));
            } else if mlirAffineExprIsASymbol(expr) {
                let position = mlirAffineSymbolExprGetPosition(expr) + dims;
                steps.push(AffineOp::Input(position as u32));
            } else if mlirAffineExprIsAConstant(expr) {
                steps.push(AffineOp::Constant(mlirAffineConstantExprGetValue(expr)));
            } else {
                steps.push(binary_op(expr)?);
                pending.push(mlirAffineBinaryOpExprGetLHS(expr));
                pending.push(mlirAffineBinaryOpExprGetRHS(expr));
            }
        }
    }
    steps.reverse();
    Affine::new(steps)
}

/// # Safety
///
/// `expr` is a live expression.
unsafe fn binary_op(expr: MlirAffineExpr) -> Option<AffineOp> {
    unsafe {
        Some(if mlirAffineExprIsAAdd(expr) {
            AffineOp::Add
        } else if mlirAffineExprIsAMul(expr) {
            AffineOp::Mul
        } else if mlirAffineExprIsAMod(expr) {
            AffineOp::Mod
        } else if mlirAffineExprIsAFloorDiv(expr) {
            AffineOp::FloorDiv
        } else if mlirAffineExprIsACeilDiv(expr) {
            AffineOp::CeilDiv
        } else {
            return None;
        })
    }
}

fn text_of(text: MlirStringRef) -> String {
    if text.length == 0 {
        return String::new();
    }
    let bytes = unsafe { std::slice::from_raw_parts(text.data.cast::<u8>(), text.length) };
    String::from_utf8_lossy(bytes).into_owned()
}

/// Appends a piece of printed text to the `String` behind `sink`.
unsafe extern "C" fn append(piece: MlirStringRef, sink: *mut std::ffi::c_void) {
    // SAFETY: `Attr::print` passes a pointer to a `String` of its own.
    let text = unsafe { &mut *sink.cast::<String>() };
    text.push_str(&text_of(piece));
}
