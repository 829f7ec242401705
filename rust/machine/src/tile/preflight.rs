//! Preflight: every check of an operation, in the order in which the first failure wins.
//!
//! The same list serves an operation of which only types are known (the dialect's verifier) and
//! one with contents and a register file behind it (the interpreter): what is not known is not
//! judged. The numbers in the comments are the steps of docs/tile-isa.md.

use super::cooperative;
use super::descriptor::Descriptor;
use super::fault::{Fault, Rule, require};
use super::fields::{Function, Post, Scalars};
use super::layout::Layout;
use super::legality;
use super::operands::{Operands, check_aliases, check_post_sources, check_shared, check_sources};
use super::operation::{
    Destination, Form, Operation, Role, Sharing, accumulator_type, local_roles, shared_roles,
};
use super::post::modes::{self, Parameter, Quantisation};
use super::revision::Revision;
use super::schema::{Frame, Schema};

/// Whether the destinations of an operation find room: free registers first, then capacity.
pub trait Room {
    /// # Errors
    /// `pto:tile-no-register` or `pto:tile-core-capacity`.
    fn check(&self, destinations: &[Destination], mask: u8) -> Result<(), Fault>;

    /// The value of the capacity register: no single tile may have more bytes.
    fn tile_limit(&self) -> u64;
}

/// What preflight decided.
#[derive(Debug)]
pub enum Verdict<'a> {
    /// Every binding has an empty mask: nothing happens.
    NoEffect,
    /// This processing element has no rows of the group: nothing Local happens.
    Idle,
    /// The operation runs.
    Run(Box<Bound<'a>>),
}

/// An operation that passed, with every operand in its role.
#[derive(Debug)]
pub struct Bound<'a> {
    /// The decoded function.
    pub function: Function,
    /// Shapes and types.
    pub frame: Frame,
    /// Post-processing.
    pub post: Post,
    /// Which operands are Shared.
    pub sharing: Sharing,
    /// The operands by role.
    pub operands: Operands<'a>,
    /// The scalar quantisation and activation words, where known.
    pub scalars: Vec<Option<u64>>,
    /// What the destinations become: D, then RowMaxOut, then GroupMaxOut.
    pub outputs: Vec<Descriptor>,
}

/// Judges an operation. `room` is the register file, where one is modelled.
///
/// # Errors
/// The first rule broken.
pub fn judge<'a>(
    op: &Operation<'a>,
    revision: Revision,
    room: Option<&dyn Room>,
) -> Result<Verdict<'a>, Fault> {
    // Header time: fields are judged when their command is executed, before the block completes.
    if let Some(post) = &op.post {
        legality::post_fields(post, revision)?;
    }
    // 0 to 2.
    if !op.masks.is_empty() && op.masks.iter().all(|&m| m == 0) {
        return Ok(Verdict::NoEffect);
    }
    let post = match (&op.post, op.form) {
        (Some(post), _) => *post,
        (None, Form::Direct) => Post::default(),
        (None, Form::Block) => {
            return Err(Fault::new(
                Rule::MissingPost,
                "expected a B.FPATR command in the block, found none",
            ));
        }
    };
    let Some(function) = Function::from_code(op.function) else {
        return Err(Fault::new(
            Rule::UndecodableFunction,
            format!("expected an assigned CUBE function, found {}", op.function),
        ));
    };
    let (sharing, mut frame) = frame_of(op, function, &post, revision)?;
    frame.tile_limit = room.map_or(u64::MAX, Room::tile_limit);
    // 4.
    require!(
        !function.gemv || frame.group_m == 1,
        GemvRows,
        "expected M = 1 for {}, found {}",
        function.name(),
        frame.group_m
    );
    // 5.
    let mut operands = [None; Role::COUNT];
    legality::transposes(&post, sharing)?;
    let roles = shared_roles(function, frame.a_type, frame.b_type, sharing);
    for (&role, source) in roles.iter().zip(&op.shared) {
        check_shared(role, source, &frame)?;
        operands[role as usize] = Some(*source);
    }
    // 6.
    if frame.m == 0 {
        return Ok(Verdict::Idle);
    }
    let roles = local_roles(function, frame.a_type, frame.b_type, sharing, &post);
    for (&role, source) in roles.iter().zip(&op.sources) {
        require!(
            source.descriptor.is_some(),
            Unallocated,
            "expected a tile for {}, found an empty register",
            role.name()
        );
        operands[role as usize] = Some(*source);
    }
    frame.m_layout = m_layout(&operands, sharing, frame.m);
    let scalars = scalar_words(op.scalars.as_ref(), &post, revision);
    if revision.checks_control_fields() {
        check_scalar_values(op, &post)?;
    }
    // 7 and 8.
    legality::column_scale(function, frame.accumulator, &post)?;
    check_post_sources(&operands, &frame, &post)?;
    // 9 to 11.
    check_sources(&operands, &frame, &post, sharing, &op.destinations)?;
    check_aliases(&operands, &op.destinations)?;
    let Some(layout) = frame.m_layout.filter(|l| l.max_m() >= Some(frame.m)) else {
        return Err(Fault::new(
            Rule::MLayout,
            format!("expected M to fit an M layout, found {} rows", frame.m),
        ));
    };
    // 12.
    let mask = op
        .masks
        .first()
        .copied()
        .unwrap_or(cooperative::ALL_ELEMENTS);
    if let Some(room) = room {
        room.check(&op.destinations, mask)?;
    }
    let outputs = outputs(op, &frame, &post, layout)?;
    Ok(Verdict::Run(Box::new(Bound {
        function,
        frame,
        post,
        sharing,
        operands,
        scalars,
        outputs,
    })))
}

/// Step 3: the rules on types, counts, fields, dimensions and masks, which raise one fault
/// together. Their order among themselves shows in the tag only.
fn frame_of(
    op: &Operation<'_>,
    function: Function,
    post: &Post,
    revision: Revision,
) -> Result<(Sharing, Frame), Fault> {
    let (a_type, b_type) = (op.a_type, op.b_type());
    let Some(accumulator) = accumulator_type(function, a_type, b_type, revision) else {
        return Err(Fault::new(
            Rule::TypePair,
            format!(
                "expected two inputs that {} can multiply, found {a_type} and {b_type}",
                function.name()
            ),
        ));
    };
    let sharing = legality::sharing(function, a_type, b_type, op.shared.len())?;
    let sources = local_roles(function, a_type, b_type, sharing, post).len();
    legality::stream_counts(op, sources, post)?;
    require!(
        op.stream_ended,
        StreamEnd,
        "expected the last source command to be marked as the last, found it unmarked"
    );
    legality::scalar_schema(op, post, revision)?;
    if !revision.checks_control_fields() {
        check_scalar_values(op, post)?;
    }
    let data = op.data.unwrap_or_default();
    require!(
        !data.has_foreign_fields,
        AttributeFields,
        "expected B.DATR with a type, RMode and Sat only, found another field set"
    );
    if revision.checks_control_fields() {
        legality::control_fields(post, &data)?;
    }
    let dimensions = legality::dimensions(op.dimensions, sharing, revision)?;
    legality::masks(&op.masks, sharing, revision)?;
    let is_group = sharing != Sharing::None && revision.has_group_rows();
    let share = if is_group {
        cooperative::share(dimensions.rows, op.element)
    } else {
        cooperative::Share {
            first_row: 0,
            rows: dimensions.rows,
        }
    };
    let frame = Frame {
        m: share.rows,
        group_m: dimensions.rows,
        first_row: share.first_row,
        n: dimensions.n,
        k: dimensions.k,
        a_type,
        b_type,
        accumulator,
        m_layout: None,
        trans_a: post.trans_a,
        trans_b: post.trans_b,
        group_code: post.group_code,
        revision,
        tile_limit: u64::MAX,
    };
    Ok((sharing, frame))
}

/// The layout of A, C and D: that of a Local A, else that of C, else the narrowest for M.
fn m_layout(operands: &Operands<'_>, sharing: Sharing, m: u32) -> Option<Layout> {
    let layout = |role: Role| operands[role as usize]?.descriptor.map(|d| d.layout);
    let found = match sharing {
        Sharing::None | Sharing::Right => layout(Role::A),
        Sharing::Both => layout(Role::C).or_else(|| Layout::narrowest_for_m(m)),
    };
    found.filter(|l| l.max_m().is_some())
}

/// The scalar words in packed order. The published release reads an absent B.IOR as zeros.
fn scalar_words(scalars: Option<&Scalars>, post: &Post, revision: Revision) -> Vec<Option<u64>> {
    match scalars {
        Some(scalars) => scalars.words.clone(),
        None if revision.checks_control_fields() => Vec::new(),
        None => vec![Some(0); super::operation::scalar_count(post)],
    }
}

fn check_scalar_values(op: &Operation<'_>, post: &Post) -> Result<(), Fault> {
    let Some(scalars) = &op.scalars else {
        return Ok(());
    };
    let mut words = scalars.words.iter();
    if post.pre_quant.parameter == Parameter::Scalar
        && let Some(&Some(word)) = words.next()
    {
        Quantisation::parse(word, post.pre_quant.conversion)?;
    }
    if post.relu == super::fields::ReluMode::Scalar
        && let Some(&Some(word)) = words.next()
    {
        modes::parse_relu_factor(word)?;
    }
    Ok(())
}

/// Step 12: what each destination becomes, and whether its size holds it.
fn outputs(
    op: &Operation<'_>,
    frame: &Frame,
    post: &Post,
    layout: Layout,
) -> Result<Vec<Descriptor>, Fault> {
    let mut schemas = vec![(
        "D",
        Schema {
            data_type: post.pre_quant.output(frame.accumulator),
            ..frame.local(Role::C)
        },
    )];
    if post.row_max {
        schemas.push(("RowMaxOut", frame.row_max()));
    }
    if post.group_max {
        schemas.push(("GroupMaxOut", frame.group_max()));
    }
    schemas
        .iter()
        .zip(&op.destinations)
        .map(|((name, schema), destination)| output(name, schema, destination, frame, layout))
        .collect()
}

fn output(
    name: &str,
    schema: &Schema,
    destination: &Destination,
    frame: &Frame,
    layout: Layout,
) -> Result<Descriptor, Fault> {
    let (rows, columns) = schema.shape;
    let descriptor = match destination.descriptor {
        Some(existing) => {
            schema.check(name, None, &existing)?;
            existing
        }
        None if schema.layouts.0 == Layout::RowMajor => {
            require!(
                columns.is_power_of_two() || !frame.revision.needs_power_of_two_outputs(),
                DestinationCapacity,
                "expected {name} with a power of two of columns, found {columns}"
            );
            Descriptor::row_major(schema.data_type, rows, columns, destination.capacity)
        }
        None => Descriptor::cube(
            layout,
            schema.data_type,
            rows,
            columns,
            destination.capacity,
        ),
    };
    let required = descriptor.required_bytes();
    require!(
        required.is_some_and(|bytes| bytes <= u64::from(destination.capacity)),
        DestinationCapacity,
        "expected {name} to hold {descriptor} in its {} bytes, found that it needs {}",
        destination.capacity,
        required.map_or("more than a tile has".to_string(), |b| format!("{b}"))
    );
    Ok(descriptor)
}
