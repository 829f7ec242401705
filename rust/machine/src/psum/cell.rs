//! The state of one physical PSUM cell, and how events change it.
//!
//! The models of START differ in what a cell is taken to *hold*, never in its state: one state map
//! serves them all, and each model reads from it what it needs.

use crate::report::SiteId;

use super::plane::Contents;

/// What START does to the cells of its zero region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StartModel {
    /// Each gets a pending bit: contents survive, the next PE write overwrites. Any other write
    /// clears the bit.
    WrittenBit,
    /// Each becomes +0.0 at once, and all PE writes add.
    EagerZero,
    /// As written-bit, but a write by another engine leaves the bit alone.
    StickyPending,
}

impl StartModel {
    /// The name as an option spells it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::WrittenBit => "written-bit",
            Self::EagerZero => "eager-zero",
            Self::StickyPending => "sticky-pending",
        }
    }
}

/// Where a cell stands in the life of an accumulation group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Nothing was ever written, no START has reached it.
    Undefined,
    /// A START has reached it, and no write since.
    Pending,
    /// It holds a partial sum of an open group.
    Partial,
    /// It holds plain data, or the sum of a closed group.
    Data,
}

/// The state of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    pub(crate) phase: Phase,
    /// A START hit contents that nothing has overwritten since.
    pub(crate) clobbered: bool,
    /// No write has reached it: where contents survive a START, there are none.
    empty: bool,
    /// A START has reached it, and no write since: where START clears at once, it holds zero.
    zeroed: bool,
    /// Written by another engine while pending: where the bit is sticky, it is still pending.
    sticky: bool,
    /// The instruction that put it into this state.
    pub(crate) site: SiteId,
}

impl Cell {
    /// A cell that holds nothing.
    pub(crate) const fn undefined() -> Self {
        Self {
            phase: Phase::Undefined,
            clobbered: false,
            empty: true,
            zeroed: false,
            sticky: false,
            site: SiteId::NONE,
        }
    }

    /// A cell just written with `phase`, by the PE or, if it is data, by any engine.
    const fn written(phase: Phase, site: SiteId) -> Self {
        Self {
            phase,
            clobbered: false,
            empty: false,
            zeroed: false,
            sticky: false,
            site,
        }
    }

    /// After a START at `site` whose region holds the cell.
    pub(crate) fn started(self, site: SiteId) -> Self {
        let had_contents = matches!(self.phase, Phase::Partial | Phase::Data);
        Self {
            phase: Phase::Pending,
            clobbered: self.clobbered || had_contents,
            zeroed: true,
            sticky: false,
            // The START that did the harm stays the one to name.
            site: if self.clobbered { self.site } else { site },
            ..self
        }
    }

    /// After an ACCUMULATE at `site` whose region holds the cell.
    pub(crate) fn resumed(self, site: SiteId) -> Self {
        let pending = self.phase == Phase::Pending;
        Self {
            phase: if pending { Phase::Data } else { self.phase },
            sticky: false,
            site: if pending && !self.clobbered {
                site
            } else {
                self.site
            },
            ..self
        }
    }

    /// After a PE write at `site`; `stops` says that it closes the group.
    pub(crate) const fn pe_written(stops: bool, site: SiteId) -> Self {
        Self::written(if stops { Phase::Data } else { Phase::Partial }, site)
    }

    /// After a write by another engine at `site`.
    pub(crate) fn overwritten(self, site: SiteId) -> Self {
        Self {
            sticky: self.sticky || self.phase == Phase::Pending,
            ..Self::written(Phase::Data, site)
        }
    }

    /// What a PE write under `model` adds to.
    pub(crate) fn added_to(self, model: StartModel) -> Contents {
        let pending = self.phase == Phase::Pending;
        match model {
            StartModel::WrittenBit if pending => Contents::Zero,
            StartModel::StickyPending if pending || self.sticky => Contents::Zero,
            _ => self.read(model),
        }
    }

    /// What a read under `model` sees.
    pub(crate) fn read(self, model: StartModel) -> Contents {
        if model == StartModel::EagerZero && self.zeroed {
            return Contents::Zero;
        }
        if self.empty {
            Contents::Poison
        } else {
            Contents::Word
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use StartModel::*;

    const START: SiteId = SiteId::new(1);
    const OTHER: SiteId = SiteId::new(2);

    #[test]
    fn a_start_leaves_contents_or_clears_them() {
        let data = Cell::undefined().overwritten(OTHER);
        let pending = data.started(START);
        assert!(pending.clobbered);
        assert_eq!(pending.site, START);
        assert_eq!(pending.read(WrittenBit), Contents::Word);
        assert_eq!(pending.read(EagerZero), Contents::Zero);
        for model in [WrittenBit, EagerZero, StickyPending] {
            assert_eq!(pending.added_to(model), Contents::Zero);
        }
        let again = pending.started(OTHER);
        assert_eq!(again.site, START, "the first one did the harm");
    }

    #[test]
    fn accumulate_brings_survivors_back() {
        let data = Cell::undefined().overwritten(OTHER);
        let resumed = data.started(START).resumed(OTHER);
        assert_eq!(resumed.phase, Phase::Data);
        assert!(resumed.clobbered);
        assert_eq!(resumed.added_to(WrittenBit), Contents::Word);
        assert_eq!(resumed.added_to(EagerZero), Contents::Zero);
        let nothing = Cell::undefined().started(START).resumed(OTHER);
        assert_eq!(nothing.added_to(WrittenBit), Contents::Poison);
        assert_eq!(Cell::undefined().resumed(START).phase, Phase::Undefined);
    }

    #[test]
    fn the_bit_is_sticky_in_one_model_only() {
        let seeded = Cell::undefined().started(START).overwritten(OTHER);
        assert_eq!(seeded.phase, Phase::Data);
        assert_eq!(seeded.added_to(WrittenBit), Contents::Word);
        assert_eq!(seeded.added_to(EagerZero), Contents::Word);
        assert_eq!(seeded.added_to(StickyPending), Contents::Zero);
        assert_eq!(
            seeded.overwritten(OTHER).added_to(StickyPending),
            Contents::Zero
        );
        assert_eq!(
            seeded.resumed(OTHER).added_to(StickyPending),
            Contents::Word
        );
        let written = Cell::pe_written(false, OTHER);
        assert_eq!(written.added_to(StickyPending), Contents::Word);
    }
}
