//! Making a [`Func`].

use super::{Func, Inst, Label, Param, ScalarSlot, Slot, ValueType, ViewSlot};
use crate::report::SiteId;

/// Builds a function, instruction by instruction.
#[derive(Debug)]
pub struct FuncBuilder {
    func: Func,
    /// The instruction each label stands before; `None` until bound.
    labels: Vec<Option<u32>>,
}

impl FuncBuilder {
    /// A function `name` without arguments or instructions.
    pub fn new(name: impl Into<String>, site: SiteId) -> Self {
        Self {
            func: Func {
                name: name.into(),
                site,
                params: Vec::new(),
                results: Vec::new(),
                has_body: true,
                is_provisional: false,
                insts: Vec::new(),
                sites: Vec::new(),
                constants: Vec::new(),
                scalars: 0,
                views: 0,
            },
            labels: Vec::new(),
        }
    }

    /// Says that the function has no body.
    pub fn set_declaration(&mut self) {
        self.func.has_body = false;
    }

    /// Says that its flags are provisional.
    pub fn set_provisional(&mut self) {
        self.func.is_provisional = true;
    }

    /// A new scalar slot.
    pub fn scalar(&mut self) -> ScalarSlot {
        self.func.scalars += 1;
        ScalarSlot(self.func.scalars - 1)
    }

    /// A new slot for a memref.
    pub fn view(&mut self) -> ViewSlot {
        self.func.views += 1;
        ViewSlot(self.func.views - 1)
    }

    /// A slot that holds `bits` from the beginning.
    pub fn constant(&mut self, bits: u64) -> ScalarSlot {
        let slot = self.scalar();
        self.func.constants.push((slot, bits));
        slot
    }

    /// Adds an argument of type `ty` in a new slot, without placement.
    pub fn param(&mut self, ty: ValueType) -> Slot {
        let slot = match ty {
            ValueType::View(_) => Slot::View(self.view()),
            ValueType::Scalar(_) | ValueType::Token => Slot::Scalar(self.scalar()),
        };
        self.push_param(Param {
            ty,
            slot,
            is_used: true,
            placement: None,
            is_fresh: false,
            is_apart: false,
        });
        slot
    }

    /// Adds an argument.
    pub fn push_param(&mut self, param: Param) {
        self.func.params.push(param);
    }

    /// Adds a result.
    pub fn push_result(&mut self, ty: ValueType) {
        self.func.results.push(ty);
    }

    /// A new label, not bound yet.
    pub fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() as u32 - 1)
    }

    /// Puts `label` before the next instruction.
    pub fn bind(&mut self, label: Label) {
        self.labels[label.0 as usize] = Some(self.func.insts.len() as u32);
    }

    /// Appends an instruction.
    pub fn push(&mut self, inst: Inst, site: SiteId) {
        self.func.insts.push(inst);
        self.func.sites.push(site);
    }

    /// The finished function; `None` if a label that is used was never bound.
    pub fn finish(mut self) -> Option<Func> {
        let mut all_bound = true;
        for inst in &mut self.func.insts {
            inst.for_each_label(|label| match self.labels[label.0 as usize] {
                Some(place) => label.0 = place,
                None => all_bound = false,
            });
        }
        all_bound.then_some(self.func)
    }
}
