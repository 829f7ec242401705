//! Operations of `arith`, `index` and `math` that become one instruction, by name.

use pto_machine::scalar::{
    CastOp, FloatBinaryOp, FloatClass, FloatUnaryOp, IntBinaryOp, IntUnaryOp,
};

/// An operation that becomes one instruction on scalars.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Simple {
    IntBinary(IntBinaryOp),
    IntUnary(IntUnaryOp),
    FloatBinary(FloatBinaryOp),
    FloatUnary(FloatUnaryOp),
    FloatTest(FloatClass),
    Cast(CastOp),
    /// Two results: that of the first, and that of the second operation.
    Wide(IntBinaryOp, IntBinaryOp),
}

/// The operation called `name`, if it is one of these.
pub(super) fn simple(name: &str) -> Option<Simple> {
    let (dialect, op) = name.split_once('.')?;
    match dialect {
        "arith" => arith(op),
        "index" => index(op),
        "math" => math(op),
        _ => None,
    }
}

fn arith(op: &str) -> Option<Simple> {
    use Simple::{Cast, FloatBinary, IntBinary, Wide};
    Some(match op {
        "addi" => IntBinary(IntBinaryOp::AddI),
        "subi" => IntBinary(IntBinaryOp::SubI),
        "muli" => IntBinary(IntBinaryOp::MulI),
        "divsi" => IntBinary(IntBinaryOp::DivSI),
        "divui" => IntBinary(IntBinaryOp::DivUI),
        "ceildivsi" => IntBinary(IntBinaryOp::CeilDivSI),
        "ceildivui" => IntBinary(IntBinaryOp::CeilDivUI),
        "floordivsi" => IntBinary(IntBinaryOp::FloorDivSI),
        "remsi" => IntBinary(IntBinaryOp::RemSI),
        "remui" => IntBinary(IntBinaryOp::RemUI),
        "andi" => IntBinary(IntBinaryOp::AndI),
        "ori" => IntBinary(IntBinaryOp::OrI),
        "xori" => IntBinary(IntBinaryOp::XOrI),
        "shli" => IntBinary(IntBinaryOp::ShLI),
        "shrsi" => IntBinary(IntBinaryOp::ShRSI),
        "shrui" => IntBinary(IntBinaryOp::ShRUI),
        "maxsi" => IntBinary(IntBinaryOp::MaxSI),
        "maxui" => IntBinary(IntBinaryOp::MaxUI),
        "minsi" => IntBinary(IntBinaryOp::MinSI),
        "minui" => IntBinary(IntBinaryOp::MinUI),
        "addui_extended" => Wide(IntBinaryOp::AddI, IntBinaryOp::AddCarry),
        "mulsi_extended" => Wide(IntBinaryOp::MulI, IntBinaryOp::MulHighSI),
        "mului_extended" => Wide(IntBinaryOp::MulI, IntBinaryOp::MulHighUI),
        "addf" => FloatBinary(FloatBinaryOp::AddF),
        "subf" => FloatBinary(FloatBinaryOp::SubF),
        "mulf" => FloatBinary(FloatBinaryOp::MulF),
        "divf" => FloatBinary(FloatBinaryOp::DivF),
        "remf" => FloatBinary(FloatBinaryOp::RemF),
        "maximumf" => FloatBinary(FloatBinaryOp::MaximumF),
        "minimumf" => FloatBinary(FloatBinaryOp::MinimumF),
        "maxnumf" => FloatBinary(FloatBinaryOp::MaxNumF),
        "minnumf" => FloatBinary(FloatBinaryOp::MinNumF),
        "negf" => Simple::FloatUnary(FloatUnaryOp::NegF),
        "extui" | "index_castui" => Cast(CastOp::ExtUI),
        "extsi" | "index_cast" => Cast(CastOp::ExtSI),
        "trunci" => Cast(CastOp::TruncI),
        "extf" | "truncf" => Cast(CastOp::Float),
        "sitofp" => Cast(CastOp::SIToFP),
        "uitofp" => Cast(CastOp::UIToFP),
        "fptosi" => Cast(CastOp::FPToSI),
        "fptoui" => Cast(CastOp::FPToUI),
        "bitcast" => Cast(CastOp::Bitcast),
        _ => return None,
    })
}

fn index(op: &str) -> Option<Simple> {
    use Simple::{Cast, IntBinary};
    Some(match op {
        "add" => IntBinary(IntBinaryOp::AddI),
        "sub" => IntBinary(IntBinaryOp::SubI),
        "mul" => IntBinary(IntBinaryOp::MulI),
        "divs" => IntBinary(IntBinaryOp::DivSI),
        "divu" => IntBinary(IntBinaryOp::DivUI),
        "ceildivs" => IntBinary(IntBinaryOp::CeilDivSI),
        "ceildivu" => IntBinary(IntBinaryOp::CeilDivUI),
        "floordivs" => IntBinary(IntBinaryOp::FloorDivSI),
        "rems" => IntBinary(IntBinaryOp::RemSI),
        "remu" => IntBinary(IntBinaryOp::RemUI),
        "maxs" => IntBinary(IntBinaryOp::MaxSI),
        "maxu" => IntBinary(IntBinaryOp::MaxUI),
        "mins" => IntBinary(IntBinaryOp::MinSI),
        "minu" => IntBinary(IntBinaryOp::MinUI),
        "shl" => IntBinary(IntBinaryOp::ShLI),
        "shrs" => IntBinary(IntBinaryOp::ShRSI),
        "shru" => IntBinary(IntBinaryOp::ShRUI),
        "and" => IntBinary(IntBinaryOp::AndI),
        "or" => IntBinary(IntBinaryOp::OrI),
        "xor" => IntBinary(IntBinaryOp::XOrI),
        "casts" => Cast(CastOp::ExtSI),
        "castu" => Cast(CastOp::ExtUI),
        _ => return None,
    })
}

fn math(op: &str) -> Option<Simple> {
    use Simple::{FloatBinary, FloatTest, FloatUnary, IntBinary, IntUnary};
    Some(match op {
        "absi" => IntUnary(IntUnaryOp::AbsI),
        "ctlz" => IntUnary(IntUnaryOp::CtLz),
        "cttz" => IntUnary(IntUnaryOp::CtTz),
        "ctpop" => IntUnary(IntUnaryOp::CtPop),
        "ipowi" => IntBinary(IntBinaryOp::PowI),
        "atan2" => FloatBinary(FloatBinaryOp::Atan2),
        "copysign" => FloatBinary(FloatBinaryOp::CopySign),
        "powf" => FloatBinary(FloatBinaryOp::PowF),
        "isfinite" => FloatTest(FloatClass::IsFinite),
        "isinf" => FloatTest(FloatClass::IsInf),
        "isnan" => FloatTest(FloatClass::IsNan),
        "isnormal" => FloatTest(FloatClass::IsNormal),
        "absf" => FloatUnary(FloatUnaryOp::AbsF),
        "acos" => FloatUnary(FloatUnaryOp::Acos),
        "acosh" => FloatUnary(FloatUnaryOp::Acosh),
        "asin" => FloatUnary(FloatUnaryOp::Asin),
        "asinh" => FloatUnary(FloatUnaryOp::Asinh),
        "atan" => FloatUnary(FloatUnaryOp::Atan),
        "atanh" => FloatUnary(FloatUnaryOp::Atanh),
        "cbrt" => FloatUnary(FloatUnaryOp::Cbrt),
        "ceil" => FloatUnary(FloatUnaryOp::Ceil),
        "cos" => FloatUnary(FloatUnaryOp::Cos),
        "cosh" => FloatUnary(FloatUnaryOp::Cosh),
        "erf" => FloatUnary(FloatUnaryOp::Erf),
        "erfc" => FloatUnary(FloatUnaryOp::Erfc),
        "exp" => FloatUnary(FloatUnaryOp::Exp),
        "exp2" => FloatUnary(FloatUnaryOp::Exp2),
        "expm1" => FloatUnary(FloatUnaryOp::ExpM1),
        "floor" => FloatUnary(FloatUnaryOp::Floor),
        "log" => FloatUnary(FloatUnaryOp::Log),
        "log10" => FloatUnary(FloatUnaryOp::Log10),
        "log1p" => FloatUnary(FloatUnaryOp::Log1p),
        "log2" => FloatUnary(FloatUnaryOp::Log2),
        "round" => FloatUnary(FloatUnaryOp::Round),
        "roundeven" => FloatUnary(FloatUnaryOp::RoundEven),
        "rsqrt" => FloatUnary(FloatUnaryOp::Rsqrt),
        "sin" => FloatUnary(FloatUnaryOp::Sin),
        "sinh" => FloatUnary(FloatUnaryOp::Sinh),
        "sqrt" => FloatUnary(FloatUnaryOp::Sqrt),
        "tan" => FloatUnary(FloatUnaryOp::Tan),
        "tanh" => FloatUnary(FloatUnaryOp::Tanh),
        "trunc" => FloatUnary(FloatUnaryOp::Trunc),
        _ => return None,
    })
}
