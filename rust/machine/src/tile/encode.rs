//! Command words whose bit layout is published: BSTART of a CUBE block, and B.FPATR.
//!
//! ```text
//! BSTART   31..27 AType | 26..25 0 | 24..20 function | 19..0 fixed
//! B.FPATR  31..26 PreQuantMode | 25..23 ReluMode | 22..19 GroupNCode | 18 RowMaxEn | 17 GroupMaxEn
//!          16 RowMaxInit | 15 MaxAbsEn | 14..12 Func = 2 | 11 ElementWiseEn = 0 | 10 0
//!          9 CScaleEn | 8 TransB | 7 TransA | 6..0 opcode
//! ```
//!
//! The words of B.DATR, B.DIM, B.IOR, B.IOT and B.IOS are not laid out in what is published; the
//! codes of their fields are, and live with the fields: [`DataType::code`], [`RMode::code`],
//! [`capacity_of_code`], [`PE_MODE_MASKS`].
//!
//! [`RMode::code`]: super::fields::RMode::code
//! [`capacity_of_code`]: super::descriptor::capacity_of_code
//! [`PE_MODE_MASKS`]: super::cooperative::PE_MODE_MASKS

use super::fault::{Fault, Rule, require};
use super::fields::{Post, ReluMode, group_columns};
use super::post::modes::PreQuantMode;
use super::revision::Revision;
use super::types::DataType;

/// BSTART with function 0 and type code 0.
const START_WORD: u32 = 0x0003_1181;
const START_FUNCTION: u32 = 20;
const START_TYPE: u32 = 27;
const FIVE_BITS: u32 = 0x1f;

/// B.FPATR with every field zero.
const POST_WORD: u32 = 0x0000_2023;
/// Bits of B.FPATR that are the same in every word.
const POST_FIXED: u32 = 0x0000_7c7f;

/// The word that starts a block of a CUBE function on left operands of `a_type`.
/// `None` where `function` has more than 5 bits.
pub fn start_word(function: u8, a_type: DataType) -> Option<u32> {
    let function = u32::from(function);
    (function <= FIVE_BITS)
        .then(|| START_WORD | function << START_FUNCTION | u32::from(a_type.code()) << START_TYPE)
}

/// Function code and left type of a BSTART word. The function may still be an unassigned one:
/// that is a fault of the block's completion.
///
/// # Errors
/// `pto:tile-reserved` where the fixed bits differ or the type code is reserved.
pub fn decode_start(word: u32) -> Result<(u8, DataType), Fault> {
    let fields = FIVE_BITS << START_FUNCTION | FIVE_BITS << START_TYPE;
    require!(
        word & !fields == START_WORD,
        ReservedField,
        "expected the fixed bits of BSTART to be {START_WORD:#010x}, found {:#010x}",
        word & !fields
    );
    let code = (word >> START_TYPE) as u8;
    let Some(a_type) = DataType::from_code(code) else {
        return Err(reserved("a left type", code));
    };
    Ok(((word >> START_FUNCTION & FIVE_BITS) as u8, a_type))
}

fn reserved(what: &str, code: u8) -> Fault {
    Fault::new(
        Rule::ReservedField,
        format!("expected {what} with an assigned code, found {code}"),
    )
}

/// The single-bit fields of B.FPATR.
fn bits(post: &Post) -> [(u32, bool); 7] {
    [
        (18, post.row_max),
        (17, post.group_max),
        (16, post.row_max_init),
        (15, post.max_abs),
        (9, post.c_scale),
        (8, post.trans_b),
        (7, post.trans_a),
    ]
}

/// The B.FPATR word of `post`; the group code is cut to its 4 bits.
pub fn post_word(post: &Post) -> u32 {
    let flags = bits(post)
        .into_iter()
        .fold(0, |word, (bit, is_set)| word | u32::from(is_set) << bit);
    POST_WORD
        | u32::from(post.pre_quant.code()) << 26
        | u32::from(post.relu.code()) << 23
        | u32::from(post.group_code & 0xf) << 19
        | flags
}

/// The fields of a B.FPATR word.
///
/// # Errors
/// `pto:tile-reserved` where fixed bits differ, a coded field has a value without meaning, or the
/// revision reserves a bit that is set.
pub fn decode_post(word: u32, revision: Revision) -> Result<Post, Fault> {
    require!(
        word & POST_FIXED == POST_WORD,
        ReservedField,
        "expected the fixed bits of B.FPATR to be {POST_WORD:#010x}, found {:#010x}",
        word & POST_FIXED
    );
    let mode = (word >> 26) as u8;
    let Some(pre_quant) = PreQuantMode::from_code(mode) else {
        return Err(reserved("a pre-quantisation mode", mode));
    };
    let relu = (word >> 23 & 7) as u8;
    let Some(relu) = ReluMode::from_code(relu) else {
        return Err(reserved("an activation mode", relu));
    };
    let group_code = (word >> 19 & 0xf) as u8;
    if group_columns(group_code).is_none() {
        return Err(reserved("a group size", group_code));
    }
    let bit = |n: u32| word >> n & 1 == 1;
    let post = Post {
        pre_quant,
        relu,
        group_code,
        row_max: bit(18),
        group_max: bit(17),
        row_max_init: bit(16),
        max_abs: bit(15),
        c_scale: bit(9),
        trans_b: bit(8),
        trans_a: bit(7),
    };
    require!(
        !post.c_scale || revision.has_column_scale(),
        ReservedField,
        "expected bit 9 of B.FPATR to be 0, found 1"
    );
    Ok(post)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_words() {
        assert_eq!(post_word(&Post::default()), 0x0000_2023);
        assert_eq!(start_word(0, DataType::Fp64), Some(0x0003_1181));
        assert_eq!(start_word(2, DataType::Fp16), Some(0x2023_1181));
        assert_eq!(start_word(32, DataType::Fp16), None);
    }

    #[test]
    fn every_start_word_round_trips() {
        for function in 0..32 {
            for t in DataType::all() {
                let word = start_word(function, t).unwrap();
                assert_eq!(decode_start(word), Ok((function, t)));
            }
        }
    }

    #[test]
    fn every_one_bit_change_of_a_start_word_is_another_word_or_a_fault() {
        let word = start_word(6, DataType::S8).unwrap();
        for bit in 0..32 {
            match decode_start(word ^ 1 << bit) {
                Ok((function, t)) => assert_ne!((function, t), (6, DataType::S8)),
                Err(fault) => assert_eq!(fault.tag(), "pto:tile-reserved"),
            }
        }
    }

    /// Every value of the fields above the fixed bits, with every value of the low flags.
    #[test]
    fn post_words_decode_to_what_encodes_to_them() {
        let mut decoded = 0;
        for high in 0..1 << 17 {
            let word = POST_WORD | high << 15 | (high % 8) << 7;
            match decode_post(word, Revision::Seed) {
                Ok(post) => {
                    assert_eq!(post_word(&post), word);
                    decoded += 1;
                }
                Err(fault) => assert_eq!(fault.tag(), "pto:tile-reserved"),
            }
        }
        assert_eq!(decoded, 27 * 4 * 10 * 16);
    }

    #[test]
    fn fixed_bits_and_the_later_bit_are_checked() {
        for bit in [0, 6, 10, 11, 12, 13, 14] {
            assert!(decode_post(POST_WORD ^ 1 << bit, Revision::Seed).is_err());
        }
        assert!(decode_post(POST_WORD | 1 << 9, Revision::Seed).is_ok());
        assert!(decode_post(POST_WORD | 1 << 9, Revision::Head).is_err());
    }
}
