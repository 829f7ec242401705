//! Round trips, files that NumPy itself wrote, and files nobody should have written.

use super::*;
use proptest::prelude::*;

const KINDS: [Kind; 5] = [Kind::Float, Kind::Int, Kind::Uint, Kind::Bool, Kind::Raw];

fn all_dtypes() -> Vec<Dtype> {
    let pairs = KINDS
        .iter()
        .flat_map(|&kind| (0..=16).map(move |n| (kind, n)));
    pairs.filter_map(|(kind, n)| Dtype::new(kind, n)).collect()
}

/// A file of version `version` with the header `text` and the data `data`.
fn file(version: u8, text: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY".to_vec();
    bytes.extend([version, 0]);
    match version {
        1 => bytes.extend((text.len() as u16).to_le_bytes()),
        _ => bytes.extend((text.len() as u32).to_le_bytes()),
    }
    bytes.extend_from_slice(text.as_bytes());
    bytes.extend_from_slice(data);
    bytes
}

fn header(descr: &str, order: &str, shape: &str) -> String {
    format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n")
}

fn any_array() -> impl Strategy<Value = Array> {
    let shape = prop::collection::vec(0usize..5, 0..5);
    (prop::sample::select(all_dtypes()), shape).prop_flat_map(|(dtype, shape)| {
        let count = byte_count(dtype, &shape).unwrap();
        let largest = if dtype.kind() == Kind::Bool {
            1
        } else {
            u8::MAX
        };
        let data = prop::collection::vec(0u8..=largest, count);
        data.prop_map(move |data| Array::new(dtype, shape.clone(), data).unwrap())
    })
}

#[test]
fn there_are_fifteen_types() {
    let names: Vec<String> = all_dtypes().iter().map(Dtype::to_string).collect();
    let expected = "<f2 <f4 <f8 |i1 <i2 <i4 <i8 |u1 <u2 <u4 <u8 |b1 |V1 <V2 <V4";
    assert_eq!(names.join(" "), expected);
}

#[test]
fn a_written_file_is_what_numpy_writes() {
    let dtype = Dtype::new(Kind::Float, 4).unwrap();
    let array = Array::new(dtype, vec![3], vec![7; 12]).unwrap();
    let bytes = array.write();
    // numpy.save of a float32 vector of three: a header of 118 bytes, data at byte 128.
    assert_eq!(&bytes[..10], b"\x93NUMPY\x01\x00\x76\x00");
    let text = b"{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }";
    assert_eq!(&bytes[10..10 + text.len()], text);
    assert_eq!(bytes[127], b'\n');
    assert_eq!(&bytes[128..], [7; 12]);
}

#[test]
fn versions_spellings_and_a_single_element() {
    for version in 1..=3 {
        let bytes = file(version, &header("<i2", "False", "()"), &[1, 2]);
        let array = Array::read(&bytes).unwrap();
        assert_eq!(array.shape(), [0usize; 0]);
        assert_eq!(array.data(), [1, 2]);
    }
    let odd = "{ \"shape\" : ( 2L , 1 , ) ,'fortran_order':False,\n \"descr\":'|u1'}";
    let array = Array::read(&file(2, odd, &[5, 6])).unwrap();
    assert_eq!((array.shape(), array.data()), (&[2, 1][..], &[5, 6][..]));
}

#[test]
fn fortran_order_becomes_row_major() {
    // [[0, 1, 2], [3, 4, 5]] column after column.
    let bytes = file(1, &header("|u1", "True", "(2, 3)"), &[0, 3, 1, 4, 2, 5]);
    assert_eq!(Array::read(&bytes).unwrap().data(), [0, 1, 2, 3, 4, 5]);
    // Element (i, j, k) of a 2 x 2 x 2 array holds 4i + 2j + k.
    let bytes = file(
        1,
        &header("|u1", "True", "(2, 2, 2)"),
        &[0, 4, 2, 6, 1, 5, 3, 7],
    );
    assert_eq!(
        Array::read(&bytes).unwrap().data(),
        [0, 1, 2, 3, 4, 5, 6, 7]
    );
    let empty = file(1, &header("|u1", "True", "(0, 3)"), &[]);
    assert_eq!(Array::read(&empty).unwrap().shape(), [0, 3]);
}

#[test]
fn big_endian_is_turned() {
    let bytes = file(
        1,
        &header(">u4", "False", "(2,)"),
        &[1, 2, 3, 4, 5, 6, 7, 8],
    );
    let array = Array::read(&bytes).unwrap();
    assert_eq!(array.data(), [4, 3, 2, 1, 8, 7, 6, 5]);
    assert_eq!(array.dtype().to_string(), "<u4");
}

#[test]
fn the_names_ml_dtypes_gives_its_types_are_words() {
    for (descr, bytes) in [("<V2", 2), ("<V1", 1), ("|V2", 2), ("<f1", 1)] {
        let text = header(descr, "False", "()");
        let array = Array::read(&file(1, &text, &[9, 9][..bytes])).unwrap();
        assert_eq!(Some(array.dtype()), Dtype::new(Kind::Raw, bytes));
    }
}

#[test]
fn words_are_raw_or_unsigned() {
    let dtype = |kind, bytes| Dtype::new(kind, bytes).unwrap();
    assert!(dtype(Kind::Raw, 2).is_word(2) && dtype(Kind::Uint, 2).is_word(2));
    assert!(!dtype(Kind::Raw, 1).is_word(2) && !dtype(Kind::Float, 2).is_word(2));
}

#[test]
fn bad_files_are_refused_with_a_reason() {
    let good = header("<f4", "False", "(2, 2)");
    let read = |text: &str, data: &[u8]| Array::read(&file(1, text, data)).unwrap_err();
    let message = |text: &str| read(text, &[0; 16]).to_string();
    assert_eq!(Array::read(b"PK\x03\x04").unwrap_err(), NpyError::Magic);
    assert_eq!(Array::read(b"").unwrap_err(), NpyError::TruncatedHeader);
    assert_eq!(
        Array::read(&file(4, &good, &[])).unwrap_err(),
        NpyError::Version(4, 0)
    );
    assert_eq!(
        read(&good, &[0; 15]).to_string(),
        "type and shape need 16 bytes of data, found 15"
    );
    assert_eq!(
        read(&good, &[0; 17]),
        NpyError::Length {
            expected: 16,
            found: 17
        }
    );
    for descr in ["<f3", "<c8", "O", "<f16", "", ">V2", "<i0", "<f/", "{4"] {
        let error = read(&header(descr, "False", "()"), &[]);
        assert_eq!(error, NpyError::Dtype(format!("'{descr}'")));
    }
    let shape = |shape: &str| message(&header("<f4", "False", shape));
    let too_many = "the shape has more elements than can be addressed";
    assert_eq!(shape("(4294967296, 4294967296, 2)"), too_many);
    assert_eq!(shape("(99999999999999999999999999,)"), too_many);
    assert_eq!(shape("(-1,)"), "expected a size at byte 51 of the header");
    assert_eq!(
        shape("(4)"),
        "expected ',': one size in parentheses is no tuple at byte 52 of the header"
    );
    let deep = format!("({})", "1,".repeat(65));
    assert!(shape(&deep).starts_with("expected at most 64 dimensions"));
    assert_eq!(message(""), "expected '{' at byte 0 of the header");
    assert_eq!(
        message("{}"),
        "expected a key 'descr' at byte 0 of the header"
    );
    assert!(message("{'descr': [('a', '<f4')]}").contains("structured types are not supported"));
    assert!(message("{'descr': '<f4', 'descr': '<f4'}").contains("once at byte 17"));
    assert!(message(&good.replace("'shape'", "'size'")).contains("'shape' once at byte"));
    assert!(message(&format!("{good} 1")).starts_with("expected nothing after '}'"));
    assert!(message("{'descr': '<f4").starts_with("expected a string without escapes that ends"));
    assert!(message(&good.replace("False", "0")).starts_with("expected True or False"));
    let bools = read(&header("|b1", "False", "(3,)"), &[0, 1, 2]);
    assert_eq!(bools, NpyError::Bool { element: 2 });
}

#[test]
fn an_empty_array_may_have_any_other_sizes() {
    let text = header(
        "<f8",
        "True",
        "(18446744073709551615, 0, 18446744073709551615)",
    );
    let array = Array::read(&file(1, &text, &[])).unwrap();
    assert_eq!(array.shape(), [usize::MAX, 0, usize::MAX]);
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(array in any_array()) {
        let bytes = array.write();
        prop_assert_eq!((bytes.len() - array.data().len()) % 64, 0);
        prop_assert_eq!(Array::read(&bytes), Ok(array));
    }

    /// Any few changes to a file give an array or an error, and an array is again a file.
    #[test]
    fn mutated_files_are_read_or_refused(
        array in any_array(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        cut in prop::option::of(any::<prop::sample::Index>()),
        swaps in prop::collection::vec(any::<[prop::sample::Index; 2]>(), 0..3),
    ) {
        let mut bytes = array.write();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        for [a, b] in swaps {
            let (a, b) = (a.index(bytes.len()), b.index(bytes.len()));
            bytes.swap(a, b);
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len() + 1));
        }
        match Array::read(&bytes) {
            Ok(array) => prop_assert_eq!(Array::read(&array.write()), Ok(array)),
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }

    #[test]
    fn any_header_text_is_read_or_refused(text in "[{}(),:'\" 0-9a-zA-Z<>|\\\\]{0,80}") {
        let _ = Array::read(&file(1, &text, &[0; 8])).map_err(|error| error.to_string());
    }
}
