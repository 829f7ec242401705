//! Who else may touch what an instruction touches: instructions that run at the same time, and
//! iterations that run in any order.

use pto_ir::Interval;

use super::access::indices_of;
use super::{Memory, Storage, View};
use crate::concurrency::Access;
use crate::parallel::{Conflict, TooManyMarks};
use crate::report::{Outcome, Report, SiteId};

impl Memory {
    /// The instruction at hand, which is at `site`, touches the elements of `view`.
    ///
    /// # Errors
    /// Another iteration of a parallel loop touches them, and that ends runs.
    pub(crate) fn note_access(&mut self, view: &View, access: Access, site: SiteId) -> Outcome<()> {
        self.note_queue(view, access);
        self.note_iteration(view, access, site)
    }

    /// As [`Self::note_access`], of element `at` of the buffer of `view` alone.
    pub(super) fn note_element(
        &mut self,
        view: &View,
        at: usize,
        access: Access,
        site: SiteId,
    ) -> Outcome<()> {
        if self.psum.concurrency.is_none() && !self.parallel.is_watching() {
            return Ok(());
        }
        let one = view.one(at);
        self.note_queue(&one, access);
        self.note_part(view, &one, access, site)
    }

    /// For who looks for collisions: an access to a buffer outside PSUM; what is inside tells its
    /// cells itself.
    pub(super) fn note_queue(&mut self, view: &View, access: Access) {
        let Some(concurrency) = &mut self.psum.concurrency else {
            return;
        };
        let buffer = self.buffers.get(view.buffer.0 as usize);
        let (Some(Some(buffer)), Some((low, high))) = (buffer, view.extent()) else {
            return;
        };
        if matches!(buffer.storage, Storage::Host(_)) {
            // Views lie within their buffers; what is beyond the last number counts as the last.
            let bound = |element: i128| element.clamp(0, i128::from(u32::MAX) - 1) as u32;
            let elements = Interval::new(bound(low), bound(high) + 1);
            concurrency.buffer(buffer.serial, elements, access);
        }
    }

    /// For who looks for conflicts of parallel iterations: an access to any buffer.
    pub(super) fn note_iteration(
        &mut self,
        view: &View,
        access: Access,
        site: SiteId,
    ) -> Outcome<()> {
        self.note_part(view, view, access, site)
    }

    /// As [`Self::note_iteration`], of the elements of `part`, which are named as those of `view`.
    fn note_part(&mut self, view: &View, part: &View, access: Access, site: SiteId) -> Outcome<()> {
        if !self.parallel.is_watching() {
            return Ok(());
        }
        let Self {
            buffers, parallel, ..
        } = self;
        let Some(Some(buffer)) = buffers.get_mut(view.buffer.0 as usize) else {
            return Ok(());
        };
        if !parallel.watches(buffer.serial) {
            return Ok(());
        }
        let found = parallel.touch(&mut buffer.marks, &part.runs(), access, site);
        match found.map_err(|TooManyMarks| too_many_marks(site))? {
            Some(conflict) => self.report_conflict(view, access, &conflict, site),
            None => Ok(()),
        }
    }

    fn report_conflict(
        &mut self,
        view: &View,
        access: Access,
        conflict: &Conflict,
        site: SiteId,
    ) -> Outcome<()> {
        let verb = |access: Access| match access {
            Access::Read => "read",
            Access::Write => "written",
        };
        let place = format!(
            "element {:?}, {} here and {} there",
            indices_of(view, conflict.element),
            verb(access),
            verb(conflict.earlier_access),
        );
        let sites = (site, conflict.earlier, conflict.in_loop);
        self.psum.hazards.note_conflict(sites, &place)
    }
}

fn too_many_marks(site: SiteId) -> Box<Report> {
    let message = "parallel iterations touch more elements than can be looked after: run with \
                   --hazards=off";
    Box::new(Report::unusable("pto:memory-limit", site, message))
}
