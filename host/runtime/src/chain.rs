//! Records chained by digest: each line has the digest of the line before, so that a changed, missing or moved line is
//! found. See `docs/observing.md`, "Receipts".

mod verify;

use std::io::{self, Read, Seek, SeekFrom};

use hookbox_sandbox::sha256;
use serde::{Deserialize, Serialize};
use serde_json::json;

pub use verify::{Damage, Finding, Verifier};

use crate::{clock::unix_ms, record::RECORD_VERSION};

/// The longest line in bytes.
pub const MAX_LINE: u64 = 64 << 20;
/// The beginning of every chained line.
const BEGIN: &str = r#"{"chain":{"number":"#;
/// Lines at the end of a file that are searched for the last number. Each crash leaves at most one without a number.
const CUT: usize = 8;

/// The place of a line in its chain: its member `chain`, which is the first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// The line's number in the chain. The first is 1. A new file continues the numbers of the old one.
    pub number: u64,
    /// SHA-256 of the line before in hexadecimal, without its newline. `None` in the first line.
    pub previous: Option<String>,
}

/// The end of a chain: the number and the digest of its last line. Signed and kept elsewhere, it proves that no line
/// before it was removed or changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// The number of the last line.
    pub number: u64,
    /// SHA-256 of the last line in hexadecimal.
    pub digest: String,
    /// Unix time in milliseconds when the head was made.
    pub at: i64,
}

/// A chain that is being written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Chain {
    number: u64,
    last: Option<String>,
}

impl Chain {
    /// The chain at the end of a file. `None` if the file has no chained line.
    ///
    /// A crash may have truncated the last line. It stays in the file, as evidence, and the chain continues after it.
    ///
    /// # Errors
    /// The file cannot be read, or its last line is longer than [`MAX_LINE`].
    pub fn resume(file: &mut (impl Read + Seek)) -> io::Result<Option<Self>> {
        let tail = tail(file)?;
        let text = tail.strip_suffix(b"\n").unwrap_or(&tail);
        let mut lines = text.rsplit(|byte| *byte == b'\n').take(CUT);
        let Some(last) = lines.next().filter(|last| !last.is_empty()) else { return Ok(None) };
        let numbers = std::iter::once(last).chain(lines).map(number).enumerate();
        let found = numbers.into_iter().find_map(|(behind, number)| Some((behind as u64, number?)));
        Ok(found.map(|(behind, number)| Self { number: number.saturating_add(behind), last: Some(sha256(last)) }))
    }

    /// The chain behind a head whose signature the caller verified.
    pub fn behind(head: Head) -> Self {
        Self { number: head.number, last: Some(head.digest) }
    }

    /// Chains a record, which is a JSON object. Returns its line without the newline.
    pub fn link(&mut self, record: &str) -> String {
        self.number = self.number.saturating_add(1);
        let place = json!(Link { number: self.number, previous: self.last.take() });
        let members = record.strip_prefix('{').unwrap_or("}");
        let comma = if members.trim_start().starts_with('}') { "" } else { "," };
        let line = format!("{{\"chain\":{place}{comma}{members}");
        self.last = Some(sha256(&line));
        line
    }

    /// Chains a line that says how many records are lost at this place.
    pub fn lost(&mut self, records: u64) -> String {
        self.link(&json!({ "version": RECORD_VERSION, "at": unix_ms(), "lost": records }).to_string())
    }

    /// The end of the chain now. `None` if it has no line.
    pub fn head(&self) -> Option<Head> {
        Some(Head { number: self.number, digest: self.last.clone()?, at: unix_ms() })
    }
}

/// The number of a chained line, also of one that was cut behind it.
fn number(line: &[u8]) -> Option<u64> {
    let rest = line.strip_prefix(BEGIN.as_bytes())?;
    let digits = rest.iter().position(|byte| *byte == b',')?;
    std::str::from_utf8(rest.get(..digits)?).ok()?.parse().ok()
}

/// The last lines of a file: at least [`CUT`] of them, or all.
fn tail(file: &mut (impl Read + Seek)) -> io::Result<Vec<u8>> {
    const CHUNK: u64 = 64 << 10;
    let end = file.seek(SeekFrom::End(0))?;
    let mut length = CHUNK.min(end);
    loop {
        let mut tail = Vec::new();
        file.seek(SeekFrom::Start(end - length))?;
        file.take(length).read_to_end(&mut tail)?;
        let enough = tail.split(|byte| *byte == b'\n').count() > CUT + 1;
        if enough || length == end {
            return Ok(tail);
        }
        if length >= MAX_LINE {
            return Err(io::Error::other("its last line is too long"));
        }
        length = (length * 4).min(end);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]

    use std::io::Cursor;

    use super::{Chain, Damage, Head, Verifier};

    /// A chain of these records.
    fn chained(records: usize) -> (Vec<String>, Chain) {
        let mut chain = Chain::default();
        let lines = (0..records).map(|n| chain.link(&format!(r#"{{"version":1,"n":{n}}}"#))).collect();
        (lines, chain)
    }

    fn damages(lines: &[String], heads: Vec<Head>) -> Vec<Damage> {
        let mut verifier = Verifier::new(heads);
        let text = lines.iter().fold(String::new(), |text, line| text + line + "\n");
        verifier.file("records", text.as_bytes()).unwrap();
        verifier.end().into_iter().map(|finding| finding.damage).collect()
    }

    #[test]
    fn each_kind_of_damage_has_its_name() {
        let (lines, chain) = chained(6);
        let head = chain.head().unwrap();
        assert_eq!(damages(&lines, vec![head.clone()]), []);
        let mut changed = lines.clone();
        changed[2] = changed[2].replace(r#""n":2"#, r#""n":7"#);
        assert_eq!(damages(&changed, Vec::new()), [Damage::Changed { number: 3 }]);
        let mut missing = lines.clone();
        missing.drain(2..4);
        assert_eq!(damages(&missing, Vec::new()), [Damage::Missing { first: 3, last: 4 }]);
        let mut moved = lines.clone();
        moved.swap(1, 2);
        assert!(damages(&moved, Vec::new()).contains(&Damage::Order { number: 2, after: 3 }));
        assert_eq!(damages(&lines[2..], Vec::new()), [Damage::Missing { first: 1, last: 2 }]);
        assert_eq!(damages(&lines[..4], vec![head.clone()]), [Damage::Missing { first: 5, last: 6 }]);
        assert_eq!(damages(&lines[..4], Vec::new()), []);
        let mut added = lines.clone();
        added.insert(3, r#"{"version":1}"#.into());
        assert_eq!(damages(&added, Vec::new()), [Damage::NotChained]);
        // A rewritten chain differs from the head.
        let (mut rewritten, _) = chained(5);
        let mut forged = Chain::resume(&mut Cursor::new(rewritten.join("\n"))).unwrap().unwrap();
        rewritten.push(forged.link(r#"{"version":1,"n":"forged"}"#));
        assert_eq!(damages(&rewritten, Vec::new()), []);
        assert_eq!(damages(&rewritten, vec![head]), [Damage::Head { number: 6 }]);
        assert_eq!(damages(&[], Vec::new()), []);
        // The largest number, and a line behind it that cannot be read.
        let largest = format!(r#"{{"chain":{{"number":{},"previous":null}}}}"#, u64::MAX);
        assert!(damages(&[largest, "x".into()], Vec::new()).contains(&Damage::Cut));
    }

    #[test]
    fn a_new_file_continues_the_chain_of_the_old_one() {
        let (lines, chain) = chained(4);
        let mut verifier = Verifier::new(Vec::new());
        verifier.file("old", lines[..2].join("\n").as_bytes()).unwrap();
        verifier.file("new", lines[2..].join("\n").as_bytes()).unwrap();
        assert_eq!((verifier.end(), verifier.lines(), verifier.first()), (Vec::new(), 4, Some(1)));
        // The old file may be archived elsewhere: its head replaces it.
        let old = chained(2).1.head().unwrap();
        assert_eq!(damages(&lines[2..], vec![old.clone()]), []);
        let mut verifier = Verifier::new(vec![old.clone()]);
        verifier.file("new", lines[2..].join("\n").as_bytes()).unwrap();
        assert_eq!((verifier.end(), verifier.first()), (Vec::new(), Some(3)));
        assert_eq!(damages(&lines[3..], vec![old]), [Damage::Missing { first: 3, last: 3 }]);
        assert_eq!(chain.number, 4);
    }

    #[test]
    fn a_truncated_line_is_found_and_the_chain_continues() {
        for cut in [1, 10, 25, 60] {
            let (mut lines, mut chain) = chained(3);
            lines.push(chain.link(r#"{"version":1,"long":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}"#)[..cut].into());
            let mut resumed = Chain::resume(&mut Cursor::new(lines.join("\n"))).unwrap().unwrap();
            lines.push(resumed.link(r#"{"version":1}"#));
            assert_eq!(damages(&lines, Vec::new()), [Damage::Cut], "{cut}");
        }
        assert_eq!(Chain::resume(&mut Cursor::new("")).unwrap(), None);
        assert_eq!(Chain::resume(&mut Cursor::new("{\"version\":1}\n")).unwrap(), None);
    }

    #[test]
    fn losses_are_counted() {
        let mut chain = Chain::default();
        let lines = [chain.link("{}"), chain.lost(3), chain.link(r#"{"a":1}"#)];
        let mut verifier = Verifier::new(Vec::new());
        verifier.file("records", lines.join("\n").as_bytes()).unwrap();
        assert_eq!((verifier.end(), verifier.lost()), (Vec::new(), 3));
    }

    #[test]
    fn any_change_of_any_byte_is_found() {
        let (lines, chain) = chained(5);
        let whole = lines.join("\n").into_bytes();
        for at in 0..whole.len() {
            for to in [whole[at] ^ 1, b' ', b'\n'] {
                let mut bytes = whole.clone();
                bytes[at] = to;
                let mut verifier = Verifier::new(vec![chain.head().unwrap()]);
                verifier.file("records", bytes.as_slice()).unwrap();
                assert!(bytes == whole || !verifier.end().is_empty(), "{at} {to}");
            }
        }
    }
}
