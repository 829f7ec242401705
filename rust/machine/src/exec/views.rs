//! Allocations, and views of what was allocated.

use smallvec::SmallVec;

use super::Machine;
use crate::code::{
    Allocate, Expand, GlobalId, Index, Inst, Layout, Metadata, Reinterpret, Reshape, ScalarSlot,
    Space, Subview, ViewCast, ViewSlot,
};
use crate::memory::{BufferId, Dim, Kind, Rows, Storage, View};
use crate::report::{Outcome, Report, SiteId};

type Dims = SmallVec<[Dim; 4]>;

impl Machine<'_> {
    pub(super) fn view_step(&mut self, inst: &Inst, site: SiteId) -> Outcome<()> {
        match inst {
            Inst::Allocate(allocate) => self.allocate(allocate, site)?,
            Inst::Deallocate(slot) => {
                let view = self.view(*slot).clone();
                self.memory.deallocate(&view, site)?;
            }
            Inst::Global { dst, global } => self.get_global(*dst, *global, site)?,
            Inst::Subview(subview) => self.subview(subview, site)?,
            Inst::Collapse(reshape) => self.collapse(reshape, site)?,
            Inst::Expand(expand) => self.expand(expand, site)?,
            Inst::Reinterpret(reinterpret) => self.reinterpret(reinterpret, site)?,
            Inst::Transpose {
                dst,
                src,
                permutation,
            } => {
                let mut view = self.view(*src).clone();
                let dims: Dims = permutation
                    .iter()
                    .filter_map(|&from| view.dims.get(from as usize).copied())
                    .collect();
                view.dims = dims;
                self.set_view(*dst, view);
            }
            Inst::ViewCast(cast) => self.view_cast(cast, site)?,
            Inst::Metadata(metadata) => self.metadata(metadata, site)?,
            Inst::Dim { dst, view, dim } => self.dim(*dst, *view, *dim, site)?,
            Inst::MoveView { dst, src } => {
                let view = self.view(*src).clone();
                self.set_view(*dst, view);
            }
            Inst::SelectView {
                dst,
                condition,
                yes,
                no,
            } => {
                let chosen = if self.get(*condition) != 0 { *yes } else { *no };
                let view = self.view(chosen).clone();
                self.set_view(*dst, view);
            }
            _ => {}
        }
        Ok(())
    }

    fn allocate(&mut self, allocate: &Allocate, site: SiteId) -> Outcome<()> {
        // What the slot named before, in the round of a loop before this, ends here.
        self.set_view(allocate.dst, View::unset());
        self.collect_garbage();
        let sizes = self.sizes(&allocate.sizes, site)?;
        let view = self.new_buffer(allocate, &sizes, site)?;
        self.charge_elements(view.len(), site)?;
        self.set_view(allocate.dst, view);
        Ok(())
    }

    /// Allocates a buffer for `sizes` in the layout asked for.
    pub(super) fn new_buffer(
        &mut self,
        allocate: &Allocate,
        sizes: &[u64],
        site: SiteId,
    ) -> Outcome<View> {
        if let Space::Tile(kind) = allocate.space {
            return self.new_tile(allocate, kind, sizes, site);
        }
        let mut view = match &allocate.layout {
            None => View::row_major(BufferId::NONE, sizes),
            Some(layout) => strided(sizes, layout),
        }
        .ok_or_else(|| shape_report(site, "a memref of more elements than can be counted"))?;
        if allocate.space == Space::Psum {
            let rows = sizes.first().copied().unwrap_or(1);
            let columns = sizes
                .iter()
                .skip(1)
                .fold(1u64, |len, &size| len.saturating_mul(size));
            if allocate.layout.is_some() {
                return Err(shape_report(site, "psum buffers are row-major"));
            }
            let shape = (rows, columns);
            let (element, place) = (allocate.element, allocate.placement);
            view.buffer = self.memory.allocate_psum(element, shape, place, site)?;
            return Ok(view);
        }
        let len = match view.extent() {
            Some((low, high)) if low >= 0 => u64::try_from(high + 1).unwrap_or(u64::MAX),
            Some(_) => return Err(shape_report(site, "a layout that begins before its buffer")),
            None => 0,
        };
        let rows = allocate.placement.map(|place| Rows {
            first: place.partition,
            elements: sizes.iter().skip(1).product(),
        });
        let kind = Kind {
            element: allocate.element,
            rows,
        };
        view.buffer = self.memory.allocate(kind, len, site)?;
        Ok(view)
    }

    fn get_global(&mut self, dst: ViewSlot, id: GlobalId, site: SiteId) -> Outcome<()> {
        let global = &self.code.globals[id.index()];
        let sizes: SmallVec<[u64; 4]> = global
            .ty
            .sizes
            .iter()
            .map(|size| size.unwrap_or(0))
            .collect();
        let view = View::row_major(self.globals[id.index()], &sizes)
            .ok_or_else(|| shape_report(site, "a memref of more elements than can be counted"))?;
        self.set_view(dst, view);
        Ok(())
    }

    fn subview(&mut self, subview: &Subview, site: SiteId) -> Outcome<()> {
        let source = self.view(subview.src);
        let mut view = View {
            buffer: source.buffer,
            offset: source.offset,
            dims: Dims::new(),
        };
        let places = subview.offsets.iter().zip(&subview.strides);
        let parts = places.zip(&subview.sizes).zip(&subview.kept);
        for (number, (dim, part)) in source.dims.iter().zip(parts).enumerate() {
            let (((&offset, &step), &size), &is_kept) = part;
            let (offset, step) = (self.number(offset), self.number(step));
            let size = self.size(size, site)?;
            if !is_inside(*dim, (offset, size, step)) {
                return Err(outside(number, *dim, (offset, size, step), site));
            }
            view.offset += offset * dim.stride;
            if is_kept {
                view.dims.push(Dim {
                    size,
                    stride: dim.stride.wrapping_mul(step),
                });
            }
        }
        self.set_view(subview.dst, view);
        Ok(())
    }

    fn collapse(&mut self, reshape: &Reshape, site: SiteId) -> Outcome<()> {
        let source = self.view(reshape.src);
        let mut rest = &source.dims[..];
        let mut dims = Dims::new();
        for &len in &reshape.groups {
            let (group, others) = rest.split_at((len as usize).min(rest.len()));
            rest = others;
            let Some(dim) = merge(group) else {
                let message = "collapses dimensions that are not adjacent in memory";
                return Err(Box::new(Report::failed("pto:layout", site, message)));
            };
            dims.push(dim);
        }
        let view = View {
            buffer: source.buffer,
            offset: source.offset,
            dims,
        };
        self.set_view(reshape.dst, view);
        Ok(())
    }

    fn expand(&mut self, expand: &Expand, site: SiteId) -> Outcome<()> {
        let sizes = self.sizes(&expand.sizes, site)?;
        let source = self.view(expand.src);
        let mut rest = &sizes[..];
        let mut dims = Dims::new();
        for (dim, &len) in source.dims.iter().zip(&expand.groups) {
            let (group, others) = rest.split_at((len as usize).min(rest.len()));
            rest = others;
            let whole = group
                .iter()
                .try_fold(1u64, |len, &size| len.checked_mul(size));
            if whole != Some(dim.size) {
                let message = format!("expands a dimension of {} into {group:?}", dim.size);
                return Err(Box::new(Report::failed("pto:shape", site, message)));
            }
            let mut stride = dim.stride;
            let mut parts: Dims = SmallVec::new();
            for &size in group.iter().rev() {
                parts.push(Dim { size, stride });
                stride = stride.wrapping_mul(size as i64);
            }
            dims.extend(parts.into_iter().rev());
        }
        // A memref of rank 0 has no groups: its one element expands to sizes of 1.
        if rest.iter().any(|&size| size != 1) {
            let message = format!("expands one element into {rest:?}");
            return Err(Box::new(Report::failed("pto:shape", site, message)));
        }
        dims.extend(rest.iter().map(|&size| Dim { size, stride: 1 }));
        let view = View {
            buffer: source.buffer,
            offset: source.offset,
            dims,
        };
        self.set_view(expand.dst, view);
        Ok(())
    }

    fn reinterpret(&mut self, reinterpret: &Reinterpret, site: SiteId) -> Outcome<()> {
        let source = self.view(reinterpret.src);
        let sizes = self.sizes(&reinterpret.sizes, site)?;
        let strides = self.numbers(&reinterpret.strides);
        let view = View {
            buffer: source.buffer,
            offset: self.number(reinterpret.offset),
            dims: sizes
                .iter()
                .zip(strides)
                .map(|(&size, stride)| Dim { size, stride })
                .collect(),
        };
        let len = self.buffer_len(&view, site)?;
        if !view.is_within(len) {
            let message = format!("reinterprets a buffer of {len} elements beyond its end");
            return Err(Box::new(Report::failed("pto:out-of-bounds", site, message)));
        }
        self.set_view(reinterpret.dst, view);
        Ok(())
    }

    /// The elements of the buffer of `view`.
    fn buffer_len(&self, view: &View, site: SiteId) -> Outcome<u64> {
        Ok(match &self.memory.buffer(view, site)?.storage {
            Storage::Host(host) => host.len() as u64,
            Storage::Psum(buffer) => u64::from(buffer.rows) * u64::from(buffer.columns),
            Storage::Tile(tile) => tile.len() as u64,
            Storage::Freed(_) => 0,
        })
    }

    fn view_cast(&mut self, cast: &ViewCast, site: SiteId) -> Outcome<()> {
        let view = self.view(cast.src).clone();
        if let Some(wrong) = contradiction(&view, cast) {
            return Err(Box::new(Report::failed("pto:shape", site, wrong)));
        }
        self.set_view(cast.dst, view);
        Ok(())
    }

    fn metadata(&mut self, metadata: &Metadata, site: SiteId) -> Outcome<()> {
        let view = self.view(metadata.src).clone();
        if self.buffer_len(&view, site)? == 0 {
            return Err(shape_report(
                site,
                "a buffer without elements has no first one",
            ));
        }
        self.set(metadata.offset, view.offset as u64);
        let slots = metadata.sizes.iter().zip(&metadata.strides);
        for (dim, (&size, &stride)) in view.dims.iter().zip(slots) {
            self.set(size, dim.size);
            self.set(stride, dim.stride as u64);
        }
        self.set_view(metadata.base, view.one(0));
        Ok(())
    }

    fn dim(&mut self, dst: ScalarSlot, view: ViewSlot, dim: Index, site: SiteId) -> Outcome<()> {
        let number = self.number(dim);
        let dims = &self.view(view).dims;
        let found = usize::try_from(number)
            .ok()
            .and_then(|number| dims.get(number));
        let Some(&Dim { size, .. }) = found else {
            let message = format!("dimension {number} of a memref of rank {}", dims.len());
            return Err(Box::new(Report::failed("pto:out-of-bounds", site, message)));
        };
        self.set(dst, size);
        Ok(())
    }

    /// The values of sizes: none may be negative.
    fn sizes(&self, sizes: &[Index], site: SiteId) -> Outcome<SmallVec<[u64; 4]>> {
        sizes.iter().map(|&size| self.size(size, site)).collect()
    }

    fn size(&self, size: Index, site: SiteId) -> Outcome<u64> {
        let size = self.number(size);
        u64::try_from(size)
            .map_err(|_| shape_report(site, &format!("a dimension of negative size {size}")))
    }
}

/// A view of `sizes` in a strided layout; dynamic parts are taken as row-major from the start.
fn strided(sizes: &[u64], layout: &Layout) -> Option<View> {
    let mut view = View::row_major(BufferId::NONE, sizes)?;
    view.offset = layout.offset.unwrap_or(0);
    for (dim, stride) in view.dims.iter_mut().zip(&layout.strides) {
        dim.stride = stride.unwrap_or(dim.stride);
    }
    Some(view)
}

/// Dimensions as one, if they step through memory as one.
fn merge(group: &[Dim]) -> Option<Dim> {
    let real = || group.iter().filter(|dim| dim.size != 1);
    let Some(inner) = real().next_back() else {
        let stride = group.last().map_or(1, |dim| dim.stride);
        return Some(Dim { size: 1, stride });
    };
    let mut size = 1u64;
    for dim in real().rev() {
        let expected = inner.stride.checked_mul(i64::try_from(size).ok()?)?;
        if size > 0 && dim.size > 0 && dim.stride != expected {
            return None;
        }
        size = size.checked_mul(dim.size)?;
    }
    Some(Dim {
        size,
        stride: inner.stride,
    })
}

/// Whether a part lies within its dimension. An empty one may begin at the very end.
fn is_inside(dim: Dim, (offset, size, step): (i64, u64, i64)) -> bool {
    let Some(last_number) = size.checked_sub(1) else {
        return (0..=dim.size).contains(&(offset as u64));
    };
    let reach = i64::try_from(last_number)
        .ok()
        .and_then(|last| last.checked_mul(step));
    let last = reach.and_then(|reach| offset.checked_add(reach));
    // A negative number is a huge one.
    last.is_some_and(|last| (last as u64) < dim.size && (offset as u64) < dim.size)
}

fn outside(
    number: usize,
    dim: Dim,
    (offset, size, step): (i64, u64, i64),
    site: SiteId,
) -> Box<Report> {
    let message = format!(
        "a subview of {size} from {offset} in steps of {step} leaves dimension {number}, which has {}",
        dim.size
    );
    Box::new(Report::failed("pto:out-of-bounds", site, message))
}

/// What the type of a cast claims and the view does not have.
fn contradiction(view: &View, cast: &ViewCast) -> Option<String> {
    if view.dims.len() != cast.sizes.len() {
        return Some(format!(
            "casts rank {} to rank {}",
            view.dims.len(),
            cast.sizes.len()
        ));
    }
    for (number, (dim, size)) in view.dims.iter().zip(&cast.sizes).enumerate() {
        if size.is_some_and(|size| size != dim.size) {
            let claimed = size.unwrap_or(0);
            return Some(format!(
                "casts dimension {number} of {} elements to {claimed}",
                dim.size
            ));
        }
    }
    let layout = cast.layout.as_ref()?;
    if layout.offset.is_some_and(|offset| offset != view.offset) {
        return Some(format!("casts a view at offset {} to another", view.offset));
    }
    let mut strides = view.dims.iter().zip(&layout.strides);
    let wrong = strides.position(|(dim, stride)| {
        dim.size > 1 && stride.is_some_and(|stride| stride != dim.stride)
    })?;
    let found = view.dims[wrong].stride;
    Some(format!(
        "casts dimension {wrong} with stride {found} to another stride"
    ))
}

fn shape_report(site: SiteId, message: &str) -> Box<Report> {
    Box::new(Report::unusable("pto:shape", site, message))
}
