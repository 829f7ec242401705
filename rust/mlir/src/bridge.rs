//! The functions that C++ calls. Addresses of MLIR objects cross as integers.
//!
//! Nothing unwinds into C++: a panic becomes an error like any other, and the host compiler prints
//! it as a diagnostic.

// What cxx generates is `pub`.
#![allow(unreachable_pub)]

use std::panic::{AssertUnwindSafe, catch_unwind};

use anyhow::{Result, anyhow};
use mlir_sys::MlirOperation;

use crate::diag::Message;
use crate::handle::Op;
use crate::{pass, run, words};

#[cxx::bridge(namespace = "pto_rust")]
pub(crate) mod ffi {
    /// A pass over one function.
    #[derive(Debug)]
    enum Pass {
        OrderColumnTiles,
        MarkFirst,
        ResetAcc,
        LegalizeAcc,
        VerifyAcc,
        AllocPsum,
        Schedule,
        PrintPsum,
        DumpDeps,
        /// No pass of its own: what an editor tells of each matmul, as remarks.
        Explain,
    }

    /// The options of all passes; a pass looks at its own. Empty text means the default.
    #[derive(Clone, Debug, Default)]
    struct Options {
        /// The name of a target; wins over the module's.
        target: String,
        /// `pto-legalize-acc`: `sound` or `naive`.
        profile: String,
        /// `pto-legalize-acc`: `chain` or `cluster`.
        stop: String,
        /// `pto-legalize-acc`: `predicate` or `memset`.
        loops: String,
        /// `pto-legalize-acc`: `order` or `leave`.
        collisions: String,
        /// `pto-legalize-acc`: warnings about what the flags mean are errors.
        strict: bool,
        /// `pto-legalize-acc`: prove the result equal to the original before it is applied.
        validate: bool,
        /// `pto-legalize-acc`: folder for one report a function.
        report_dir: String,
        /// `pto-order-column-tiles`: a member at the origin ends the run.
        restart_at_origin: bool,
        /// `pto-order-column-tiles`: only PE instructions end a run.
        ignore_other_engines: bool,
        /// `pto-verify-acc`: `both`, `written-bit` or `eager-zero`.
        model: String,
        /// `pto-verify-acc`: `both`, `group` or `dst`.
        extent: String,
        /// `pto-verify-acc`: also check a machine whose pending bits outlive other engines' writes.
        sticky: bool,
        /// `pto-verify-acc`: warnings are errors.
        werror: bool,
        /// `pto-alloc-psum`: begin each search behind the bank given out last.
        rotate: bool,
        /// `pto-alloc-psum`: several buffers in one bank.
        pack: bool,
        /// `pto-alloc-psum`: the banks that may be used, as `a-b`.
        banks: String,
        /// `pto-schedule`: the seed of a random legal order; negative for none.
        shuffle_seed: i64,
        /// Whether anyone reads remarks.
        remarks: bool,
    }

    /// How a message is printed.
    #[derive(Debug)]
    enum Severity {
        Remark,
        Warning,
        Error,
    }

    /// A note of a message.
    struct Note {
        /// The address of an `mlir::Location`.
        location: usize,
        /// The sentence.
        text: String,
    }

    /// A message to print.
    struct Message {
        severity: Severity,
        /// The name of a remark.
        name: String,
        /// The address of an `mlir::Location`.
        location: usize,
        /// The sentence, with its tag unless it is a remark.
        text: String,
        notes: Vec<Note>,
    }

    /// What a pass did to one function.
    #[derive(Default)]
    struct Outcome {
        /// Whether the pass failed. Then the function is as it was.
        failed: bool,
        /// Whether the function was changed.
        changed: bool,
        /// What to print, in order.
        messages: Vec<Message>,
        /// Matmuls whose flags changed.
        flags: u64,
        /// Memsets inserted.
        memsets: u64,
        /// Ordering edges added.
        edges: u64,
        /// Operations erased.
        erased: u64,
        /// Buffers placed.
        placed: u64,
        /// Tile ISA: matmuls that lost their accumulator.
        heads: u64,
        /// Tile ISA: tiles allocated.
        tiles: u64,
        /// Tile ISA: copies of tiles inserted.
        copies: u64,
        /// Blocks in a new order.
        reordered: u64,
        /// What an analysis has to show.
        text: String,
    }

    /// A command line of `pto-run`, read.
    struct RunRequest {
        /// The file to run; empty if there is nothing to run.
        file: String,
        /// Otherwise: the exit status,
        status: u8,
        /// what to print,
        text: String,
        /// and whether it goes to standard error.
        is_error: bool,
    }

    /// What a run of `pto-run` gave.
    #[derive(Default)]
    struct RunOutcome {
        /// The exit status.
        status: u8,
        /// What goes to standard output.
        output: String,
        /// What to print, in order.
        messages: Vec<Message>,
        /// What the arguments and results hold, if it was asked for and the run came to its end.
        values: Vec<Buffer>,
    }

    /// The value of one argument or result of a run.
    struct Buffer {
        /// Its number among the arguments, or among the results.
        number: usize,
        is_result: bool,
        /// The element type, as MLIR spells it; not looked at in an argument.
        element: String,
        /// The sizes; an argument may leave them out where its type has them.
        sizes: Vec<u64>,
        /// The elements, little endian, row-major, without gaps.
        bytes: Vec<u8>,
    }

    /// Command words, or why there are none.
    #[derive(Default)]
    struct Words {
        /// The document, as JSON; empty where there are messages.
        text: String,
        /// What to print, in order.
        messages: Vec<Message>,
    }

    /// A note of a message, printed.
    struct TextNote {
        /// Line and column, or the location as MLIR prints it.
        location: String,
        text: String,
    }

    /// A message, printed.
    struct TextMessage {
        severity: Severity,
        location: String,
        text: String,
        notes: Vec<TextNote>,
    }

    /// What became of a text.
    #[derive(Default)]
    struct TextOutcome {
        /// As the exit status of the tools.
        status: u8,
        /// The module after the passes, or what the run prints.
        text: String,
        messages: Vec<TextMessage>,
        /// What the arguments and results of a run hold.
        values: Vec<Buffer>,
    }

    unsafe extern "C++" {
        include!("PTO/Execution/Text.h");

        #[cxx_name = "transformText"]
        fn transform_text(text: &str, pipeline: &str) -> TextOutcome;

        #[cxx_name = "interpretText"]
        fn interpret_text(text: &str, args: &[String], inputs: &[Buffer]) -> TextOutcome;
    }

    extern "Rust" {
        /// The command words of the tile operations in the module at address `module`.
        ///
        /// # Safety
        ///
        /// `module` is the address of a live `mlir::Operation` that no other thread changes
        /// before this returns.
        #[cxx_name = "exportWords"]
        unsafe fn export_words(module: usize) -> Result<Words>;

        /// The module, as text, of the operations whose command words are `text`. An error says
        /// what is wrong with them.
        #[cxx_name = "importWords"]
        fn import_words(text: &str) -> Result<String>;

        /// Reads the command line of `pto-run`, the first argument being its name.
        #[cxx_name = "parseRunArguments"]
        fn parse_run_arguments(args: &[String]) -> RunRequest;

        /// Runs the module at address `module` as the command line `args` says.
        ///
        /// # Safety
        ///
        /// `module` is the address of a live `mlir::Operation` that no other thread changes
        /// before this returns.
        #[cxx_name = "runModule"]
        unsafe fn run_module(module: usize, args: &[String]) -> Result<RunOutcome>;

        /// As `runModule`, with `inputs` as arguments and the values after the run in the outcome.
        ///
        /// # Safety
        ///
        /// As for `runModule`.
        #[cxx_name = "runModuleOn"]
        unsafe fn run_module_on(
            module: usize,
            args: &[String],
            inputs: &[Buffer],
        ) -> Result<RunOutcome>;

        /// Says in an error what is wrong with `options`, if anything is.
        #[cxx_name = "checkOptions"]
        fn check_options(pass: Pass, options: &Options) -> Result<()>;

        /// Runs `pass` on the function-like operation at address `function`, for the target
        /// called `target` (empty: the default one). An error is a fault of the pass; the function is as it was.
        ///
        /// # Safety
        ///
        /// `function` is the address of a live `mlir::Operation` that no other thread changes
        /// before this returns.
        #[cxx_name = "runPass"]
        unsafe fn run_pass(
            pass: Pass,
            function: usize,
            target: &str,
            options: &Options,
        ) -> Result<Outcome>;

        /// Compares the values of the function at address `function` with those of the one at
        /// address `original`. `sticky` also runs the machine whose pending bits outlive the writes
        /// of other engines. Nothing is changed.
        ///
        /// # Safety
        ///
        /// Both are addresses of live `mlir::Operation`s of one context that no other thread
        /// changes before this returns.
        #[cxx_name = "compareFunctions"]
        unsafe fn compare_functions(
            original: usize,
            function: usize,
            target: &str,
            sticky: bool,
        ) -> Result<Outcome>;
    }
}

fn check_options(pass: ffi::Pass, options: &ffi::Options) -> Result<()> {
    guarded(|| pass::Choice::of(pass, options).map(|_| ()))
}

/// # Safety
///
/// See the declaration in the bridge module.
unsafe fn run_pass(
    pass: ffi::Pass,
    function: usize,
    target: &str,
    options: &ffi::Options,
) -> Result<ffi::Outcome> {
    // SAFETY: the caller promises it.
    let function = unsafe {
        Op::from_raw(MlirOperation {
            ptr: function as *mut _,
        })
    };
    guarded(|| {
        let choice = pass::Choice::of(pass, options)?;
        Ok(pass::run(&choice, function, target, options))
    })
}

/// # Safety
///
/// See the declaration in the bridge module.
unsafe fn compare_functions(
    original: usize,
    function: usize,
    target: &str,
    sticky: bool,
) -> Result<ffi::Outcome> {
    let [original, function] = [original, function].map(|address| {
        // SAFETY: the caller promises it.
        unsafe {
            Op::from_raw(MlirOperation {
                ptr: address as *mut _,
            })
        }
    });
    guarded(|| Ok(pass::compare(original, function, target, sticky)))
}

fn parse_run_arguments(args: &[String]) -> ffi::RunRequest {
    match run::Options::parse_from_args(args) {
        run::Parsed::Run(options) => ffi::RunRequest {
            file: options.file,
            status: 0,
            text: String::new(),
            is_error: false,
        },
        run::Parsed::Exit {
            status,
            text,
            is_error,
        } => ffi::RunRequest {
            file: String::new(),
            status,
            text,
            is_error,
        },
    }
}

/// # Safety
///
/// See the declaration in the bridge module.
unsafe fn run_module(module: usize, args: &[String]) -> Result<ffi::RunOutcome> {
    // SAFETY: the caller promises it.
    unsafe { execute(module, args, run::Memory::Unused) }
}

/// # Safety
///
/// See the declaration in the bridge module.
unsafe fn run_module_on(
    module: usize,
    args: &[String],
    inputs: &[ffi::Buffer],
) -> Result<ffi::RunOutcome> {
    // SAFETY: the caller promises it.
    unsafe { execute(module, args, run::Memory::Used(inputs)) }
}

/// # Safety
///
/// `module` is the address of a live `mlir::Operation` that no other thread changes before this
/// returns.
unsafe fn execute(
    module: usize,
    args: &[String],
    memory: run::Memory<'_>,
) -> Result<ffi::RunOutcome> {
    // SAFETY: the caller promises it.
    let module = unsafe {
        Op::from_raw(MlirOperation {
            ptr: module as *mut _,
        })
    };
    guarded(|| {
        let options = match run::Options::parse_from_args(args) {
            run::Parsed::Run(options) => options,
            run::Parsed::Exit { text, .. } => return Err(anyhow!("{} [pto:option]", text.trim())),
        };
        let outcome = run::execute(module, &options, memory);
        Ok(ffi::RunOutcome {
            status: outcome.status,
            output: outcome.output,
            messages: outcome.messages.into_iter().map(Into::into).collect(),
            values: outcome.values,
        })
    })
}

/// # Safety
///
/// See the declaration in the bridge module.
unsafe fn export_words(module: usize) -> Result<ffi::Words> {
    // SAFETY: the caller promises it.
    let module = unsafe {
        Op::from_raw(MlirOperation {
            ptr: module as *mut _,
        })
    };
    guarded(|| {
        Ok(match words::export::export(module) {
            Ok(text) => ffi::Words {
                text,
                messages: Vec::new(),
            },
            Err(messages) => ffi::Words {
                text: String::new(),
                messages: messages.into_iter().map(Into::into).collect(),
            },
        })
    })
}

fn import_words(text: &str) -> Result<String> {
    guarded(|| words::import::import(text).map_err(|refusal| anyhow!(refusal.0)))
}

/// The result of `body`, a panic being an error.
fn guarded<T>(body: impl FnOnce() -> Result<T>) -> Result<T> {
    // What `body` may leave broken is not used after a panic: it lives in the closure.
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|panic| {
        let text = panic
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned())
            .or_else(|| panic.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "unknown panic".to_owned());
        Err(anyhow!("internal error: {text} [pto:internal]"))
    })
}

impl From<Message> for ffi::Message {
    fn from(message: Message) -> Self {
        Self {
            severity: match message.severity {
                pto_ir::Severity::Remark => ffi::Severity::Remark,
                pto_ir::Severity::Warning => ffi::Severity::Warning,
                pto_ir::Severity::Error => ffi::Severity::Error,
            },
            name: message.name.to_owned(),
            location: message.location.raw().ptr as usize,
            text: message.text,
            notes: message
                .notes
                .into_iter()
                .map(|(location, text)| ffi::Note {
                    location: location.raw().ptr as usize,
                    text,
                })
                .collect(),
        }
    }
}
