//! Types and attributes, which live as long as their context.
//!
//! # Safety
//!
//! As in [`super`]: every handle that exists is live.

#![allow(clippy::undocumented_unsafe_blocks)]

use mlir_sys::*;

use super::{Attribute, DYNAMIC, Key, Type, string_of};
use crate::accessors;

impl Type {
    /// The handle of `raw`.
    ///
    /// # Safety
    ///
    /// `raw` must be a live type.
    pub(crate) const unsafe fn from_raw(raw: MlirType) -> Self {
        Self(raw)
    }

    pub(crate) const fn raw(self) -> MlirType {
        self.0
    }

    pub(crate) fn key(self) -> Key {
        self.0.ptr as Key
    }

    pub(crate) fn is_index(self) -> bool {
        unsafe { mlirTypeIsAIndex(self.0) }
    }

    /// Whether it is `i1`.
    pub(crate) fn is_bit(self) -> bool {
        unsafe { mlirTypeIsAInteger(self.0) && mlirIntegerTypeGetWidth(self.0) == 1 }
    }

    /// The bits of an integer or an index.
    pub(crate) fn integer_bits(self) -> Option<u32> {
        match self.is_index() {
            true => Some(i64::BITS),
            false => unsafe { mlirTypeIsAInteger(self.0) }
                .then(|| unsafe { mlirIntegerTypeGetWidth(self.0) }),
        }
    }

    /// The memory space of a memref: see [`accessors::space`].
    pub(crate) fn space(self) -> u32 {
        unsafe { accessors::ptoTypeGetSpace(self.0) }
    }

    /// The tile space of a memref that lies in one, as the dialect numbers them from 1; 0 of
    /// others.
    pub(crate) fn tile_space(self) -> u32 {
        unsafe { accessors::ptoTypeGetTileSpace(self.0) }
    }

    /// The bytes of the smallest tile that holds a memref of this type, 0 where none does.
    pub(crate) fn tile_bytes(self) -> u32 {
        unsafe { accessors::ptoTypeGetTileBytes(self.0) }
    }

    /// The 5-bit data type code that elements of this type have in a tile, if a tile holds them.
    pub(crate) fn tile_data_type(self) -> Option<u8> {
        u8::try_from(unsafe { accessors::ptoTypeGetTileDataType(self.0) }).ok()
    }

    pub(crate) fn element(self) -> Self {
        Self(unsafe { mlirShapedTypeGetElementType(self.0) })
    }

    /// Bytes of one element of this type in SBUF and HBM: at least 1.
    pub(crate) fn bytes(self) -> u32 {
        unsafe { accessors::ptoTypeGetBytes(self.0) }
    }

    /// The sizes of a ranked memref, [`DYNAMIC`] where not known.
    pub(crate) fn sizes(self) -> Option<Vec<i64>> {
        if !unsafe { mlirTypeIsAMemRef(self.0) } {
            return None;
        }
        let rank = unsafe { mlirShapedTypeGetRank(self.0) } as isize;
        Some(
            (0..rank)
                .map(|dim| unsafe { mlirShapedTypeGetDimSize(self.0, dim) })
                .collect(),
        )
    }

    /// Offset and strides in elements of a strided memref of `rank` dimensions, [`DYNAMIC`] where
    /// not known.
    pub(crate) fn strides(self, rank: usize) -> Option<(i64, Vec<i64>)> {
        let has_identity_layout =
            unsafe { mlirAffineMapIsIdentity(mlirMemRefTypeGetAffineMap(self.0)) };
        if has_identity_layout {
            // MLIR would derive these from affine expressions, at some microseconds.
            return Some((0, row_major(&self.sizes()?)));
        }
        let mut strides = vec![DYNAMIC; rank];
        let mut offset = DYNAMIC;
        // `strides` has room for `rank` entries, the rank of the type.
        let found =
            unsafe { mlirMemRefTypeGetStridesAndOffset(self.0, strides.as_mut_ptr(), &mut offset) };
        (found.value != 0).then_some((offset, strides))
    }

    /// The type as text.
    pub(crate) fn text(self) -> String {
        let mut text = String::new();
        let sink: *mut String = &mut text;
        // The callback runs before the call returns, with the pointer to `text` given here.
        unsafe { mlirTypePrint(self.0, Some(append_to_string), sink.cast()) };
        text
    }
}

impl Attribute {
    pub(super) fn from_option(raw: MlirAttribute) -> Option<Self> {
        (!raw.ptr.is_null()).then_some(Self(raw))
    }

    /// A key that is equal for equal attributes.
    pub(crate) fn key(self) -> Key {
        self.0.ptr as Key
    }

    /// The entries of an `array<i64: ...>`.
    pub(crate) fn i64_array(self) -> Option<Vec<i64>> {
        if !unsafe { mlirAttributeIsADenseI64Array(self.0) } {
            return None;
        }
        let count = unsafe { mlirDenseArrayGetNumElements(self.0) };
        Some(
            (0..count)
                .map(|index| unsafe { mlirDenseI64ArrayGetElement(self.0, index) })
                .collect(),
        )
    }

    /// The elements of an array attribute.
    pub(crate) fn elements(self) -> Option<Vec<Self>> {
        if !unsafe { mlirAttributeIsAArray(self.0) } {
            return None;
        }
        let count = unsafe { mlirArrayAttrGetNumElements(self.0) };
        Some(
            (0..count)
                .map(|index| Self(unsafe { mlirArrayAttrGetElement(self.0, index) }))
                .collect(),
        )
    }

    /// The value of an integer attribute of at most 64 bits.
    pub(crate) fn integer(self) -> Option<i64> {
        unsafe { mlirAttributeIsAInteger(self.0) }
            .then(|| unsafe { mlirIntegerAttrGetValueInt(self.0) })
    }

    /// Whether it is an affine map each of whose results is another dimension.
    pub(crate) fn is_projected_permutation(self) -> bool {
        let is_map = unsafe { mlirAttributeIsAAffineMap(self.0) };
        is_map && unsafe { mlirAffineMapIsProjectedPermutation(mlirAffineMapAttrGetValue(self.0)) }
    }

    /// The name in a reference to a symbol of the module.
    pub(crate) fn symbol_name(self) -> Option<String> {
        unsafe { mlirAttributeIsAFlatSymbolRef(self.0) }
            .then(|| string_of(unsafe { mlirFlatSymbolRefAttrGetValue(self.0) }))
    }

    pub(crate) fn text_value(self) -> Option<String> {
        unsafe { mlirAttributeIsAString(self.0) }
            .then(|| string_of(unsafe { mlirStringAttrGetValue(self.0) }))
    }

    pub(super) fn is_positive_zero(self) -> bool {
        if unsafe { mlirAttributeIsAFloat(self.0) } {
            return unsafe { mlirFloatAttrGetValueDouble(self.0) }.to_bits() == 0;
        }
        self.integer() == Some(0)
    }
}

/// How the element type of the data type code `code` is written; empty where the code is reserved.
pub(crate) fn tile_type_spelling(code: u8) -> String {
    let text = unsafe { accessors::ptoTileDataTypeSpelling(u32::from(code)) };
    if text.is_null() {
        return String::new();
    }
    // The text is a constant of the dialect.
    let text = unsafe { std::ffi::CStr::from_ptr(text) };
    text.to_string_lossy().into_owned()
}

/// The strides of a buffer of `sizes` without gaps.
fn row_major(sizes: &[i64]) -> Vec<i64> {
    let mut strides = vec![1; sizes.len()];
    for dim in (1..sizes.len()).rev() {
        strides[dim - 1] = match (strides[dim], sizes[dim]) {
            (DYNAMIC, _) | (_, DYNAMIC) => DYNAMIC,
            (stride, size) => stride.saturating_mul(size),
        };
    }
    strides
}

/// Appends a piece of printed text to the `String` behind `sink`.
pub(super) unsafe extern "C" fn append_to_string(
    piece: MlirStringRef,
    sink: *mut std::ffi::c_void,
) {
    // SAFETY: the printing functions of this file pass a pointer to a `String` of their own.
    let text = unsafe { &mut *sink.cast::<String>() };
    text.push_str(&string_of(piece));
}
