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

/// A group and an element of it that takes `rows` rows: what a caller that sees one element only
/// may assume. The group's size is otherwise its own affair. `None` above 32 rows and for none.
pub fn group_with_share(rows: u32) -> Option<(u32, u32)> {
    match rows {
        1..=16 => Some((rows, 0)),
        17..=32 => Some((MAX_GROUP_ROWS - 32 + rows, ELEMENTS - 1)),
        _ => None,
    }
}

/// The first element that takes exactly `rows` rows of a group.
pub fn element_with_share(group_rows: u32, rows: u32) -> Option<u32> {
    (0..ELEMENTS).find(|&element| share(group_rows, element).rows == rows)
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

    #[test]
    fn every_number_of_rows_is_some_element_s_share() {
        for rows in 1..=32 {
            let (group, element) = group_with_share(rows).unwrap();
            assert_eq!(share(group, element).rows, rows);
            let found = element_with_share(group, rows).unwrap();
            assert_eq!(share(group, found).rows, rows);
        }
        assert_eq!((group_with_share(0), group_with_share(33)), (None, None));
        assert_eq!(element_with_share(40, 8), Some(2));
        assert_eq!(element_with_share(40, 9), None);
    }
}
