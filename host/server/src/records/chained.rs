//! Records chained by digest, with signed heads that are kept elsewhere.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use hookbox::{
    chain::{Chain, Head},
    private::append,
};
use hookbox_registry::{KeyError, SigningKey, sign_head, verify_head};

use crate::settings::ChainSettings;

/// The time between two signed heads while records are written.
const EVERY: Duration = Duration::from_mins(1);
/// The end of the file of heads that is searched for the last one, in bytes.
const TAIL: usize = 64 << 10;

/// The chain of the records.
pub struct Chained {
    chain: Chain,
    /// Records that were lost since the last line.
    lost: u64,
    heads: Option<Heads>,
}

struct Heads {
    key: SigningKey,
    file: PathBuf,
    /// The last head.
    signed: u64,
    at: Instant,
}

/// Lines that are about to be written.
pub struct Next {
    /// The lines, each with its newline.
    pub text: String,
    chain: Chain,
}

impl Chained {
    /// Continues the chain of a file. A new file continues after the last signed head.
    ///
    /// # Errors
    /// The key, the heads or the records cannot be read.
    pub fn open(settings: &ChainSettings, records: Option<&Path>) -> io::Result<Self> {
        let mut heads = None;
        let mut last = None;
        if let (Some(key), Some(file)) = (&settings.key, &settings.heads) {
            let named = |error: KeyError| io::Error::other(format!("{}: {error}", key.display()));
            let key = SigningKey::read(key).map_err(named)?;
            last = last_head(file, &key).map_err(|error| io::Error::other(format!("{}: {error}", file.display())))?;
            let signed = last.as_ref().map_or(0, |head| head.number);
            heads = Some(Heads { key, file: file.clone(), signed, at: Instant::now() });
        }
        let found = records.map(|file| Chain::resume(&mut append(file)?)).transpose()?.flatten();
        let chain = found.or_else(|| last.map(Chain::behind)).unwrap_or_default();
        Ok(Self { chain, lost: 0, heads })
    }

    /// Chains a record, behind a line that counts lost ones. The chain advances only with [`Chained::written`].
    pub fn next(&self, record: Option<&str>) -> Next {
        let mut next = Next { text: String::new(), chain: self.chain.clone() };
        let mut add = |line: String| next.text += &(line + "\n");
        if self.lost > 0 {
            add(next.chain.lost(self.lost));
        }
        if let Some(record) = record {
            add(next.chain.link(record));
        }
        next
    }

    /// Notes that lines are written, and signs a head if the last one is old.
    pub fn written(&mut self, next: Next) {
        (self.chain, self.lost) = (next.chain, 0);
        if self.heads.as_ref().is_some_and(|heads| heads.at.elapsed() >= EVERY) {
            self.sign();
        }
    }

    /// Notes that a record was lost.
    pub fn lost(&mut self) {
        self.lost += 1;
    }

    /// Continues after the last line of a file, if it has a chain: another one than before, or one with a line that was
    /// cut.
    pub fn resume(&mut self, file: &Path) -> io::Result<()> {
        if let Some(found) = Chain::resume(&mut append(file)?)? {
            self.chain = found;
        }
        Ok(())
    }

    /// Signs the head of the chain, unless that is done.
    pub fn sign(&mut self) {
        let Some(heads) = &mut self.heads else { return };
        heads.at = Instant::now();
        let Some(head) = self.chain.head().filter(|head| head.number != heads.signed) else { return };
        let write = || {
            let line = sign_head(&heads.key, &head).map_err(io::Error::other)?;
            append(&heads.file)?.write_all(format!("{line}\n").as_bytes())
        };
        match write() {
            Ok(()) => heads.signed = head.number,
            Err(error) => tracing::error!("cannot save the head of the records: {}: {error}", heads.file.display()),
        }
    }
}

/// The last head in a file that this key signed.
fn last_head(file: &Path, key: &SigningKey) -> io::Result<Option<Head>> {
    use io::{Read, Seek, SeekFrom};
    let mut open = append(file)?;
    let end = open.seek(SeekFrom::End(0))?;
    open.seek(SeekFrom::Start(end.saturating_sub(TAIL as u64)))?;
    let mut tail = Vec::new();
    open.take(TAIL as u64).read_to_end(&mut tail)?;
    let (tail, keys) = (String::from_utf8_lossy(&tail).into_owned(), [key.public()]);
    Ok(tail.lines().rev().find_map(|line| verify_head(line, &keys).ok()))
}
