//! Verifies chained records.

use std::{
    collections::BTreeMap,
    fmt,
    io::{self, BufRead, Read},
};

use hookbox_protocol::json;
use hookbox_sandbox::sha256;
use serde::Deserialize;
use serde_json::Value;

use super::{Head, Link, MAX_LINE};

/// Findings that are reported. The rest of a file that is not a chain at all would repeat the first ones.
const MOST: usize = 100;

/// A damage of a chain, and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The file's name.
    pub file: String,
    /// The line in the file, from 1. 0: the end of the file.
    pub line: u64,
    /// The damage.
    pub damage: Damage,
}

/// A kind of damage.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Damage {
    /// The line is not a whole record: a crash cut it, or it was edited.
    Cut,
    /// The line is a record without a place in the chain.
    NotChained,
    /// Lines between the one before and this one are missing.
    Missing {
        /// The number of the first missing line.
        first: u64,
        /// The number of the last missing line.
        last: u64,
    },
    /// The line is behind one with a higher or the same number.
    Order {
        /// The line's number.
        number: u64,
        /// The number of the line before.
        after: u64,
    },
    /// The line before was changed after it was written: this line has another digest of it.
    Changed {
        /// The number of the changed line.
        number: u64,
    },
    /// The line has another digest than a head that was kept elsewhere.
    Head {
        /// The line's number.
        number: u64,
    },
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cut => f.write_str("not a whole record: a crash cut it, or it was edited"),
            Self::NotChained => f.write_str("not part of the chain"),
            Self::Missing { first, last } if first == last => write!(f, "record {first} is missing before it"),
            Self::Missing { first, last } => write!(f, "records {first} to {last} are missing before it"),
            Self::Order { number, after } => write!(f, "record {number} is behind record {after}"),
            Self::Changed { number } => write!(f, "record {number} was changed after it was written"),
            Self::Head { number } => write!(f, "record {number} is not the one of the signed head"),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: at its end: {}", self.file, self.damage),
            line => write!(f, "{}:{line}: {}", self.file, self.damage),
        }
    }
}

/// Verifies the files of one chain, in their order.
#[derive(Debug, Default)]
pub struct Verifier {
    heads: BTreeMap<u64, String>,
    /// The number and the digest of the last line.
    last: Option<(u64, String)>,
    file: String,
    lines: u64,
    first: Option<u64>,
    lost: u64,
    findings: Vec<Finding>,
}

/// The parts of a record that matter here.
#[derive(Deserialize)]
struct Line {
    chain: Option<Link>,
    #[serde(default)]
    lost: u64,
}

impl Verifier {
    /// A verifier that also checks these heads, whose signatures the caller verified.
    pub fn new(heads: Vec<Head>) -> Self {
        Self { heads: heads.into_iter().map(|head| (head.number, head.digest)).collect(), ..Self::default() }
    }

    /// Verifies the next file.
    ///
    /// # Errors
    /// It cannot be read, or has a line of more than [`MAX_LINE`] bytes.
    pub fn file(&mut self, name: &str, mut from: impl BufRead) -> io::Result<()> {
        name.clone_into(&mut self.file);
        for number in 1.. {
            let mut line = Vec::new();
            if from.by_ref().take(MAX_LINE + 1).read_until(b'\n', &mut line)? == 0 {
                return Ok(());
            }
            if line.len() as u64 > MAX_LINE {
                return Err(io::Error::other(format!("line {number} is longer than {} MiB", MAX_LINE >> 20)));
            }
            self.line(number, line.strip_suffix(b"\n").unwrap_or(&line));
        }
        Ok(())
    }

    fn line(&mut self, at: u64, line: &[u8]) {
        self.lines += 1;
        let digest = sha256(line);
        // The strict parser: readers that differ about a repeated key would read different records.
        let parsed = json::parse(line).ok().and_then(|value: Value| serde_json::from_value::<Line>(value).ok());
        let Some(parsed) = parsed else {
            self.found(at, Damage::Cut);
            let number = self.last.as_ref().map_or(1, |(number, _)| number.saturating_add(1));
            self.last = Some((number, digest));
            return;
        };
        let Some(Link { number, previous }) = parsed.chain else { return self.found(at, Damage::NotChained) };
        let earlier = || self.heads.range(..number).next_back().map(|(number, digest)| (*number, digest.clone()));
        self.first.get_or_insert(number);
        // Earlier files may be archived elsewhere; then a head replaces them.
        let before = self.last.take().or_else(earlier);
        let after = before.as_ref().map_or(0, |(number, _)| *number);
        let expected = after.saturating_add(1);
        if number > expected {
            self.found(at, Damage::Missing { first: expected, last: number - 1 });
        } else if number < expected {
            self.found(at, Damage::Order { number, after });
        } else if previous != before.map(|(_, digest)| digest) {
            self.found(at, Damage::Changed { number: after });
        }
        if self.heads.get(&number).is_some_and(|head| *head != digest) {
            self.found(at, Damage::Head { number });
        }
        self.lost = self.lost.saturating_add(parsed.lost);
        self.last = Some((number, digest));
    }

    /// All findings, after the last file. A head of a later line than the last one is one more.
    #[must_use]
    pub fn end(&mut self) -> Vec<Finding> {
        let last = self.last.as_ref().map_or(0, |(number, _)| *number);
        if let Some(head) = self.heads.keys().next_back().copied().filter(|head| *head > last) {
            self.found(0, Damage::Missing { first: last.saturating_add(1), last: head });
        }
        std::mem::take(&mut self.findings)
    }

    /// The lines that were read.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// The number of the first record that was read. More than 1 if the files before it are elsewhere: their heads, not their
    /// records, were verified.
    pub fn first(&self) -> Option<u64> {
        self.first
    }

    /// The records that were lost before they could be written, as the chain says.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    fn found(&mut self, line: u64, damage: Damage) {
        if self.findings.len() < MOST {
            self.findings.push(Finding { file: self.file.clone(), line, damage });
        }
    }
}
