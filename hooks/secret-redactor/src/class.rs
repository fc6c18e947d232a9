//! Classes of letters, as tables that the compiler makes; and entropy.

/// Letters that may stand in a token.
#[derive(Clone, Copy)]
pub(crate) struct Class([bool; 256]);

impl Class {
    /// The letters of a list and its ranges: `A-Z2-7`. A `-` at its end is one.
    #[expect(clippy::indexing_slicing, reason = "it runs when this is compiled")]
    pub(crate) const fn of(list: &str) -> Self {
        let list = list.as_bytes();
        let mut has = [false; 256];
        let mut at = 0;
        while at < list.len() {
            let mut next = list[at];
            let range = at + 2 < list.len() && list[at + 1] == b'-';
            let end = if range { list[at + 2] } else { next };
            while next <= end {
                has[next as usize] = true;
                next += 1;
            }
            at += if range { 3 } else { 1 };
        }
        Self(has)
    }

    pub(crate) fn has(&self, byte: u8) -> bool {
        self.0.get(usize::from(byte)).copied().unwrap_or_default()
    }

    /// Number of bytes at the start of a text that are of this class, at most `most`.
    pub(crate) fn run(&self, text: &[u8], most: usize) -> usize {
        text.iter().take(most).take_while(|byte| self.has(**byte)).count()
    }
}

/// Shannon entropy of a text in bits per byte.
#[expect(clippy::cast_precision_loss, reason = "texts are short")]
pub(crate) fn entropy(text: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in text {
        if let Some(count) = counts.get_mut(usize::from(*byte)) {
            *count += 1;
        }
    }
    let all = text.len() as f64;
    let part = |count: &u32| {
        let share = f64::from(*count) / all;
        -share * share.log2()
    };
    counts.iter().filter(|count| **count > 0).map(part).sum()
}
