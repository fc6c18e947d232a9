//! One word of a command, and brace expansion.

/// Replaces text in a word that is unknown before the command runs. No text contains it: Unicode does not assign it.
pub const UNKNOWN: char = '\u{fdd3}';

/// Unquoted `{`, `,` and `}` while a word is read.
pub(crate) const OPEN: char = '\u{fdd0}';
pub(crate) const COMMA: char = '\u{fdd1}';
pub(crate) const CLOSE: char = '\u{fdd2}';

/// Words that one word with braces becomes at most.
const MOST_WORDS: usize = 64;

/// One word of a command, after the expansions that can be known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Word {
    /// The text, with [`UNKNOWN`] where an expansion is not known.
    pub text: String,
    /// A part of it was quoted: it is no reserved word.
    pub quoted: bool,
    /// It has unquoted `*`, `?` or `[`.
    pub glob: bool,
    /// The commands whose output is in the text, as indices of the script.
    pub(crate) from: Vec<usize>,
}

impl Word {
    /// A word as a test or a caller makes it.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// Returns true if all of the text is known.
    pub fn is_known(&self) -> bool {
        !self.text.contains(UNKNOWN)
    }

    /// The words that its unquoted braces expand to; the word itself if it has none.
    pub(crate) fn expanded(self) -> Vec<Self> {
        if !self.text.contains(OPEN) {
            return vec![self.plain()];
        }
        let (mut done, mut open) = (Vec::new(), vec![self.text.clone()]);
        while let Some(text) = open.pop() {
            match alternatives(&text) {
                Some(texts) if open.len() + done.len() + texts.len() <= MOST_WORDS => {
                    open.extend(texts.into_iter().rev());
                }
                Some(_) => done.push(UNKNOWN.to_string()),
                None => done.push(text),
            }
        }
        done.into_iter().map(|text| Self { text, ..self.clone() }.plain()).collect()
    }

    /// Braces that expand to nothing else are text.
    fn plain(mut self) -> Self {
        if self.text.contains([OPEN, COMMA, CLOSE]) {
            let letter = |c| match c {
                OPEN => '{',
                COMMA => ',',
                CLOSE => '}',
                c => c,
            };
            self.text = self.text.chars().map(letter).collect();
        }
        self
    }
}

/// The texts that the first expandable pair of braces stands for.
fn alternatives(text: &str) -> Option<Vec<String>> {
    let mut from = 0;
    while let Some(open) = text.get(from..)?.find(OPEN).map(|at| from + at) {
        let (mut depth, mut cuts, mut close) = (0_usize, Vec::new(), None);
        for (at, c) in text.get(open..)?.char_indices() {
            match c {
                OPEN => depth += 1,
                CLOSE if depth == 1 => {
                    close = Some(open + at);
                    break;
                }
                CLOSE => depth -= 1,
                COMMA if depth == 1 => cuts.push(open + at),
                _ => {}
            }
        }
        let (start, width) = (open + OPEN.len_utf8(), COMMA.len_utf8());
        if let Some(close) = close {
            let (before, after) = (text.get(..open)?, text.get(close + CLOSE.len_utf8()..)?);
            if !cuts.is_empty() {
                let starts = std::iter::once(start).chain(cuts.iter().map(|cut| cut + width));
                let ends = cuts.iter().copied().chain(std::iter::once(close));
                let parts = starts.zip(ends).filter_map(|(start, end)| text.get(start..end));
                return Some(parts.map(|part| format!("{before}{part}{after}")).collect());
            }
            if text.get(start..close)?.contains("..") {
                return Some(vec![format!("{before}{UNKNOWN}{after}")]);
            }
        }
        from = start;
    }
    None
}
