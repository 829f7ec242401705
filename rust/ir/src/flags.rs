//! The accumulate control byte of a PE matmul.

/// The accumulate flags of one matmul. The value is the control byte itself.
///
/// `none` (0) is an interior member of an accumulation group; START opens one, STOP closes one, and
/// ACCUMULATE opens one on the contents already in PSUM (only where the target has the bit).
///
/// ```
/// use pto_ir::AccFlags;
///
/// let alone = AccFlags::START.with(AccFlags::STOP);
/// assert_eq!(alone.byte(), 3);
/// assert_eq!(alone.role(), "opens and closes a group");
/// assert_eq!(AccFlags::from_byte(8), None);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AccFlags(u8);

impl AccFlags {
    /// Interior member: no flag.
    pub const NONE: Self = Self(0);
    /// Begin a group: the cells of the zero region are overwritten at their next PE write.
    pub const START: Self = Self(1);
    /// Close the group.
    pub const STOP: Self = Self(2);
    /// Begin a group on the contents already there.
    pub const ACCUMULATE: Self = Self(4);

    /// The flags with control byte `byte`, or `None` where a reserved bit is set.
    pub const fn from_byte(byte: u8) -> Option<Self> {
        if byte < 8 { Some(Self(byte)) } else { None }
    }

    /// The control byte.
    pub const fn byte(self) -> u8 {
        self.0
    }

    /// Whether START is set.
    pub const fn starts(self) -> bool {
        self.0 & 1 != 0
    }

    /// Whether STOP is set.
    pub const fn stops(self) -> bool {
        self.0 & 2 != 0
    }

    /// Whether ACCUMULATE is set.
    pub const fn accumulates(self) -> bool {
        self.0 & 4 != 0
    }

    /// What they say of the matmul's place in its group, in words.
    pub const fn role(self) -> &'static str {
        match (self.starts(), self.stops(), self.accumulates()) {
            (true, true, _) => "opens and closes a group",
            (true, false, _) => "opens a group",
            (_, true, true) => "opens a group on what is there, and closes it",
            (_, false, true) => "opens a group on what is there",
            (false, true, false) => "closes its group",
            (false, false, false) => "inside its group",
        }
    }

    /// These flags and `other`'s.
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether the control byte exists on a target with or without the ACCUMULATE bit:
    /// 0, 1, 2, 3 everywhere, 4 and 6 where the bit exists, 5 and 7 nowhere.
    pub const fn is_legal(self, target_accumulates: bool) -> bool {
        match self.0 {
            0..=3 => true,
            4 | 6 => target_accumulates,
            _ => false,
        }
    }
}

impl std::fmt::Display for AccFlags {
    /// As in the dialect: `none`, `start`, `start|stop`, ...
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0 == 0 {
            return f.write_str("none");
        }
        let names = [(1, "start"), (2, "stop"), (4, "accumulate")];
        let mut separator = "";
        for (bit, name) in names {
            if self.0 & bit != 0 {
                write!(f, "{separator}{name}")?;
                separator = "|";
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn legal_bytes_are_those_of_the_machine() {
        let legal = |accumulates| -> Vec<u8> {
            (0..8)
                .filter(|&b| AccFlags::from_byte(b).is_some_and(|f| f.is_legal(accumulates)))
                .collect()
        };
        assert_eq!(legal(false), [0, 1, 2, 3]);
        assert_eq!(legal(true), [0, 1, 2, 3, 4, 6]);
        assert_eq!(AccFlags::from_byte(8), None);
    }

    #[test]
    fn prints_in_the_order_of_the_dialect() {
        let all: Vec<String> = (0..8)
            .filter_map(AccFlags::from_byte)
            .map(|f| f.to_string())
            .collect();
        assert_eq!(
            all,
            [
                "none",
                "start",
                "stop",
                "start|stop",
                "accumulate",
                "start|accumulate",
                "stop|accumulate",
                "start|stop|accumulate"
            ]
        );
    }
}
