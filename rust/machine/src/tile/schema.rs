//! What each operand of an operation must look like: type, shape, layout, location.

use super::descriptor::{Descriptor, Location};
use super::fault::{Fault, Rule};
use super::fields::group_columns;
use super::layout::Layout;
use super::mx;
use super::operation::{Role, scale_groups};
use super::revision::Revision;
use super::types::DataType;

/// The numbers and types an operation's operands are judged against.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// Rows of C, of D and of a Local A: those of this processing element.
    pub m: u32,
    /// Rows of a Shared A: those of the whole group.
    pub group_m: u32,
    /// The first row of this element in the group.
    pub first_row: u32,
    /// Columns of B, C and D.
    pub n: u32,
    /// Columns of A, rows of B.
    pub k: u32,
    /// Left type.
    pub a_type: DataType,
    /// Right type.
    pub b_type: DataType,
    /// FP32, S32 or U32.
    pub accumulator: DataType,
    /// The layout of A, C and D; `None` while it is not known.
    pub m_layout: Option<Layout>,
    /// The Shared left operand is stored transposed.
    pub trans_a: bool,
    /// The Shared right operand is stored transposed.
    pub trans_b: bool,
    /// Code of the columns of one GroupMax group.
    pub group_code: u8,
    /// Which text is followed.
    pub revision: Revision,
    /// The most bytes of one tile, beside the limits of Local and Shared ones.
    pub tile_limit: u64,
}

/// What an operand must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schema {
    /// Element type.
    pub data_type: DataType,
    /// Valid rows and columns.
    pub shape: (u32, u32),
    /// The layout expected; a second one that will do as well.
    pub layouts: (Layout, Option<Layout>),
    /// The location, where it is checked.
    pub location: Option<Location>,
    /// Whether the stored columns must be a power of two.
    pub padded: bool,
}

impl Schema {
    fn new(data_type: DataType, shape: (u32, u32), layout: Layout) -> Schema {
        Schema {
            data_type,
            shape,
            layouts: (layout, None),
            location: layout.is_cube().then_some(Location::Matrix),
            padded: false,
        }
    }

    /// A parameter or a RowMaxIn: row-major, placed for any unit.
    fn post(data_type: DataType, shape: (u32, u32)) -> Schema {
        Schema {
            location: Some(Location::Any),
            padded: true,
            ..Schema::new(data_type, shape, Layout::RowMajor)
        }
    }

    /// Or in `layout`.
    fn or(self, layout: Option<Layout>) -> Schema {
        Schema {
            layouts: (self.layouts.0, layout),
            ..self
        }
    }

    /// Judges a descriptor: shape, then type, then layout and location.
    ///
    /// # Errors
    /// `pto:tile-operand-shape`, `-type` or `-layout`; `pto:tile-post-source` for the sources of
    /// post-processing, `pto:tile-c-scale` for CScale and `pto:tile-shared-schema` for a Shared
    /// operand, whichever of the three differs.
    pub fn check(&self, name: &str, rule: Option<Rule>, d: &Descriptor) -> Result<(), Fault> {
        let fail = |of: Rule, what: String| Err(Fault::new(rule.unwrap_or(of), what));
        let (rows, columns) = self.shape;
        if (d.valid_rows, d.valid_columns) != self.shape {
            return fail(
                Rule::OperandShape,
                format!(
                    "expected {name} to be {rows}x{columns}, found {}x{}",
                    d.valid_rows, d.valid_columns
                ),
            );
        }
        if d.data_type != self.data_type {
            return fail(
                Rule::OperandType,
                format!(
                    "expected {name} of {}, found {}",
                    self.data_type, d.data_type
                ),
            );
        }
        let (layout, other) = self.layouts;
        if d.layout != layout && Some(d.layout) != other {
            return fail(
                Rule::OperandLayout,
                format!("expected {name} in {layout}, found {}", d.layout),
            );
        }
        let is_first = d.layout == layout;
        if is_first && self.location.is_some_and(|l| l != d.location) {
            return fail(
                Rule::OperandLayout,
                format!(
                    "expected {name} placed for {:?}, found {:?}",
                    self.location.unwrap_or(d.location),
                    d.location
                ),
            );
        }
        if self.padded && is_first && !d.columns.is_power_of_two() {
            return fail(
                Rule::OperandLayout,
                format!(
                    "expected {name} with a power of two of stored columns, found {}",
                    d.columns
                ),
            );
        }
        Ok(())
    }
}

impl Frame {
    /// The most bytes of a tile of a kind that has at most `limit`.
    pub fn limit(&self, limit: u32) -> u32 {
        u32::try_from(self.tile_limit).map_or(limit, |register| register.min(limit))
    }

    /// What a Local operand must be. `m_layout` must be known for those that have it; until it is,
    /// the narrowest layout of M stands in, so that type and shape are judged all the same.
    pub fn local(&self, role: Role) -> Schema {
        let m_layout = self.m_layout.unwrap_or(Layout::CubeM16);
        let auxiliary = self.revision.allows_cube_auxiliaries().then_some(m_layout);
        match role {
            Role::A => Schema::new(self.a_type, (self.m, self.k), m_layout),
            Role::B => Schema::new(self.b_type, (self.k, self.n), Layout::CubeN8),
            Role::C => Schema::new(self.accumulator, (self.m, self.n), m_layout),
            Role::Bias => {
                Schema::new(self.accumulator, (1, self.n), Layout::RowMajor).or(auxiliary)
            }
            Role::CScale => Schema::new(DataType::U8, (self.m, 1), Layout::CubeM32),
            Role::RowMaxIn => Schema::post(self.accumulator, (self.m, 1)).or(auxiliary),
            Role::Quant | Role::Prelu => Schema::post(DataType::U64, (1, self.n)),
            Role::ScaleA | Role::ScaleB => self.local_scale(role),
        }
    }

    fn local_scale(&self, role: Role) -> Schema {
        let (groups, scale_type) = self.scale(role);
        if !self.revision.has_cube_scales() {
            let shape = match role {
                Role::ScaleA => (self.m, groups),
                _ => (groups, self.n),
            };
            return Schema::new(scale_type, shape, Layout::RowMajor);
        }
        let rows = match role {
            Role::ScaleA => self.m,
            _ => self.n,
        };
        Schema::new(scale_type, (rows, groups), Layout::CubeM32)
    }

    /// What a Shared operand must be, as it is stored.
    pub fn shared(&self, role: Role) -> Schema {
        let follows = self.revision.has_cube_scales();
        let (data_type, (rows, columns), transposed) = match role {
            Role::A => (self.a_type, (self.group_m, self.k), self.trans_a),
            Role::ScaleA => {
                let (groups, scale) = self.scale(role);
                (scale, (self.group_m, groups), self.trans_a && follows)
            }
            Role::ScaleB => {
                let (groups, scale) = self.scale(role);
                (scale, (groups, self.n), self.trans_b && follows)
            }
            _ => (self.b_type, (self.k, self.n), self.trans_b),
        };
        let shape = if transposed {
            (columns, rows)
        } else {
            (rows, columns)
        };
        Schema::new(data_type, shape, Layout::RowMajor)
    }

    /// K-groups and scale type of a scale operand.
    pub fn scale(&self, role: Role) -> (u32, DataType) {
        let side = match role {
            Role::ScaleA => self.a_type,
            _ => self.b_type,
        };
        let (size, scale_type) = mx::group_of(side).unwrap_or((32, DataType::E8M0));
        (scale_groups(self.k, size), scale_type)
    }

    /// What RowMaxOut must be.
    pub fn row_max(&self) -> Schema {
        self.auxiliary_output((self.m, 1))
    }

    /// What GroupMaxOut must be.
    pub fn group_max(&self) -> Schema {
        let columns = group_columns(self.group_code).unwrap_or(0).max(1);
        self.auxiliary_output((self.m, self.n.div_ceil(columns)))
    }

    fn auxiliary_output(&self, shape: (u32, u32)) -> Schema {
        let auxiliary = self
            .m_layout
            .filter(|_| self.revision.allows_cube_auxiliaries());
        Schema::new(self.accumulator, shape, Layout::RowMajor).or(auxiliary)
    }
}
