//! `linalg` operations: a body run for every point of an iteration space, the last dimension
//! fastest.

use smallvec::SmallVec;

use super::{Flow, Machine};
use crate::code::{Affine, Generic, GenericInput};
use crate::memory::View;
use crate::report::{Outcome, Report, SiteId};
use crate::trace::AccessKind;

/// An iteration space being walked.
pub(super) struct Iteration<'c> {
    generic: &'c Generic,
    extents: SmallVec<[i64; 6]>,
    point: SmallVec<[i64; 6]>,
    /// The inputs, then the outputs.
    operands: SmallVec<[Operand<'c>; 4]>,
}

/// An operand of it.
pub(super) struct Operand<'c> {
    pub(super) view: View,
    pub(super) address: Address<'c>,
}

/// How the element of an operand follows from the point.
pub(super) enum Address<'c> {
    /// The element at the point, moved along with it: elements from one point to the next in each
    /// dimension.
    Linear {
        at: i64,
        strides: SmallVec<[i64; 6]>,
    },
    /// By evaluation: the map is not linear.
    Map(&'c [Affine]),
}

impl<'c> Machine<'c> {
    pub(super) fn enter_generic(&mut self, generic: &'c Generic, site: SiteId) -> Outcome<Flow> {
        let mut operands: SmallVec<[Operand<'c>; 4]> = SmallVec::new();
        let outputs = generic.outputs.iter().map(|output| &output.input);
        let all: SmallVec<[&GenericInput; 4]> = generic.inputs.iter().chain(outputs).collect();
        let views: SmallVec<[View; 4]> = all
            .iter()
            .map(|input| self.view(input.view).clone())
            .collect();
        let extents = extents(generic.dims as usize, &all, &views, site)?;
        let is_empty = extents.contains(&0);
        for (input, view) in all.into_iter().zip(views) {
            let address = address(&input.map, &view, &extents, site)?;
            operands.push(Operand { view, address });
        }
        if is_empty {
            return Ok(Flow::Jump(generic.exit.0));
        }
        self.begin_other(site);
        for (index, operand) in operands.iter().enumerate() {
            // Outputs are read as well, by most bodies.
            self.accesses_view(&operand.view, AccessKind::Read);
            if index >= generic.inputs.len() {
                self.accesses_view(&operand.view, AccessKind::Write);
            }
        }
        if let Some(kind) = generic.contraction
            && self.contract(kind, generic, &operands, &extents, site)?
        {
            return Ok(Flow::Jump(generic.exit.0));
        }
        self.iterations.push(Iteration {
            generic,
            point: SmallVec::from_elem(0, extents.len()),
            extents,
            operands,
        });
        self.load_inputs(site)?;
        Ok(Flow::Next)
    }

    pub(super) fn next_of_generic(&mut self, enter: u32, site: SiteId) -> Outcome<Flow> {
        self.store_outputs(site)?;
        let goes_on = self.iterations.last_mut().is_some_and(Iteration::advance);
        if !goes_on {
            self.iterations.pop();
            return Ok(Flow::Next);
        }
        self.load_inputs(site)?;
        Ok(Flow::Jump(enter + 1))
    }

    pub(super) fn generic_index(&self, dim: u32) -> u64 {
        let point = self.iterations.last().map(|iteration| &iteration.point);
        point
            .and_then(|point| point.get(dim as usize))
            .copied()
            .unwrap_or(0) as u64
    }

    fn load_inputs(&mut self, site: SiteId) -> Outcome<()> {
        let iterations = std::mem::take(&mut self.iterations);
        let result = iterations.last().map_or(Ok(()), |iteration| {
            let outputs = iteration.generic.outputs.iter().map(|output| &output.input);
            let inputs = iteration.generic.inputs.iter().chain(outputs);
            for (input, operand) in inputs.zip(&iteration.operands) {
                let Some(slot) = input.slot else {
                    continue;
                };
                let at = operand.element(&iteration.point, site)?;
                let bits = self.memory.load(&operand.view, at, site)?;
                self.set(slot, bits);
            }
            Ok(())
        });
        self.iterations = iterations;
        result
    }

    fn store_outputs(&mut self, site: SiteId) -> Outcome<()> {
        let iterations = std::mem::take(&mut self.iterations);
        let result = iterations.last().map_or(Ok(()), |iteration| {
            let generic = iteration.generic;
            let written = &iteration.operands[generic.inputs.len()..];
            for (output, operand) in generic.outputs.iter().zip(written) {
                let at = operand.element(&iteration.point, site)?;
                let bits = self.get(output.value);
                self.memory.store(&operand.view, at, bits, site)?;
            }
            Ok(())
        });
        self.iterations = iterations;
        result
    }
}

impl Iteration<'_> {
    /// Goes to the next point; whether there is one.
    fn advance(&mut self) -> bool {
        for dim in (0..self.extents.len()).rev() {
            self.point[dim] += 1;
            if self.point[dim] < self.extents[dim] {
                self.move_operands(dim, 1);
                return true;
            }
            let back = self.extents[dim] - 1;
            self.point[dim] = 0;
            self.move_operands(dim, -back);
        }
        false
    }

    fn move_operands(&mut self, dim: usize, by: i64) {
        for operand in &mut self.operands {
            if let Address::Linear { at, strides } = &mut operand.address {
                *at += strides[dim] * by;
            }
        }
    }
}

impl Operand<'_> {
    fn element(&self, point: &[i64], site: SiteId) -> Outcome<usize> {
        let map = match &self.address {
            Address::Linear { at, .. } => return Ok(*at as usize),
            Address::Map(map) => map,
        };
        let mut indices: SmallVec<[i64; 6]> = SmallVec::new();
        for expr in *map {
            let index = expr.eval(point).ok_or_else(|| map_report(site))?;
            indices.push(index);
        }
        self.view
            .element(indices)
            .map_err(|dim| outside(dim, &self.view, site))
    }
}

/// The sizes of the iteration space: each dimension is somewhere an index on its own.
fn extents(
    dims: usize,
    inputs: &[&GenericInput],
    views: &[View],
    site: SiteId,
) -> Outcome<SmallVec<[i64; 6]>> {
    let mut extents: SmallVec<[Option<i64>; 6]> = SmallVec::from_elem(None, dims);
    for (input, view) in inputs.iter().zip(views) {
        for (expr, dim) in input.map.iter().zip(&view.dims) {
            let Some(number) = expr.as_input() else {
                continue;
            };
            let Some(extent) = extents.get_mut(number as usize) else {
                continue;
            };
            let size = i64::try_from(dim.size).unwrap_or(i64::MAX);
            if extent.is_some_and(|known| known != size) {
                let known = extent.unwrap_or(0);
                let message = format!(
                    "dimension {number} has {known} points for one operand and {size} for another"
                );
                return Err(Box::new(Report::failed("pto:shape", site, message)));
            }
            *extent = Some(size);
        }
    }
    extents
        .into_iter()
        .enumerate()
        .map(|(number, extent)| {
            extent.ok_or_else(|| {
                let message = format!("no operand tells the size of dimension {number}");
                Box::new(Report::unusable("pto:unsupported-op", site, message))
            })
        })
        .collect()
}

/// How the elements of `view` follow from the point; an error if a linear map leaves the view.
pub(super) fn address<'c>(
    map: &'c [Affine],
    view: &View,
    extents: &[i64],
    site: SiteId,
) -> Outcome<Address<'c>> {
    let mut at = view.offset;
    let mut strides: SmallVec<[i64; 6]> = SmallVec::from_elem(0, extents.len());
    for (number, (expr, dim)) in map.iter().zip(&view.dims).enumerate() {
        let Some((constant, terms)) = expr.linear(extents.len()) else {
            return Ok(Address::Map(map));
        };
        let (mut low, mut high) = (i128::from(constant), i128::from(constant));
        for (term, extent) in terms.iter().zip(extents) {
            let reach = i128::from(*term) * i128::from((extent - 1).max(0));
            low += reach.min(0);
            high += reach.max(0);
        }
        let is_empty = extents.contains(&0);
        if !is_empty && (low < 0 || high >= i128::from(dim.size)) {
            return Err(outside(number, view, site));
        }
        at = at.wrapping_add(constant.wrapping_mul(dim.stride));
        for (stride, term) in strides.iter_mut().zip(terms) {
            *stride = stride.wrapping_add(term.wrapping_mul(dim.stride));
        }
    }
    Ok(Address::Linear { at, strides })
}

fn outside(dim: usize, view: &View, site: SiteId) -> Box<Report> {
    let message = format!(
        "the iteration leaves dimension {dim} of an operand of {:?} elements",
        view.sizes()
    );
    Box::new(Report::failed("pto:out-of-bounds", site, message))
}

fn map_report(site: SiteId) -> Box<Report> {
    Box::new(Report::failed(
        "pto:division-by-zero",
        site,
        "an indexing map divides by a number that is not positive",
    ))
}
