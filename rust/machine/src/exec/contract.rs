//! Contractions: `linalg` operations whose body is `out + a * b`, without running the body.
//!
//! A body run for each of the half a billion points of a matmul takes minutes; these loops take a
//! fraction of a second and give the same bits. Loops over different elements of the output may be
//! exchanged; the order in which the products of one element are added may not, and is not: the
//! reductions stay in order, and only a parallel dimension moves inside them.

use smallvec::SmallVec;

use super::Machine;
use super::convert::convert;
use super::generic::{Address, Operand, address};
use crate::code::types::sign_extend;
use crate::code::{Affine, Contraction, ElementType, Generic};
use crate::memory::{Storage, View, bits_of};
use crate::report::{Outcome, SiteId};

/// Multiply-adds that take the time of one step.
const MULTIPLY_ADDS_PER_STEP: u64 = 64;

/// The operand that a stride belongs to: the two inputs and the output.
type Strides = [i64; 3];

impl Machine<'_> {
    /// Does the whole of a contraction, if it is one that has a fast way: operands outside PSUM,
    /// fully defined, the output a buffer of its own. Whether it did.
    pub(super) fn contract(
        &mut self,
        kind: Contraction,
        generic: &Generic,
        operands: &[Operand<'_>],
        extents: &[i64],
        site: SiteId,
    ) -> Outcome<bool> {
        let [left, right, output] = operands else {
            return Ok(false);
        };
        let views = [&left.view, &right.view, &output.view];
        if !self.is_contractible(views, site)? {
            return Ok(false);
        }
        let inputs = generic.inputs.iter().map(|input| &input.map);
        let maps = inputs.chain(generic.outputs.iter().map(|output| &output.input.map));
        let Some(space) = Space::of_packed(maps, views, extents, site) else {
            return Ok(false);
        };
        let points = extents
            .iter()
            .fold(1u64, |points, &extent| points.saturating_mul(extent as u64));
        self.charge(points / MULTIPLY_ADDS_PER_STEP, site)?;
        match kind {
            Contraction::F32 => {
                self.contract_as(views, &space, site, f32_values, |o, a, b| o + a * b)
            }
            Contraction::F64 => {
                self.contract_as(views, &space, site, f64_values, |o, a, b| o + a * b)
            }
            Contraction::Int => {
                self.contract_as(views, &space, site, int_values, |o: i64, a: i64, b: i64| {
                    o.wrapping_add(a.wrapping_mul(b))
                })
            }
        }?;
        Ok(true)
    }

    fn is_contractible(&self, views: [&View; 3], site: SiteId) -> Outcome<bool> {
        let [left, right, output] = views;
        if output.buffer == left.buffer || output.buffer == right.buffer {
            return Ok(false);
        }
        for view in views {
            let is_host = matches!(self.memory.buffer(view, site)?.storage, Storage::Host(_));
            // What reads something undefined is left to the loop, which finds the first.
            if !is_host || self.memory.check_defined(view, site).is_err() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn contract_as<T: Number>(
        &mut self,
        views: [&View; 3],
        space: &Space<'_>,
        site: SiteId,
        values: impl Fn(ElementType, &[u8]) -> Vec<T>,
        step: impl Fn(T, T, T) -> T + Copy,
    ) -> Outcome<()> {
        let mut loaded: [Vec<T>; 3] = [Vec::new(), Vec::new(), Vec::new()];
        for (view, values_of) in views.iter().zip(&mut loaded) {
            self.memory.read(view, site, &mut self.packed)?;
            *values_of = values(self.memory.buffer(view, site)?.element, &self.packed);
        }
        let [left, right, mut sums] = loaded;
        space.run((&left, &right), &mut sums, step);
        let output = views[2];
        let width = self.memory.buffer(output, site)?.element.bytes();
        self.packed.clear();
        for sum in sums {
            self.packed
                .extend_from_slice(&sum.bits().to_le_bytes()[..width]);
        }
        self.memory.write(output, &self.packed, site)
    }
}

/// A type that a contraction computes in.
trait Number: Copy {
    fn bits(self) -> u64;
}

impl Number for f32 {
    fn bits(self) -> u64 {
        u64::from(self.to_bits())
    }
}

impl Number for f64 {
    fn bits(self) -> u64 {
        self.to_bits()
    }
}

impl Number for i64 {
    fn bits(self) -> u64 {
        self as u64
    }
}

fn f32_values(element: ElementType, bytes: &[u8]) -> Vec<f32> {
    let mut widened = Vec::new();
    convert(element, ElementType::F32, bytes, &mut widened);
    widened
        .as_chunks::<4>()
        .0
        .iter()
        .map(|&word| f32::from_le_bytes(word))
        .collect()
}

fn f64_values(element: ElementType, bytes: &[u8]) -> Vec<f64> {
    let mut widened = Vec::new();
    convert(element, ElementType::F64, bytes, &mut widened);
    widened
        .as_chunks::<8>()
        .0
        .iter()
        .map(|&word| f64::from_le_bytes(word))
        .collect()
}

fn int_values(element: ElementType, bytes: &[u8]) -> Vec<i64> {
    let width = element.int_width().unwrap_or(64);
    bytes
        .chunks_exact(element.bytes())
        .map(|chunk| sign_extend(bits_of(chunk), width))
        .collect()
}

/// The iteration space, over operands that are packed row-major.
struct Space<'a> {
    extents: &'a [i64],
    /// For each dimension, elements from one point to the next of each operand.
    strides: SmallVec<[Strides; 6]>,
    /// The first element of each operand.
    first: [i64; 3],
}

impl<'a> Space<'a> {
    /// `None` if a map is not linear.
    fn of_packed<'m>(
        maps: impl Iterator<Item = &'m Box<[Affine]>>,
        views: [&View; 3],
        extents: &'a [i64],
        site: SiteId,
    ) -> Option<Self> {
        let mut space = Self {
            extents,
            strides: SmallVec::from_elem([0; 3], extents.len()),
            first: [0; 3],
        };
        for (operand, (map, view)) in maps.zip(views).enumerate() {
            let packed = View::row_major(view.buffer, &view.sizes())?;
            let Ok(Address::Linear { at, strides }) = address(map, &packed, extents, site) else {
                return None;
            };
            space.first[operand] = at;
            for (dim, stride) in strides.into_iter().enumerate() {
                space.strides[dim][operand] = stride;
            }
        }
        Some(space)
    }

    /// Walks all points: first the parallel dimensions but one, then the reductions in order, and
    /// inside them the one parallel dimension that runs best.
    fn run<T: Copy>(
        &self,
        inputs: (&[T], &[T]),
        sums: &mut [T],
        step: impl Fn(T, T, T) -> T + Copy,
    ) {
        let inner = self.inner_dimension();
        let dims = 0..self.extents.len();
        let outer = dims
            .clone()
            .filter(|&dim| self.is_parallel(dim) && Some(dim) != inner);
        let reductions = dims.clone().filter(|&dim| !self.is_parallel(dim));
        let order: SmallVec<[usize; 6]> = outer.chain(reductions).collect();
        let (len, inner_strides) =
            inner.map_or((1, [0; 3]), |dim| (self.extents[dim], self.strides[dim]));
        let mut point: SmallVec<[i64; 6]> = SmallVec::from_elem(0, order.len());
        let mut at = self.first;
        loop {
            inner_loop(inputs, sums, at, inner_strides, len as usize, step);
            if !self.advance(&order, &mut point, &mut at) {
                return;
            }
        }
    }

    /// Goes to the next point in `order`, the last dimension fastest; whether there is one.
    fn advance(&self, order: &[usize], point: &mut [i64], at: &mut [i64; 3]) -> bool {
        for (index, &dim) in point.iter_mut().zip(order).rev() {
            *index += 1;
            let wraps = *index == self.extents[dim];
            let by = if wraps { 1 - self.extents[dim] } else { 1 };
            for (at, stride) in at.iter_mut().zip(self.strides[dim]) {
                *at += stride * by;
            }
            if !wraps {
                return true;
            }
            *index = 0;
        }
        false
    }

    fn is_parallel(&self, dim: usize) -> bool {
        self.strides[dim][2] != 0
    }

    /// The parallel dimension for the innermost loop: best if one input stands still and the other
    /// two operands advance by one element.
    fn inner_dimension(&self) -> Option<usize> {
        let cost = |dim: &usize| {
            let is_streaming = matches!(self.strides[*dim], [0, 1, 1] | [1, 0, 1]);
            (!is_streaming, self.extents[*dim] < 8)
        };
        let parallel = (0..self.extents.len()).filter(|&dim| self.is_parallel(dim));
        parallel.rev().min_by_key(cost)
    }
}

#[inline(always)]
fn inner_loop<T: Copy>(
    (left, right): (&[T], &[T]),
    sums: &mut [T],
    [a, b, out]: [i64; 3],
    strides: Strides,
    len: usize,
    step: impl Fn(T, T, T) -> T,
) {
    let (a, b, out) = (a as usize, b as usize, out as usize);
    match strides {
        [0, 1, 1] => {
            let scalar = left[a];
            for (sum, &value) in sums[out..out + len].iter_mut().zip(&right[b..b + len]) {
                *sum = step(*sum, scalar, value);
            }
        }
        [1, 0, 1] => {
            let scalar = right[b];
            for (sum, &value) in sums[out..out + len].iter_mut().zip(&left[a..a + len]) {
                *sum = step(*sum, value, scalar);
            }
        }
        [a_stride, b_stride, out_stride] => {
            for number in 0..len as i64 {
                let sum = &mut sums[(out as i64 + number * out_stride) as usize];
                let a_value = left[(a as i64 + number * a_stride) as usize];
                let b_value = right[(b as i64 + number * b_stride) as usize];
                *sum = step(*sum, a_value, b_value);
            }
        }
    }
}
