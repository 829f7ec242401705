//! Running an operation that passed preflight: snapshot the sources, compute, hand out the results.
//!
//! Nothing here changes a source. The caller publishes the tiles and the flags together, or, had
//! preflight failed, nothing.

use super::arith::{Product, ScalePlane, StepControl, ieee, raw};
use super::contents::Tile;
use super::fault::{Fault, Rule};
use super::fields::{DataAttributes, ReluMode, group_columns};
use super::mx;
use super::operation::{Operation, Role, Sharing};
use super::post::convert::Conversion;
use super::post::modes::{self, Control, Parameter, Quantisation};
use super::post::reduce::Reduction;
use super::post::{Column, convert_all, flag};
use super::preflight::{Bound, Room, Verdict, judge};
use super::revision::{Arithmetic, Revision};
use super::schema::Frame;
use super::types::DataType;
use crate::formats::{Overflow, Rounding};
use std::borrow::Cow;

/// What an operation makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Results {
    /// D, then RowMaxOut, then GroupMaxOut.
    pub tiles: Vec<Tile>,
    /// The flags to be OR-ed into the sticky ones.
    pub flags: u8,
}

/// How an operation ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Every binding had an empty mask.
    NoEffect,
    /// This processing element has no rows of the group.
    Idle,
    /// Results to publish.
    Done(Results),
}

/// Judges and runs an operation.
///
/// # Errors
/// The first rule broken; no source is changed either way. `pto:tile-unallocated` also where the
/// contents of an operand were not given.
pub fn execute(
    op: &Operation<'_>,
    revision: Revision,
    arithmetic: Arithmetic,
    room: Option<&dyn Room>,
) -> Result<Outcome, Fault> {
    match judge(op, revision, room)? {
        Verdict::NoEffect => Ok(Outcome::NoEffect),
        Verdict::Idle => Ok(Outcome::Idle),
        Verdict::Run(bound) => {
            let data = op.data.unwrap_or_default();
            run(&bound, &data, arithmetic).map(Outcome::Done)
        }
    }
}

/// Computes the results of a bound operation.
fn run(bound: &Bound<'_>, data: &DataAttributes, arithmetic: Arithmetic) -> Result<Results, Fault> {
    let frame = &bound.frame;
    let mut flags = 0;
    let product = product(bound, data, &mut flags)?;
    let p = match arithmetic {
        Arithmetic::Ieee => ieee::multiply(&product),
        Arithmetic::Raw => raw::multiply(&product),
    };
    let columns = frame.n as usize;
    let conversion = Conversion::new(
        bound.post.pre_quant,
        frame.accumulator,
        data.rmode.rounding(),
        data.saturate,
    );
    let (d, raised) = convert_all(&p, frame.accumulator, &conversion, &parameters(bound)?);
    flags |= raised;
    let reduction = Reduction {
        accumulator: frame.accumulator,
        absolute: bound.post.max_abs,
    };
    let mut contents = vec![d];
    if bound.post.row_max {
        let initial = optional(bound, Role::RowMaxIn)?.map(Tile::words);
        let (words, raised) = reduction.rows(&p, columns, initial);
        flags |= raised;
        contents.push(words);
    }
    if bound.post.group_max {
        let group = group_columns(bound.post.group_code).unwrap_or(0) as usize;
        let (words, raised) = reduction.groups(&p, columns, group);
        flags |= raised;
        contents.push(words);
    }
    let tiles = bound
        .outputs
        .iter()
        .zip(contents)
        .map(|(descriptor, words)| Tile::new(*descriptor, words).ok_or_else(|| not_given("D")))
        .collect::<Result<_, _>>()?;
    Ok(Results { tiles, flags })
}

fn not_given(name: &str) -> Fault {
    Fault::new(
        Rule::Unallocated,
        format!("expected the contents of {name}, found a descriptor only"),
    )
}

/// The contents of an operand; `None` where the operation does not take it.
fn optional<'a>(bound: &Bound<'a>, role: Role) -> Result<Option<&'a Tile>, Fault> {
    match &bound.operands[role as usize] {
        None => Ok(None),
        Some(source) => match source.tile {
            Some(tile) => Ok(Some(tile)),
            None => Err(not_given(role.name())),
        },
    }
}

fn contents<'a>(bound: &Bound<'a>, role: Role) -> Result<&'a Tile, Fault> {
    optional(bound, role)?.ok_or_else(|| not_given(role.name()))
}

fn product<'a>(
    bound: &Bound<'a>,
    data: &DataAttributes,
    flags: &mut u8,
) -> Result<Product<'a>, Fault> {
    let frame = &bound.frame;
    let (m, n, k) = (frame.m as usize, frame.n as usize, frame.k as usize);
    let a = contents(bound, Role::A)?;
    let a = match bound.sharing {
        Sharing::Both => logical_rows(a, frame.trans_a, frame.first_row as usize, m),
        _ => Cow::Borrowed(a.words()),
    };
    let b = logical_rows(contents(bound, Role::B)?, frame.trans_b, 0, k);
    Ok(Product {
        m,
        n,
        k,
        a_type: frame.a_type,
        b_type: frame.b_type,
        accumulator: frame.accumulator,
        a,
        b,
        a_scales: scale_plane(bound, Role::ScaleA)?,
        b_scales: scale_plane(bound, Role::ScaleB)?,
        c: accumulator_in(bound, flags)?,
        bias: optional(bound, Role::Bias)?.map(Tile::words),
        control: step_control(bound, data),
    })
}

/// `count` logical rows from `first` on, where logical (r, c) is stored (c, r) if transposed.
fn logical_rows(tile: &Tile, transposed: bool, first: usize, count: usize) -> Cow<'_, [u64]> {
    let words = tile.words();
    let stored_columns = tile.descriptor().valid_columns as usize;
    if !transposed {
        let range = first * stored_columns..(first + count) * stored_columns;
        return Cow::Borrowed(words.get(range).unwrap_or(&[]));
    }
    (first..first + count)
        .flat_map(|r| words.iter().skip(r).step_by(stored_columns).copied())
        .collect()
}

/// The accumulator the sums start from, scaled by CScale where there is one.
fn accumulator_in<'a>(bound: &Bound<'a>, flags: &mut u8) -> Result<Option<Cow<'a, [u64]>>, Fault> {
    let Some(c) = optional(bound, Role::C)? else {
        return Ok(None);
    };
    let Some(exponents) = optional(bound, Role::CScale)? else {
        return Ok(Some(Cow::Borrowed(c.words())));
    };
    let columns = bound.frame.n as usize;
    let scaled = c
        .words()
        .chunks(columns)
        .zip(exponents.words())
        .flat_map(|(row, &exponent)| {
            row.iter()
                .map(move |&word| ieee::scale_accumulator(word, exponent as u8))
        })
        .map(|(word, inexact)| {
            if inexact {
                *flags |= flag::UF | flag::NX;
            }
            word
        })
        .collect();
    Ok(Some(Cow::Owned(scaled)))
}

/// The k loop's control. Only a mode that reads an FP32 accumulator lets Sat in, and only where
/// its rounding is free RMode as well; MX steps have neither.
fn step_control(bound: &Bound<'_>, data: &DataAttributes) -> StepControl {
    if bound.function.mx || bound.frame.accumulator != DataType::Fp32 {
        return StepControl::DEFAULT;
    }
    let (rounding, saturate) = match bound.post.pre_quant.control {
        Control::Fixed => (Rounding::NearestEven, false),
        Control::FixedRounding(_) => (Rounding::NearestEven, data.saturate),
        Control::Programmable => (data.rmode.rounding(), data.saturate),
    };
    StepControl {
        rounding,
        overflow: if saturate {
            Overflow::Saturate
        } else {
            Overflow::ToInfinity
        },
    }
}

/// The scale of each element of a side, in the element's logical order.
fn scale_plane(bound: &Bound<'_>, role: Role) -> Result<Option<ScalePlane>, Fault> {
    let Some(tile) = optional(bound, role)? else {
        return Ok(None);
    };
    let frame = &bound.frame;
    let is_left = role == Role::ScaleA;
    let side = if is_left { frame.a_type } else { frame.b_type };
    let Some((size, scale_type)) = mx::group_of(side) else {
        return Ok(None);
    };
    let (rows, columns) = if is_left {
        (frame.m, frame.k)
    } else {
        (frame.k, frame.n)
    };
    let mut words = Vec::with_capacity(rows as usize * columns as usize);
    let mut lanes = Vec::with_capacity(words.capacity());
    for r in 0..rows {
        for c in 0..columns {
            let (line, k) = if is_left { (r, c) } else { (c, r) };
            let (row, column) = stored_scale(bound.sharing, frame, is_left, line, k / size);
            words.push(tile.get(row, column).unwrap_or_default());
            lanes.push((k % size) as u8);
        }
    }
    Ok(Some(ScalePlane {
        scale_type,
        words,
        lanes,
    }))
}

/// Where the scale of K-group `group` of row (left) or column (right) `line` is stored.
fn stored_scale(
    sharing: Sharing,
    frame: &Frame,
    is_left: bool,
    line: u32,
    group: u32,
) -> (u32, u32) {
    let follows = frame.revision.has_cube_scales();
    let is_shared = match sharing {
        Sharing::None => false,
        Sharing::Right => !is_left,
        Sharing::Both => true,
    };
    let line = if is_shared && is_left {
        line + frame.first_row
    } else {
        line
    };
    let is_line_first = if is_left {
        !(is_shared && frame.trans_a && follows)
    } else if is_shared {
        frame.trans_b && follows
    } else {
        follows
    };
    if is_line_first {
        (line, group)
    } else {
        (group, line)
    }
}

/// The conversion parameters of each column.
fn parameters(bound: &Bound<'_>) -> Result<Vec<Column>, Fault> {
    let mode = bound.post.pre_quant;
    let columns = bound.frame.n as usize;
    let mut scalars = bound.scalars.iter();
    let mut next_scalar = || match scalars.next() {
        Some(&Some(word)) => Ok(word),
        _ => Err(not_given("a scalar parameter")),
    };
    let decode = |word| Quantisation::decode(word, mode.conversion);
    let quantisation = match mode.parameter {
        Parameter::None => vec![Quantisation::IDENTITY; columns],
        Parameter::Scalar => vec![decode(next_scalar()?); columns],
        Parameter::Vector => {
            let words = contents(bound, Role::Quant)?.words();
            words.iter().map(|&word| decode(word)).collect()
        }
    };
    let factors = match bound.post.relu {
        ReluMode::None => vec![None; columns],
        ReluMode::Zero => vec![Some(0.0); columns],
        ReluMode::Scalar => vec![Some(modes::relu_factor(next_scalar()?)); columns],
        ReluMode::Vector => {
            let words = contents(bound, Role::Prelu)?.words();
            words.iter().map(|&w| Some(modes::relu_factor(w))).collect()
        }
    };
    let column = |(quantisation, negative_factor)| Column {
        quantisation,
        negative_factor,
    };
    Ok(quantisation.into_iter().zip(factors).map(column).collect())
}
