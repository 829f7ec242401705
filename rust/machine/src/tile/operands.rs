//! The checks of operands in preflight: Shared ones, those of post-processing, the mathematical
//! ones in stream order, and aliases.

use super::descriptor::{MAX_LOCAL_CAPACITY, MAX_SHARED_CAPACITY};
use super::fault::{Fault, Rule, require};
use super::fields::Post;
use super::operation::{Destination, Role, Sharing, Source};
use super::post::modes::{self, Quantisation};
use super::schema::{Frame, Schema};

/// The operands of an operation by role.
pub type Operands<'a> = [Option<Source<'a>>; Role::COUNT];

/// Step 5: one Shared operand.
///
/// # Errors
/// `pto:tile-shared-readiness`, `pto:tile-shared-schema`, or a rule of a tile on its own.
pub fn check_shared(role: Role, source: &Source<'_>, frame: &Frame) -> Result<(), Fault> {
    let name = role.name();
    let Some(descriptor) = &source.descriptor else {
        return Err(Fault::new(
            Rule::SharedReadiness,
            format!("expected a Shared tile for {name}, found none"),
        ));
    };
    require!(
        source
            .shared_state
            .is_none_or(|s| s.is_ready(frame.revision)),
        SharedReadiness,
        "expected {name} to be initialised and published as a whole, found {:?}",
        source.shared_state
    );
    let schema = frame.shared(role);
    schema.check(name, Some(Rule::SharedSchema), descriptor)?;
    descriptor.check(name, frame.limit(MAX_SHARED_CAPACITY), frame.revision)?;
    check_defined(name, source)
}

fn check_defined(name: &str, source: &Source<'_>) -> Result<(), Fault> {
    if let Some((row, column)) = source.tile.and_then(|t| t.first_undefined()) {
        require!(
            false,
            Undefined,
            "expected {name} to be defined, found element ({row}, {column}) undefined"
        );
    }
    Ok(())
}

/// One Local operand: geometry, definedness, shape, type, layout.
fn check_local(
    role: Role,
    source: &Source<'_>,
    schema: &Schema,
    rule: Option<Rule>,
    frame: &Frame,
) -> Result<(), Fault> {
    let Some(descriptor) = &source.descriptor else {
        return Ok(());
    };
    let limit = frame.limit(MAX_LOCAL_CAPACITY);
    descriptor.check(role.name(), limit, frame.revision)?;
    check_defined(role.name(), source)?;
    schema.check(role.name(), rule, descriptor)
}

/// Step 8: the accumulator's type against the mode, then the sources of post-processing.
///
/// # Errors
/// `pto:tile-mode-accumulator`, `pto:tile-post-source`, `pto:tile-parameter-bits`, or a rule of a
/// tile on its own.
pub fn check_post_sources(
    operands: &Operands<'_>,
    frame: &Frame,
    post: &Post,
) -> Result<(), Fault> {
    require!(
        post.pre_quant.accepts(frame.accumulator),
        ModeAccumulator,
        "expected a pre-quantisation mode for an {} accumulator, found mode {}",
        frame.accumulator,
        post.pre_quant.code()
    );
    for role in [Role::RowMaxIn, Role::Quant, Role::Prelu] {
        let Some(source) = &operands[role as usize] else {
            continue;
        };
        let schema = frame.local(role);
        check_local(role, source, &schema, Some(Rule::PostSource), frame)?;
        for &word in source.tile.map_or(&[][..], |t| t.words()) {
            match role {
                Role::Quant => drop(Quantisation::parse(word, post.pre_quant.conversion)?),
                Role::Prelu => drop(modes::parse_relu_factor(word)?),
                _ => {}
            }
        }
    }
    Ok(())
}

/// Step 9: the Local mathematical sources in stream order.
///
/// # Errors
/// The rules of an operand's type, shape, layout and capacity, in that operand's turn.
pub fn check_sources(
    operands: &Operands<'_>,
    frame: &Frame,
    post: &Post,
    sharing: Sharing,
    destinations: &[Destination],
) -> Result<(), Fault> {
    for role in [
        Role::C,
        Role::A,
        Role::ScaleA,
        Role::B,
        Role::ScaleB,
        Role::Bias,
        Role::CScale,
    ] {
        let is_local = match role {
            Role::A | Role::ScaleA => sharing != Sharing::Both,
            Role::B | Role::ScaleB => sharing == Sharing::None,
            _ => true,
        };
        let Some(source) = operands[role as usize].as_ref().filter(|_| is_local) else {
            continue;
        };
        let rule = (role == Role::CScale).then_some(Rule::ColumnScale);
        check_local(role, source, &frame.local(role), rule, frame)?;
        if role == Role::C && post.pre_quant.code() == 0 {
            let (c, d) = (source.descriptor, destinations.first());
            if let (Some(c), Some(d)) = (c, d) {
                require!(
                    c.capacity == d.capacity,
                    AccumulatorCapacity,
                    "expected C and D of one capacity, found {} and {} bytes",
                    c.capacity,
                    d.capacity
                );
            }
        }
    }
    Ok(())
}

/// Step 10: C is named differently from D, CScale from every destination.
///
/// # Errors
/// `pto:tile-alias`.
pub fn check_aliases(operands: &Operands<'_>, destinations: &[Destination]) -> Result<(), Fault> {
    let name = |role: Role| operands[role as usize].and_then(|s| s.name);
    for (role, against) in [
        (Role::C, destinations.get(..1).unwrap_or(&[])),
        (Role::CScale, destinations),
    ] {
        let Some(source) = name(role) else { continue };
        require!(
            against.iter().all(|d| d.name != Some(source)),
            Alias,
            "expected {} to be named differently from the destination, found {source} for both",
            role.name()
        );
    }
    Ok(())
}
