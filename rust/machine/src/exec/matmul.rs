//! The PE matmul: operands to the array, sums to PSUM.

use pto_ir::{AccFlags, Interval, ZeroWindow};
use smallvec::SmallVec;

use super::checks::column_group;
use super::{Extent, Machine};
use crate::code::{ElementType, MatmulOp};
use crate::concurrency::Access;
use crate::formats::Format;
use crate::memory::{Buffer, Memory, Storage, View};
use crate::pe;
use crate::psum::{PeWrite, PsumBuffer, Region};
use crate::report::{Outcome, Report, SiteId};
use crate::stats::MatmulShape;
use crate::trace::AccessKind;

/// Multiply-adds that the array does in the time of one step.
const MULTIPLY_ADDS_PER_STEP: u64 = 1 << 14;

/// The operands that the PE array holds, so that one used again is not loaded again.
#[derive(Debug, Default)]
pub(super) struct LoadedOperands {
    stationary: Option<LoadedOperand>,
    moving: Option<LoadedOperand>,
}

/// What makes an operand the same: the place, and the contents.
#[derive(Debug, PartialEq, Eq)]
struct LoadedOperand {
    view: View,
    contents: (u64, u64),
}

/// Which operand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Stationary,
    Moving,
}

impl Machine<'_> {
    pub(super) fn matmul(&mut self, op: &MatmulOp, site: SiteId) -> Outcome<()> {
        self.begin(&op.op, site);
        let (depth, rows, columns) = self.matmul_shape(op, site)?;
        let work = depth.saturating_mul(rows).saturating_mul(columns);
        self.charge(work / MULTIPLY_ADDS_PER_STEP, site)?;
        self.check_matmul(op, (depth, rows, columns), site)?;
        let flags = self.effective_flags(op);
        let dst = self.view(op.dst).clone();
        let (region, window) = self.destination(op, &dst, flags, site)?;
        self.accesses(op.stationary, AccessKind::Read);
        self.accesses(op.moving, AccessKind::Read);
        if op.accumulator.is_some() {
            self.accesses(op.dst, AccessKind::Read);
        }
        self.accesses(op.dst, AccessKind::Write);
        self.load_operand(Role::Stationary, op, site)?;
        self.load_operand(Role::Moving, op, site)?;
        for operand in [op.stationary, op.moving] {
            let view = &self.views[self.view_base + operand.index()];
            self.memory.note_access(view, Access::Read, site)?;
        }
        let group = match self.config.extent {
            Extent::Group => column_group(op.tile, self.config.target),
            Extent::Destination => self.placed_partitions(&dst, &region, site)?,
        };
        let buffer = self.memory.buffer(&dst, site)?;
        let allocated = buffer.site;
        let cells = match &buffer.storage {
            Storage::Psum(buffer) => buffer.cells,
            _ => pe::CellType::F32,
        };
        let sums = self
            .pe
            .multiply(cells)
            .map_err(|error| operand_report(&error, site))?;
        let write = PeWrite {
            flags,
            window,
            group,
            accumulates: op.accumulator.is_some(),
            allocated,
            sums,
            site,
        };
        self.memory.pe_write(&dst, &region, &write)?;
        let shape = MatmulShape {
            depth,
            rows,
            columns,
        };
        self.stats.matmul(shape);
        let window = self.timed_window(op, &dst);
        self.time_matmul(op, flags, window, columns);
        Ok(())
    }

    /// K, M and N, on which all operands must agree.
    fn matmul_shape(&self, op: &MatmulOp, site: SiteId) -> Outcome<(u64, u64, u64)> {
        let dims = |slot| &self.view(slot).dims[..];
        let operands = (dims(op.stationary), dims(op.moving), dims(op.dst));
        if let (&[k, m], &[k2, n], &[m2, n2]) = operands
            && (k.size, m.size, n.size) == (k2.size, m2.size, n2.size)
        {
            return Ok((k.size, m.size, n.size));
        }
        let [stationary, moving, dst] =
            [op.stationary, op.moving, op.dst].map(|slot| self.view(slot).sizes());
        let message = format!(
            "expected operands [k, m] and [k, n] and a destination [m, n], found {stationary:?}, \
             {moving:?} and {dst:?}"
        );
        Err(Box::new(Report::unusable("pto:shape", site, message)))
    }

    /// The flags with what the predicates add.
    fn effective_flags(&self, op: &MatmulOp) -> AccFlags {
        let mut flags = op.flags.unwrap_or_default();
        if op.start_if.is_some_and(|slot| self.get(slot) != 0) {
            flags = flags.with(AccFlags::START);
        }
        if op.stop_if.is_some_and(|slot| self.get(slot) != 0) {
            flags = flags.with(AccFlags::STOP);
        }
        flags
    }

    /// The cells of the destination, and the banks of the zero region.
    fn destination(
        &self,
        op: &MatmulOp,
        dst: &View,
        flags: AccFlags,
        site: SiteId,
    ) -> Outcome<(Region, ZeroWindow)> {
        let buffer = self.memory.buffer(dst, site)?;
        let Storage::Psum(psum) = &buffer.storage else {
            let message = "expected a destination in psum";
            return Err(Box::new(Report::unusable("pto:space", site, message)));
        };
        if psum.cells == pe::CellType::Bf16 && !self.config.target.has_bf16_psum {
            let message = format!("psum of {} does not hold bf16", self.config.target.name);
            return Err(Box::new(Report::unusable(
                "pto:target-limit",
                site,
                message,
            )));
        }
        let region = self.engine_region(psum, dst, (site, buffer.site))?;
        self.check_accumulator(op, dst, buffer, site)?;
        self.check_tile_position(op, psum, &region, site)?;
        let window = self.zero_window(op, psum, &region, flags, site)?;
        Ok((region, window))
    }

    /// The PE adds into its destination: the accumulator must be the same cells.
    fn check_accumulator(
        &self,
        op: &MatmulOp,
        dst: &View,
        buffer: &Buffer,
        site: SiteId,
    ) -> Outcome<()> {
        let Some(accumulator) = op.accumulator.map(|slot| self.view(slot)) else {
            return Ok(());
        };
        if accumulator == dst {
            return Ok(());
        }
        let message = "expected the accumulator to be the destination, found other cells";
        let report = Report::unusable("pto:accumulator-elsewhere", site, message)
            .with_note(buffer.site, "the destination is allocated here");
        let other = self.memory.buffer(accumulator, site)?.site;
        Err(Box::new(
            report.with_note(other, "the accumulator is allocated here"),
        ))
    }

    /// The banks of the zero region: those of the code written, or the smallest that hold the
    /// destination.
    fn zero_window(
        &self,
        op: &MatmulOp,
        psum: &PsumBuffer,
        region: &Region,
        flags: AccFlags,
        site: SiteId,
    ) -> Outcome<ZeroWindow> {
        let target = self.config.target;
        let (Some(place), true) = (psum.placement, self.memory.psum.is_physical()) else {
            return Ok(ZeroWindow::of_bank(0, 0));
        };
        let first_byte = place.bank * target.bank_bytes + place.offset;
        let bank_of = |column: u32| (first_byte + column * target.cell_bytes) / target.bank_bytes;
        let (Some(first), Some(last)) = (region.columns.first(), region.columns.last()) else {
            return Ok(ZeroWindow::of_bank(place.bank, 0));
        };
        let (first, last) = (bank_of(first.start), bank_of(last.end - 1));
        let smallest = ZeroWindow::covering(first, last, target.banks, target.max_zero_region_code);
        let Some(smallest) = smallest else {
            let message = format!(
                "a group over banks {first} to {last} needs a zero region of several banks, which {} \
                 does not have",
                target.name
            );
            return Err(Box::new(Report::unusable("pto:multi-bank", site, message)));
        };
        let opens = flags.starts() || flags.accumulates();
        match op.zero_region {
            Some(code) if opens => Ok(ZeroWindow::of_bank(first, code)),
            _ => Ok(smallest),
        }
    }

    fn placed_partitions(&self, dst: &View, region: &Region, site: SiteId) -> Outcome<Interval> {
        let first = match &self.memory.buffer(dst, site)?.storage {
            Storage::Psum(buffer) => buffer.placement.map_or(0, |place| place.partition),
            _ => 0,
        };
        Ok(region.partitions.shifted(first))
    }

    /// Loads an operand into the array unless it is there.
    fn load_operand(&mut self, role: Role, op: &MatmulOp, site: SiteId) -> Outcome<()> {
        let slot = match role {
            Role::Stationary => op.stationary,
            Role::Moving => op.moving,
        };
        let view = &self.views[self.view_base + slot.index()];
        self.memory.check_defined(view, site)?;
        let (bytes, contents, element) = operand(&self.memory, view, site)?;
        let loaded = match role {
            Role::Stationary => &mut self.loaded.stationary,
            Role::Moving => &mut self.loaded.moving,
        };
        if loaded
            .as_ref()
            .is_some_and(|known| known.contents == contents && known.view == *view)
        {
            return Ok(());
        }
        let width = element.bytes() as isize;
        let dims: SmallVec<[(usize, isize); 4]> = view
            .dims
            .iter()
            .map(|dim| (dim.size as usize, dim.stride as isize * width))
            .collect();
        let (rows, inner) = match dims.split_first() {
            Some((&rows, inner)) => (rows, inner),
            None => ((1, 0), &dims[..]),
        };
        let offset = view.offset as usize * element.bytes();
        let source = pe::View::new(bytes, element, offset, rows, inner)
            .map_err(|error| operand_report(&error, site))?;
        match role {
            Role::Stationary => self.pe.load_stationary(&source),
            Role::Moving => self.pe.load_moving(&source),
        }
        *loaded = Some(LoadedOperand {
            view: view.clone(),
            contents,
        });
        Ok(())
    }
}

/// The bytes of an operand's buffer, a number for their state, and the type of its elements.
fn operand<'m>(
    memory: &'m Memory,
    view: &View,
    site: SiteId,
) -> Outcome<(&'m [u8], (u64, u64), pe::ElementType)> {
    let buffer = memory.buffer(view, site)?;
    let Some((host, contents)) = buffer.host() else {
        let message = "expected operands in sbuf, found psum";
        return Err(Box::new(Report::unusable("pto:space", site, message)));
    };
    let element = pe_element(buffer.element).ok_or_else(|| {
        let message = format!("the pe does not multiply {}", buffer.element);
        Box::new(Report::unusable("pto:element-type", site, message))
    })?;
    Ok((host.bytes(), contents, element))
}

fn pe_element(element: ElementType) -> Option<pe::ElementType> {
    Some(match element {
        ElementType::Float(Format::F32) => pe::ElementType::F32,
        ElementType::Float(Format::Tf32) => pe::ElementType::Tf32,
        ElementType::Float(Format::Bf16) => pe::ElementType::Bf16,
        ElementType::Float(Format::F16) => pe::ElementType::F16,
        ElementType::Float(Format::F8E5M2) => pe::ElementType::F8E5M2,
        ElementType::Float(Format::F8E4M3FN) => pe::ElementType::F8E4M3FN,
        ElementType::Float(Format::F8E3M4) => pe::ElementType::F8E3M4,
        ElementType::Int(8) => pe::ElementType::I8,
        ElementType::Uint(8) => pe::ElementType::U8,
        _ => return None,
    })
}

fn operand_report(error: &dyn std::fmt::Display, site: SiteId) -> Box<Report> {
    Box::new(Report::unusable("pto:shape", site, error.to_string()))
}
