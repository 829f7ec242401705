//! Operations on Shared operands: four processing elements share the rows of one group.
//!
//! The first dimension counts the rows of the whole group, 1 to 128. Each element takes 16
//! consecutive rows while 64 are enough, else 32; the last ones may get fewer, or none. An element
//! without rows passes the checks of the group and does nothing of its own.

/// Processing elements of a core.
pub const ELEMENTS: u32 = 4;
/// The most rows of a group.
pub const MAX_GROUP_ROWS: u32 = 128;
/// The mask that names every element: bit 3 - i is element i.
pub const ALL_ELEMENTS: u8 = 0b1111;

/// The masks of the 3-bit PEMode codes.
pub const PE_MODE_MASKS: [u8; 8] = [
    0b0000, 0b1000, 0b0100, 0b0010, 0b0001, 0b1100, 0b1110, 0b1111,
];

/// The rows one processing element takes of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// The first row, in the group.
    pub first_row: u32,
    /// How many; may be 0.
    pub rows: u32,
}

/// Rows of each element of a group of `group_rows`.
pub fn rows_per_element(group_rows: u32) -> u32 {
    if group_rows <= MAX_GROUP_ROWS / 2 {
        16
    } else {
        32
    }
}

/// The rows that `element` takes of a group of `group_rows`.
pub fn share(group_rows: u32, element: u32) -> Share {
    let each = rows_per_element(group_rows);
    let first_row = element.saturating_mul(each);
    Share {
        first_row,
        rows: group_rows.saturating_sub(first_row).min(each),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_cover_every_group_once_in_order() {
        for group in 1..=MAX_GROUP_ROWS {
            let mut next = 0;
            for element in 0..ELEMENTS {
                let s = share(group, element);
                assert!(s.rows <= 32);
                if s.rows > 0 {
                    assert_eq!(s.first_row, next, "group {group} element {element}");
                    next += s.rows;
                }
            }
            assert_eq!(next, group);
        }
        assert_eq!(
            share(64, 3),
            Share {
                first_row: 48,
                rows: 16
            }
        );
        assert_eq!(
            share(65, 2),
            Share {
                first_row: 64,
                rows: 1
            }
        );
        assert_eq!(share(16, 1).rows, 0);
    }
}
