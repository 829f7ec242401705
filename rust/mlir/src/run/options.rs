//! The command line of `pto-run`.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};
use pto_machine::exec::{DEFAULT_MAX_STEPS, Extent, TileConfig};
use pto_machine::hazards::HazardPolicy;
use pto_machine::parallel::Order;
use pto_machine::psum::StartModel;
use pto_machine::random::Distribution;
use pto_machine::tile::Arithmetic;

/// Runs a program of the pto dialect and checks what it reads: under the reference meaning and on the
/// machine, bit for bit.
///
/// Exit status: 0 fine (warnings included); 1 an expectation, a comparison or an error hazard failed;
/// 2 the input cannot be run.
#[derive(Clone, Debug, Parser)]
#[command(name = "pto-run", version, max_term_width = 100)]
pub(crate) struct Options {
    /// The program, text or bytecode; `-` is standard input
    pub(crate) file: String,

    /// Function to run [default: main, or the only function]
    #[arg(long, value_name = "NAME")]
    pub(crate) entry: Option<String>,

    /// Meanings to run: all is the reference, written-bit and eager-zero, every read compared
    #[arg(long, value_enum, default_value_t = Model::All)]
    pub(crate) model: Model,

    /// Partitions that a START reaches: its column group, or those of its destination
    #[arg(long, value_enum, default_value_t = ExtentName::Group)]
    pub(crate) extent: ExtentName,

    /// The machine: trn1, trn2, trn3, nogroup or tile [default: the module's, or tile for a
    /// program on tiles, or trn2]
    #[arg(long, value_name = "NAME")]
    pub(crate) target: Option<String>,

    /// What a multiply-add on tiles does: f32 steps on numbers, or words modulo 2^64
    #[arg(long, value_enum, default_value_t = ArithmeticName::Ieee)]
    pub(crate) arith: ArithmeticName,

    /// The processing element, 0 to 3, whose rows of a Shared left tile are computed [default: the
    /// first that has as many as the destination]
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(0..=3))]
    pub(crate) pe: Option<u32>,

    /// The program is the form before tiles have registers: an accumulator may be its destination,
    /// overwritten if it holds nothing, and tiles take no room
    #[arg(long)]
    pub(crate) unassigned_tiles: bool,

    /// Argument number K is the array in a .npy file, or a number if it is a scalar; may be repeated
    #[arg(long = "input", value_name = "K=FILE", value_parser = parse_input)]
    pub(crate) inputs: Vec<(usize, PathBuf)>,

    /// Arguments without --input are random instead of undefined
    #[arg(long)]
    pub(crate) random_inputs: bool,

    /// Seed of the random arguments and of shuffled iterations
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,

    /// How random arguments are spread: integers from -4 to 4, normally, or any bits
    #[arg(long, value_enum, default_value_t = DistributionName::SmallInt)]
    pub(crate) dist: DistributionName,

    /// Write every memref argument to DIR/argK.npy and every result to DIR/resK.npy
    #[arg(long, value_name = "DIR")]
    pub(crate) output_dir: Option<PathBuf>,

    /// What hazards are
    #[arg(long, value_enum, default_value_t = HazardsName::Error)]
    pub(crate) hazards: HazardsName,

    /// The order in which iterations of parallel loops run
    #[arg(long, value_enum, default_value_t = OrderName::Forward)]
    pub(crate) parallel_order: OrderName,

    /// Print counts: instructions, cycles, multiply-adds, bytes moved
    #[arg(long, value_enum, value_name = "FORMAT", num_args = 0..=1, require_equals = true,
          default_missing_value = "text")]
    pub(crate) stats: Option<StatsFormat>,

    /// Write the run as Chrome trace events, for Perfetto: engines, banks and dependences
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,

    /// Write the run as one HTML page: banks over time, groups, pending cells, hazards
    #[arg(long, value_name = "FILE")]
    pub(crate) timeline: Option<PathBuf>,

    /// Stop after N steps
    #[arg(long, value_name = "N", default_value_t = DEFAULT_MAX_STEPS)]
    pub(crate) max_steps: u64,
}

/// `--model`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Model {
    All,
    Reference,
    WrittenBit,
    EagerZero,
    StickyPending,
}

impl Model {
    /// The one model of START that is asked for by name.
    pub(super) fn start_model(self) -> Option<StartModel> {
        match self {
            Self::All | Self::Reference => None,
            Self::WrittenBit => Some(StartModel::WrittenBit),
            Self::EagerZero => Some(StartModel::EagerZero),
            Self::StickyPending => Some(StartModel::StickyPending),
        }
    }
}

/// `--extent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExtentName {
    Group,
    Dst,
}

impl From<ExtentName> for Extent {
    fn from(name: ExtentName) -> Self {
        match name {
            ExtentName::Group => Self::Group,
            ExtentName::Dst => Self::Destination,
        }
    }
}

/// `--arith`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ArithmeticName {
    /// Products and sums each rounded to f32, integers modulo 2^32
    Ieee,
    /// Payload words modulo 2^64, whatever their type
    Raw,
}

impl From<ArithmeticName> for Arithmetic {
    fn from(name: ArithmeticName) -> Self {
        match name {
            ArithmeticName::Ieee => Self::Ieee,
            ArithmeticName::Raw => Self::Raw,
        }
    }
}

/// `--hazards`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum HazardsName {
    /// Those that are errors end the run, the others are warnings
    Error,
    /// The same, and instructions that may collide because nothing orders them
    Async,
    /// All are warnings
    Warn,
    /// None is reported
    Off,
}

impl From<HazardsName> for HazardPolicy {
    fn from(name: HazardsName) -> Self {
        match name {
            HazardsName::Error => Self::Error,
            HazardsName::Async => Self::Async,
            HazardsName::Warn => Self::Warn,
            HazardsName::Off => Self::Off,
        }
    }
}

/// `--parallel-order`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OrderName {
    /// As those of a sequential loop
    Forward,
    /// The last one first
    Reverse,
    /// Shuffled by --seed
    Shuffle,
}

/// `--dist`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DistributionName {
    SmallInt,
    Normal,
    Bits,
}

impl From<DistributionName> for Distribution {
    fn from(name: DistributionName) -> Self {
        match name {
            DistributionName::SmallInt => Self::SmallInt,
            DistributionName::Normal => Self::Normal,
            DistributionName::Bits => Self::Bits,
        }
    }
}

/// `--stats`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StatsFormat {
    Text,
    Json,
}

fn parse_input(text: &str) -> Result<(usize, PathBuf), String> {
    let (number, file) = text
        .split_once('=')
        .ok_or("expected K=FILE, such as 0=a.npy, or K=NUMBER")?;
    let number = number
        .parse()
        .map_err(|_| format!("expected an argument number, found {number}"))?;
    Ok((number, PathBuf::from(file)))
}

/// A command line, read.
pub(crate) enum Parsed {
    /// Something to run.
    Run(Box<Options>),
    /// Nothing to run: help, the version, or a mistake.
    Exit {
        /// The exit status.
        status: u8,
        /// What to print.
        text: String,
        /// Whether it goes to standard error.
        is_error: bool,
    },
}

impl Options {
    /// How operations on tiles are executed.
    pub(super) fn tiles(&self) -> TileConfig {
        TileConfig {
            arithmetic: self.arith.into(),
            element: self.pe,
            is_unassigned: self.unassigned_tiles,
        }
    }

    /// The order in which iterations of parallel loops run.
    pub(super) fn order(&self) -> Order {
        match self.parallel_order {
            OrderName::Forward => Order::Forward,
            OrderName::Reverse => Order::Reverse,
            OrderName::Shuffle => Order::Shuffled(self.seed),
        }
    }

    /// Whether the run is to be recorded.
    pub(super) fn is_looked_at(&self) -> bool {
        self.trace.is_some() || self.timeline.is_some()
    }

    /// Reads a command line, the first argument being the name of the program.
    pub(crate) fn parse_from_args(args: &[String]) -> Parsed {
        match Self::try_parse_from(args) {
            Ok(options) => Parsed::Run(Box::new(options)),
            Err(error) => Parsed::Exit {
                status: u8::try_from(error.exit_code()).unwrap_or(2),
                text: error.to_string(),
                is_error: error.use_stderr(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(args: &[&str]) -> Parsed {
        let args: Vec<String> = std::iter::once("pto-run")
            .chain(args.iter().copied())
            .map(String::from)
            .collect();
        Options::parse_from_args(&args)
    }

    #[test]
    fn a_full_command_line() {
        let Parsed::Run(options) = parse(&[
            "a.mlir",
            "--model=written-bit",
            "--input=0=a.npy",
            "--input=2=b=c.npy",
            "--stats=json",
            "--extent=dst",
            "--hazards=off",
        ]) else {
            panic!("options");
        };
        assert_eq!(options.model, Model::WrittenBit);
        assert_eq!(options.inputs[1], (2, PathBuf::from("b=c.npy")));
        assert_eq!(options.stats, Some(StatsFormat::Json));
        assert_eq!(options.max_steps, 1_000_000_000);
    }

    #[test]
    fn stats_needs_no_value_and_takes_none_after_a_blank() {
        let Parsed::Run(options) = parse(&["--stats", "-"]) else {
            panic!("options");
        };
        assert_eq!(
            (options.stats, options.file.as_str()),
            (Some(StatsFormat::Text), "-")
        );
    }

    #[test]
    fn help_is_fine_and_mistakes_are_not() {
        let exit = |args: &[&str]| match parse(args) {
            Parsed::Exit {
                status, is_error, ..
            } => (status, is_error),
            Parsed::Run(_) => panic!("an exit"),
        };
        assert_eq!(exit(&["--help"]), (0, false));
        assert_eq!(exit(&["--version"]), (0, false));
        assert_eq!(exit(&[]), (2, true));
        assert_eq!(exit(&["a.mlir", "--model=none"]), (2, true));
        assert_eq!(exit(&["a.mlir", "--input=x.npy"]), (2, true));
    }
}
