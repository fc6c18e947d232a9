//! Sealed numbers: text that only this process can turn back into the number.

use std::hash::{BuildHasher, RandomState};

/// The number of rounds of the cipher.
const ROUNDS: u32 = 4;

/// A block cipher of 64 bits with a random key: a Feistel network over the standard library's keyed hash.
#[derive(Debug, Default)]
pub struct Seal(RandomState);

impl Seal {
    /// The text for a number.
    pub fn close(&self, number: u64) -> String {
        let (left, right) =
            (0..ROUNDS).fold(halves(number), |(left, right), round| (right, left ^ self.mix(round, right)));
        format!("{left:08x}{right:08x}")
    }

    /// The number for a text. `None` if the text is not of this form.
    pub fn open(&self, text: &str) -> Option<u64> {
        let is_hex = text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let sealed = is_hex.then(|| u64::from_str_radix(text, 16).ok())??;
        let (left, right) =
            (0..ROUNDS).rev().fold(halves(sealed), |(left, right), round| (right ^ self.mix(round, left), left));
        Some(u64::from(left) << 32 | u64::from(right))
    }

    #[expect(clippy::cast_possible_truncation, reason = "half of a hash")]
    fn mix(&self, round: u32, half: u32) -> u32 {
        self.0.hash_one((round, half)) as u32
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the halves of a number")]
const fn halves(number: u64) -> (u32, u32) {
    ((number >> 32) as u32, number as u32)
}

#[cfg(test)]
mod tests {
    use super::Seal;

    #[test]
    fn a_number_is_unsealed_only_with_the_same_key() {
        let (seal, other) = (Seal::default(), Seal::default());
        for number in [0, 1, 2, 3, 10_000, u64::from(u32::MAX), u64::MAX] {
            assert_eq!(seal.open(&seal.close(number)), Some(number));
            assert_ne!(other.open(&seal.close(number)), Some(number));
        }
    }

    #[test]
    fn another_text_is_not_a_number() {
        let seal = Seal::default();
        for text in ["", "1", "+000000000000001", "000000000000000g", "00000000000000000", "äääääääå"] {
            assert_eq!(seal.open(text), None, "{text}");
        }
    }
}
