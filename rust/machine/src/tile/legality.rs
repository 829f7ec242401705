//! The facts one operation can know by itself: predicates on its fields, and [`check`].

use super::cooperative::{ALL_ELEMENTS, MAX_GROUP_ROWS};
use super::fault::{Fault, require};
use super::fields::{Addend, DataAttributes, Function, Post, group_columns};
use super::operation::{Operation, Sharing, operand_groups, scalar_count};
use super::preflight;
use super::revision::Revision;
use super::types::DataType;

/// The largest value of a 16-bit dimension register.
const MAX_DIMENSION: u32 = 65535;
/// The most elements of an accumulator.
const MAX_RESULT_ELEMENTS: u64 = 32768;
/// The most Local sources of a block, without and with CScale.
const MAX_LOCAL_SOURCES: (usize, usize) = (8, 9);

/// Checks everything the operation alone can know: fields, types, shapes, layouts and capacities.
/// Contents, readiness and the room left are not judged where they are not given.
///
/// # Errors
/// The first rule broken, in the order of the ISA's preflight.
pub fn check(operation: &Operation<'_>, revision: Revision) -> Result<(), Fault> {
    preflight::judge(operation, revision, None).map(|_| ())
}

/// Whether the enables of B.FPATR agree: an initial row maximum needs a row maximum, a group
/// maximum needs groups and the reverse, absolute values need something to reduce.
///
/// # Errors
/// `pto:tile-post-fields`; `pto:tile-reserved` for a group code that has no meaning and, in a
/// revision without it, for CScaleEn.
pub fn post_fields(post: &Post, revision: Revision) -> Result<(), Fault> {
    require!(
        group_columns(post.group_code).is_some(),
        ReservedField,
        "expected a group code of 0 to 9, found {}",
        post.group_code
    );
    require!(
        !post.c_scale || revision.has_column_scale(),
        ReservedField,
        "expected the reserved accumulator-scale bit to be 0, found 1"
    );
    require!(
        !post.row_max_init || post.row_max,
        PostFields,
        "expected row_max with row_max_init, found it absent"
    );
    require!(
        post.group_max == (post.group_code != 0),
        PostFields,
        "expected group_max with a group code and only with one, found group_max = {} and group \
         = {}",
        post.group_max,
        post.group_code
    );
    require!(
        !post.max_abs || post.row_max || post.group_max,
        PostFields,
        "expected row_max or group_max with max_abs, found neither"
    );
    Ok(())
}

/// Whether RMode and Sat are left to the operation by its pre-quantisation mode.
///
/// # Errors
/// `pto:tile-rounding-fields`.
pub fn control_fields(post: &Post, data: &DataAttributes) -> Result<(), Fault> {
    let mode = post.pre_quant;
    require!(
        mode.allows_control(data.rmode.code() == 0, data.saturate),
        RoundingFields,
        "expected {} with pre-quantisation mode {}, found rounding code {} and sat = {}",
        if mode.allows_control(true, true) {
            "the default rounding"
        } else {
            "the default rounding and no saturation"
        },
        mode.code(),
        data.rmode.code(),
        data.saturate
    );
    Ok(())
}

/// Which operands are Shared, from their number.
///
/// # Errors
/// `pto:tile-shared-count` for a number that is neither the right group nor both, and for any
/// Shared operand of a matrix-vector operation.
pub fn sharing(
    function: Function,
    a_type: DataType,
    b_type: DataType,
    count: usize,
) -> Result<Sharing, Fault> {
    if count == 0 {
        return Ok(Sharing::None);
    }
    let (left, right) = operand_groups(function, a_type, b_type);
    require!(
        !function.gemv,
        SharedCount,
        "expected Local operands only for {}, found {count} Shared",
        function.name()
    );
    let both = left.len() + right.len();
    require!(
        count == right.len() || count == both,
        SharedCount,
        "expected {} Shared operands (right side) or {both} (both sides), found {count}",
        right.len()
    );
    Ok(if count == both {
        Sharing::Both
    } else {
        Sharing::Right
    })
}

/// Whether the numbers of Local sources and of destinations are those the operation takes.
///
/// # Errors
/// `pto:tile-source-count` or `pto:tile-destination-count`.
pub fn stream_counts(
    operation: &Operation<'_>,
    expected_sources: usize,
    post: &Post,
) -> Result<(), Fault> {
    let found = operation.sources.len();
    require!(
        found == expected_sources,
        SourceCount,
        "expected {expected_sources} Local sources, found {found}"
    );
    let most = if post.c_scale {
        MAX_LOCAL_SOURCES.1
    } else {
        MAX_LOCAL_SOURCES.0
    };
    require!(
        found <= most,
        SourceCount,
        "expected at most {most} Local sources, found {found}"
    );
    let expected = 1 + usize::from(post.row_max) + usize::from(post.group_max);
    let found = operation.destinations.len();
    require!(
        found == expected,
        DestinationCount,
        "expected {expected} destinations, found {found}"
    );
    Ok(())
}

/// Whether B.IOR supplies as many scalars as the modes take.
///
/// # Errors
/// `pto:tile-scalar-parameters`. The published release lets B.IOR be absent.
pub fn scalar_schema(
    operation: &Operation<'_>,
    post: &Post,
    revision: Revision,
) -> Result<(), Fault> {
    let expected = scalar_count(post);
    match &operation.scalars {
        None => require!(
            expected == 0 || !revision.checks_control_fields(),
            ScalarParameters,
            "expected {expected} scalar parameters, found none"
        ),
        Some(scalars) => {
            let found = scalars.words.len();
            require!(
                found == expected && !scalars.has_foreign_selectors,
                ScalarParameters,
                "expected {expected} scalar parameters and no other register, found {found}{}",
                if scalars.has_foreign_selectors {
                    " and another register"
                } else {
                    ""
                }
            );
        }
    }
    Ok(())
}

/// The three dimensions of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dimensions {
    /// LB0: rows, of the group where operands are Shared and the revision counts so.
    pub rows: u32,
    /// LB1: N.
    pub n: u32,
    /// LB2: K.
    pub k: u32,
}

/// Reads the dimensions, absent ones as 1, and judges them.
///
/// # Errors
/// `pto:tile-dimensions`: an explicit 0, a value beyond 16 bits, a group of more than 128 rows,
/// with Shared operands an N or K (or M, in the published release) that is no power of two, or an
/// accumulator of more than 32768 elements.
pub fn dimensions(
    given: [Option<u32>; 3],
    sharing: Sharing,
    revision: Revision,
) -> Result<Dimensions, Fault> {
    let [rows, n, k] = given.map(|d| d.unwrap_or(1));
    for (name, value) in [("M", rows), ("N", n), ("K", k)] {
        require!(
            (1..=MAX_DIMENSION).contains(&value),
            Dimensions,
            "expected {name} to be 1 to {MAX_DIMENSION}, found {value}"
        );
    }
    if sharing != Sharing::None {
        let group = revision.has_group_rows();
        require!(
            !group || rows <= MAX_GROUP_ROWS,
            Dimensions,
            "expected a group of at most {MAX_GROUP_ROWS} rows, found {rows}"
        );
        for (name, value, exempt) in [("M", rows, group), ("N", n, false), ("K", k, false)] {
            require!(
                exempt || value.is_power_of_two(),
                Dimensions,
                "expected {name} to be a power of two with Shared operands, found {value}"
            );
        }
    }
    let elements = u64::from(rows) * u64::from(n);
    let is_group = sharing != Sharing::None && revision.has_group_rows();
    require!(
        is_group || elements <= MAX_RESULT_ELEMENTS,
        Dimensions,
        "expected an accumulator of at most {MAX_RESULT_ELEMENTS} elements, found {rows}x{n}"
    );
    Ok(Dimensions { rows, n, k })
}

/// Whether all bindings name the same processing elements and, with Shared operands, all of them.
///
/// # Errors
/// `pto:tile-masks` or `pto:tile-cooperative-mask`.
pub fn masks(masks: &[u8], sharing: Sharing, revision: Revision) -> Result<(), Fault> {
    let Some(&first) = masks.first() else {
        return Ok(());
    };
    if let Some(other) = masks.iter().find(|&&m| m != first) {
        require!(
            false,
            Masks,
            "expected one mask on every binding, found {first:04b} and {other:04b}"
        );
    }
    require!(
        sharing == Sharing::None || !revision.has_group_rows() || first == ALL_ELEMENTS,
        CooperativeMask,
        "expected mask {ALL_ELEMENTS:04b} with Shared operands, found {first:04b}"
    );
    Ok(())
}

/// Whether transposes are asked of Shared operands only.
///
/// # Errors
/// `pto:tile-transpose`.
pub fn transposes(post: &Post, sharing: Sharing) -> Result<(), Fault> {
    for (side, wanted, is_shared) in [
        ("left", post.trans_a, sharing == Sharing::Both),
        ("right", post.trans_b, sharing != Sharing::None),
    ] {
        require!(
            !wanted || is_shared,
            Transpose,
            "expected a Shared {side} operand to transpose, found a Local one"
        );
    }
    Ok(())
}

/// Whether the accumulator may be scaled by a column.
///
/// # Errors
/// `pto:tile-c-scale`.
pub fn column_scale(function: Function, accumulator: DataType, post: &Post) -> Result<(), Fault> {
    require!(
        !post.c_scale || (function.addend == Addend::Accumulator && !function.gemv),
        ColumnScale,
        "expected TMATMUL_ACC or TMATMUL_MX_ACC with a CScale, found {}",
        function.name()
    );
    require!(
        !post.c_scale || accumulator == DataType::Fp32,
        ColumnScale,
        "expected an FP32 accumulator with a CScale, found {accumulator}"
    );
    Ok(())
}
