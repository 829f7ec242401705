//! Faults: the four kinds an operation can raise, and the stable tag of each rule behind them.
//!
//! A fault leaves the machine as it was: sources, Shared state, flags and allocation.

use std::fmt;

/// The architectural kind of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaultKind {
    /// An encoding that does not decode.
    IllegalInstruction,
    /// Commands of a block in the wrong order or number.
    BundleControl,
    /// Operands or fields that do not fit together, or sources that are not ready.
    TileLegality,
    /// The destinations cannot be allocated.
    TileAllocation,
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FaultKind::IllegalInstruction => "IllegalInstruction",
            FaultKind::BundleControl => "BundleControl",
            FaultKind::TileLegality => "TileLegality",
            FaultKind::TileAllocation => "TileAllocation",
        })
    }
}

/// Declares the rules once: the enum, its table of kinds, tags and summaries, and the list.
macro_rules! rules {
    ($($rule:ident: $kind:ident $tag:literal $summary:literal;)*) => {
        /// A rule an operation can break. The tag is stable: tests and users match on it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Rule {
            $(#[doc = $summary] $rule,)*
        }

        impl Rule {
            /// Every rule, in the order of the list above.
            pub const ALL: &'static [Rule] = &[$(Rule::$rule),*];

            /// The kind of fault the rule raises.
            pub fn kind(self) -> FaultKind {
                match self {
                    $(Rule::$rule => FaultKind::$kind,)*
                }
            }

            /// The stable tag, without brackets.
            pub fn tag(self) -> &'static str {
                match self {
                    $(Rule::$rule => $tag,)*
                }
            }

            /// One sentence saying what the rule demands.
            pub fn summary(self) -> &'static str {
                match self {
                    $(Rule::$rule => $summary,)*
                }
            }
        }
    };
}

rules! {
    UndecodableFunction: IllegalInstruction "pto:tile-function"
        "The CUBE function code is one of the twelve that are assigned.";
    ReservedField: IllegalInstruction "pto:tile-reserved"
        "Reserved bits are zero and coded fields hold assigned values.";
    MissingPost: BundleControl "pto:tile-fpatr-missing"
        "A matrix block carries one B.FPATR command.";
    DuplicatePost: BundleControl "pto:tile-fpatr-duplicate"
        "A matrix block carries only one B.FPATR command.";
    LatePost: BundleControl "pto:tile-fpatr-order"
        "B.FPATR comes before any command that binds operands of some processing element.";
    ForeignPost: BundleControl "pto:tile-fpatr-not-matrix"
        "B.FPATR belongs to matrix blocks only.";
    TypePair: TileLegality "pto:tile-type-pair"
        "The two input types belong to one class (or are both MX types).";
    SharedCount: TileLegality "pto:tile-shared-count"
        "Shared operands are the whole right group, both groups, or none.";
    SourceCount: TileLegality "pto:tile-source-count"
        "The Local source stream holds exactly the operands the operation takes.";
    DestinationCount: TileLegality "pto:tile-destination-count"
        "The destinations are D, and one more for each of RowMax and GroupMax.";
    StreamEnd: TileLegality "pto:tile-stream-end"
        "The last B.IOT command of the source stream says that it is the last.";
    ScalarParameters: TileLegality "pto:tile-scalar-parameters"
        "B.IOR supplies exactly the scalar parameters the modes take.";
    RoundingFields: TileLegality "pto:tile-rounding-fields"
        "RMode and Sat are given only where the mode leaves them free.";
    AttributeFields: TileLegality "pto:tile-attribute-fields"
        "B.DATR carries nothing but the right type, RMode and Sat.";
    PostFields: TileLegality "pto:tile-post-fields"
        "The B.FPATR enables agree with each other.";
    Dimensions: TileLegality "pto:tile-dimensions"
        "M, N and K are positive and within the limits of the operation.";
    Masks: TileLegality "pto:tile-masks"
        "Every binding names the same processing elements.";
    CooperativeMask: TileLegality "pto:tile-cooperative-mask"
        "An operation on Shared operands runs on all four processing elements.";
    GemvRows: TileLegality "pto:tile-gemv-rows"
        "A matrix-vector operation has M = 1.";
    Transpose: TileLegality "pto:tile-transpose"
        "Only a Shared operand is transposed.";
    SharedSchema: TileLegality "pto:tile-shared-schema"
        "A Shared operand is row-major and has the type and shape the operation needs.";
    SharedReadiness: TileLegality "pto:tile-shared-readiness"
        "A Shared operand is allocated, initialised and published as a whole.";
    Unallocated: TileLegality "pto:tile-unallocated"
        "A bound register holds a tile.";
    ScaleParameterBits: TileLegality "pto:tile-parameter-bits"
        "A quantisation or activation parameter is a positive normal scale with no stray bits.";
    ColumnScale: TileLegality "pto:tile-c-scale"
        "CScale is a U8 column in CUBE_M32 on TMATMUL_ACC or TMATMUL_MX_ACC with an FP32 accumulator.";
    ModeAccumulator: TileLegality "pto:tile-mode-accumulator"
        "The pre-quantisation mode takes the accumulator type of the operands.";
    PostSource: TileLegality "pto:tile-post-source"
        "RowMaxIn and the parameter vectors have the type, shape and layout the mode takes.";
    OperandType: TileLegality "pto:tile-operand-type"
        "Each operand has the element type its role takes.";
    OperandShape: TileLegality "pto:tile-operand-shape"
        "Each operand has exactly the shape its role takes.";
    OperandLayout: TileLegality "pto:tile-operand-layout"
        "Each operand has the layout its role takes.";
    Capacity: TileLegality "pto:tile-capacity"
        "A descriptor's capacity is a legal size and holds its contents.";
    AccumulatorCapacity: TileLegality "pto:tile-accumulator-capacity"
        "Without conversion C and D have the same capacity.";
    Undefined: TileLegality "pto:tile-undefined"
        "Every valid element of a source is defined.";
    Alias: TileLegality "pto:tile-alias"
        "C and CScale are named differently from the destinations.";
    MLayout: TileLegality "pto:tile-m-layout"
        "M fits the layout of the accumulator.";
    NoRegister: TileAllocation "pto:tile-no-register"
        "The destination's hand has a free register.";
    CoreCapacity: TileAllocation "pto:tile-core-capacity"
        "All tiles of the core together fit its capacity.";
    DestinationCapacity: TileAllocation "pto:tile-destination-capacity"
        "Each destination's size holds its contents.";
}

/// A rule that was broken, with what was expected and what was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The rule.
    pub rule: Rule,
    /// Lower case, what was expected and what was found; without kind and tag.
    pub message: String,
}

impl Fault {
    /// A fault of `rule`.
    pub fn new(rule: Rule, message: impl Into<String>) -> Fault {
        Fault {
            rule,
            message: message.into(),
        }
    }

    /// The architectural kind.
    pub fn kind(&self) -> FaultKind {
        self.rule.kind()
    }

    /// The stable tag, without brackets.
    pub fn tag(&self) -> &'static str {
        self.rule.tag()
    }

    /// The line a tool prints for a run-time fault.
    pub fn headline(&self) -> String {
        format!("fault: {} [{}]", self.kind(), self.tag())
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} [{}]", self.message, self.tag())
    }
}

impl std::error::Error for Fault {}

/// Fails with `rule` and a formatted message unless the condition holds.
macro_rules! require {
    ($condition:expr, $rule:ident, $($message:tt)+) => {
        if !$condition {
            return Err($crate::tile::fault::Fault::new(
                $crate::tile::fault::Rule::$rule,
                format!($($message)+),
            ));
        }
    };
}
pub(crate) use require;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_distinct_and_well_formed() {
        let mut tags: Vec<_> = Rule::ALL.iter().map(|r| r.tag()).collect();
        let well_formed = |t: &&str| {
            t.strip_prefix("pto:tile-")
                .is_some_and(|rest| rest.chars().all(|c| c == '-' || c.is_ascii_lowercase()))
        };
        assert!(tags.iter().all(well_formed), "{tags:?}");
        tags.sort_unstable();
        tags.dedup();
        assert_eq!(tags.len(), Rule::ALL.len());
    }

    #[test]
    fn a_fault_prints_kind_and_tag() {
        let fault = Fault::new(Rule::GemvRows, "expected M = 1, found 2");
        assert_eq!(fault.headline(), "fault: TileLegality [pto:tile-gemv-rows]");
        assert_eq!(
            fault.to_string(),
            "expected M = 1, found 2 [pto:tile-gemv-rows]"
        );
    }
}
