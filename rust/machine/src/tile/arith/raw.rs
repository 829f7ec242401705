//! Raw arithmetic: `acc + a * b` modulo 2^64 on payload words, whatever the type.
//!
//! It is what the executable specification does for every type, kept to reproduce its vectors.
//! An MX scale multiplies as the integer of its code.

use super::{Product, ScalePlane, accumulate};

/// The m x n words of the product.
pub fn multiply(p: &Product<'_>) -> Vec<u64> {
    let a = scaled(&p.a, p.a_scales.as_ref());
    let b = scaled(&p.b, p.b_scales.as_ref());
    let mut sums = match &p.c {
        Some(c) => c.to_vec(),
        None => vec![0; p.m * p.n],
    };
    accumulate((p.m, p.n, p.k), &a, &b, &mut sums, |s: u64, x: u64, y| {
        s.wrapping_add(x.wrapping_mul(y))
    });
    if let Some(bias) = p.bias {
        for row in sums.chunks_exact_mut(p.n) {
            for (s, &b) in row.iter_mut().zip(bias) {
                *s = s.wrapping_add(b);
            }
        }
    }
    sums
}

fn scaled(words: &[u64], scales: Option<&ScalePlane>) -> Vec<u64> {
    match scales {
        None => words.to_vec(),
        Some(scales) => words
            .iter()
            .zip(&scales.words)
            .map(|(&w, &s)| w.wrapping_mul(s))
            .collect(),
    }
}
