//! Running a function: arguments in, arguments and results out.

use super::{Config, Machine};
use crate::code::{
    Allocate, Code, ElementType, FuncId, Index, Param, Slot, Space, ValueType, ViewType,
};
use crate::memory::{Kind, View, bits_of};
use crate::report::{Outcome, Report, SiteId};
use crate::stats::Stats;
use crate::tile::Arithmetic;
use crate::trace::Recorder;

/// The type of the elements of an [`Array`] that holds the whole words of a tile, as raw arithmetic
/// has them.
pub const TILE_WORD: ElementType = ElementType::Uint(64);

/// Elements with their shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// The type of an element.
    pub element: ElementType,
    /// The sizes.
    pub sizes: Vec<u64>,
    /// The elements, little endian, row-major.
    pub bytes: Vec<u8>,
}

/// The value of an argument of the entry function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// Nothing: a memref whose elements hold nothing, or a scalar that must not be used.
    Undefined,
    /// A scalar, as raw bits.
    Scalar(u64),
    /// The elements of a memref.
    Elements(Array),
}

/// A value after the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A scalar, as raw bits.
    Scalar(ElementType, u64),
    /// The elements of a memref; those that hold nothing are zero, and counted.
    Elements {
        /// The elements.
        array: Array,
        /// How many hold nothing.
        undefined: u64,
    },
    /// A value without contents.
    Token,
}

/// What a run gave.
#[derive(Debug)]
pub struct RunResult {
    /// Warnings, and the error that ended the run, if one did.
    pub reports: Vec<Report>,
    /// The arguments after the run, memrefs as the function left them; empty if it did not finish,
    /// unless a fault ended it.
    pub arguments: Vec<Value>,
    /// The results; empty if it did not finish.
    pub results: Vec<Value>,
    /// What it did.
    pub stats: Stats,
    /// Steps taken.
    pub steps: u64,
    /// Whether an operation on tiles ended the run with a fault.
    pub is_faulted: bool,
}

/// Runs `entry` of `code` with `inputs`, one for each argument (missing ones are undefined).
pub fn run(code: &Code, entry: FuncId, inputs: Vec<Input>, config: Config) -> RunResult {
    run_machine(Machine::new(code, config), entry, inputs).0
}

/// Runs `entry` on `machine`; hands back its recorder, if it has one.
pub(super) fn run_machine(
    mut machine: Machine<'_>,
    entry: FuncId,
    inputs: Vec<Input>,
) -> (RunResult, Option<Box<Recorder>>) {
    let outcome = machine.start(entry, inputs).and_then(|()| machine.run());
    let values = outcome.and_then(|()| machine.final_values(entry));
    let (ending, (arguments, results)) = match values {
        Ok(values) => (None, values),
        Err(report) => (Some(*report), machine.values_at_fault(entry)),
    };
    let Machine {
        mut memory,
        mut stats,
        steps,
        is_faulted,
        timeline,
        ..
    } = machine;
    let mut recorder = memory.psum.recorder.take();
    stats.cycles_in_all = timeline.map_or(0, |timeline| timeline.end());
    let mut reports = memory.psum.into_reports();
    if let (Some(recorder), Some(report)) = (&mut recorder, &ending) {
        recorder.problem(report);
    }
    reports.extend(ending);
    let result = RunResult {
        reports,
        arguments,
        results,
        stats,
        steps,
        is_faulted,
    };
    (result, recorder)
}

impl Machine<'_> {
    fn start(&mut self, entry: FuncId, inputs: Vec<Input>) -> Outcome<()> {
        let func = self.code.func(entry);
        if !func.has_body {
            let message = format!("@{} has no body", func.name);
            return Err(Box::new(Report::unusable(
                "pto:unsupported-op",
                func.site,
                message,
            )));
        }
        self.make_globals()?;
        self.push_frame(entry, None, SiteId::NONE);
        let mut inputs = inputs.into_iter();
        for (number, param) in func.params.iter().enumerate() {
            let input = inputs.next().unwrap_or(Input::Undefined);
            self.bind_argument(number, param, input, func.site)?;
        }
        Ok(())
    }

    fn make_globals(&mut self) -> Outcome<()> {
        for global in &self.code.globals {
            let kind = Kind {
                element: global.ty.element,
                rows: None,
            };
            let len = global
                .ty
                .sizes
                .iter()
                .fold(1u64, |len, size| len.saturating_mul(size.unwrap_or(0)));
            let buffer = match &global.contents {
                None => self.memory.allocate(kind, len, global.site)?,
                Some(contents) => self
                    .memory
                    .allocate_filled(kind, len, contents, global.site)?,
            };
            self.may_be_one(buffer, global.ty.space);
            self.globals.push(buffer);
        }
        Ok(())
    }

    fn bind_argument(
        &mut self,
        number: usize,
        param: &Param,
        input: Input,
        site: SiteId,
    ) -> Outcome<()> {
        match (&param.ty, param.slot, input) {
            (ValueType::View(ty), Slot::View(slot), input) => {
                let array = match input {
                    Input::Elements(array) => Some(array),
                    Input::Undefined => None,
                    Input::Scalar(_) => return Err(input_report(number, "a memref", site)),
                };
                let view = self.argument_buffer(number, ty, param, array, site)?;
                if !param.is_apart {
                    self.may_be_one(view.buffer, ty.space);
                }
                self.set_view(slot, view);
            }
            (ValueType::Scalar(_), Slot::Scalar(slot), Input::Scalar(bits)) => self.set(slot, bits),
            (ValueType::Scalar(_), Slot::Scalar(_), Input::Undefined) if param.is_used => {
                let message = format!("argument {number} is a scalar and needs an input");
                return Err(Box::new(Report::unusable("pto:input", site, message)));
            }
            (_, _, Input::Undefined) => {}
            _ => return Err(input_report(number, "a scalar", site)),
        }
        Ok(())
    }

    /// The buffer of a memref argument, with the elements given.
    fn argument_buffer(
        &mut self,
        number: usize,
        ty: &ViewType,
        param: &Param,
        array: Option<Array>,
        site: SiteId,
    ) -> Outcome<View> {
        let sizes = argument_sizes(number, ty, array.as_ref(), site)?;
        let allocate = Allocate {
            dst: crate::code::ViewSlot(0),
            element: ty.element,
            space: ty.space,
            sizes: sizes
                .iter()
                .map(|&size| Index::Constant(size as i64))
                .collect(),
            layout: ty.layout.clone(),
            placement: param.placement,
            capacity: None,
        };
        let view = self.new_buffer(&allocate, &sizes, site)?;
        if ty.space == Space::Psum && !param.is_fresh {
            self.memory.undefine_psum(&view, site)?;
        }
        if let Some(array) = array {
            if param.is_fresh {
                return Err(input_report(number, "a memref that holds nothing", site));
            }
            self.fill_argument(&view, &array, site)?;
        }
        Ok(view)
    }

    /// Writes the elements of an argument; those of a tile may be whole words.
    fn fill_argument(&mut self, view: &View, array: &Array, site: SiteId) -> Outcome<()> {
        match self.memory.tile_mut(view) {
            Some(tile) if array.element == TILE_WORD => {
                let words = array.bytes.chunks_exact(TILE_WORD.bytes());
                tile.set_words(words.map(bits_of).collect());
                Ok(())
            }
            _ => self.memory.write(view, &array.bytes, site),
        }
    }

    /// The arguments as a fault left them, which is as they were before the operation. Nothing where
    /// the run ended otherwise, or before the arguments were there.
    fn values_at_fault(&mut self, entry: FuncId) -> (Vec<Value>, Vec<Value>) {
        self.frames.truncate(1);
        self.use_top_frame();
        let arguments = self.is_faulted.then(|| self.arguments(entry).ok());
        (arguments.flatten().unwrap_or_default(), Vec::new())
    }

    fn arguments(&mut self, entry: FuncId) -> Outcome<Vec<Value>> {
        let func = self.code.func(entry);
        let params = func.params.iter();
        params
            .map(|param| self.value(&param.ty, param.slot, func.site))
            .collect()
    }

    /// The whole words of a tile, in raw arithmetic.
    fn raw_words(&mut self, view: &View) -> Option<Value> {
        if self.config.tiles.arithmetic != Arithmetic::Raw {
            return None;
        }
        let (bytes, undefined) = self.memory.tile_mut(view)?.words(view);
        let array = Array {
            element: TILE_WORD,
            sizes: view.sizes().to_vec(),
            bytes,
        };
        Some(Value::Elements { array, undefined })
    }

    /// Arguments and results after the run.
    fn final_values(&mut self, entry: FuncId) -> Outcome<(Vec<Value>, Vec<Value>)> {
        let func = self.code.func(entry);
        let arguments = self.arguments(entry)?;
        let results = func
            .results
            .iter()
            .zip(self.returned)
            .map(|(ty, &slot)| self.value(ty, slot, func.site))
            .collect::<Outcome<_>>()?;
        Ok((arguments, results))
    }

    fn value(&mut self, ty: &ValueType, slot: Slot, site: SiteId) -> Outcome<Value> {
        match (ty, slot) {
            (ValueType::Scalar(element), Slot::Scalar(slot)) => {
                Ok(Value::Scalar(*element, self.get(slot)))
            }
            (ValueType::View(ty), Slot::View(slot)) => {
                let view = self.view(slot).clone();
                if let Some(value) = self.raw_words(&view) {
                    return Ok(value);
                }
                let (bytes, undefined) = self.memory.read_defined(&view, site)?;
                let array = Array {
                    element: ty.element,
                    sizes: view.sizes().to_vec(),
                    bytes,
                };
                Ok(Value::Elements { array, undefined })
            }
            _ => Ok(Value::Token),
        }
    }
}

/// Whether elements of type `found` may be those of a memref of type `ty`.
fn are_elements(ty: &ViewType, found: ElementType) -> bool {
    found == ty.element || (found == TILE_WORD && matches!(ty.space, Space::Tile(_)))
}

/// The sizes of an argument: static ones, and the input's where dynamic.
fn argument_sizes(
    number: usize,
    ty: &ViewType,
    array: Option<&Array>,
    site: SiteId,
) -> Outcome<Vec<u64>> {
    let Some(array) = array else {
        let sizes: Option<Vec<u64>> = ty.sizes.iter().copied().collect();
        return sizes.ok_or_else(|| {
            let message = format!("argument {number} has dynamic sizes and needs an input");
            Box::new(Report::unusable("pto:input", site, message))
        });
    };
    if !are_elements(ty, array.element) {
        let message = format!(
            "argument {number} has {} elements, its input {}",
            ty.element, array.element
        );
        return Err(Box::new(Report::unusable("pto:input", site, message)));
    }
    let fits = ty.sizes.len() == array.sizes.len()
        && ty
            .sizes
            .iter()
            .zip(&array.sizes)
            .all(|(size, &found)| size.is_none_or(|size| size == found));
    if !fits {
        let found: Vec<Option<u64>> = array.sizes.iter().map(|&size| Some(size)).collect();
        let (expected, found) = (shape(&ty.sizes), shape(&found));
        let message = format!("argument {number} has sizes {expected}, its input {found}");
        return Err(Box::new(Report::unusable("pto:input", site, message)));
    }
    Ok(array.sizes.clone())
}

/// Sizes as text, `?` where dynamic.
fn shape(sizes: &[Option<u64>]) -> String {
    let size = |size: &Option<u64>| size.map_or("?".into(), |size| size.to_string());
    let sizes: Vec<String> = sizes.iter().map(size).collect();
    format!("[{}]", sizes.join(", "))
}

fn input_report(number: usize, expected: &str, site: SiteId) -> Box<Report> {
    let message = format!("argument {number} is {expected}, its input is not");
    Box::new(Report::unusable("pto:input", site, message))
}
