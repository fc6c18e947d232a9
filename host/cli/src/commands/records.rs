//! `hookbox records`: verifies chained records, and signs their head.

use std::{
    collections::BTreeSet,
    io::{BufReader, Read},
    path::{Path, PathBuf},
};

use anyhow::Context;
use clap::{Args, Subcommand};
use hookbox::{
    Record,
    chain::{Chain, Head, Verifier},
    json,
    private::open_regular,
    sha256,
};
use hookbox_registry::{PublicKey, sign_head, verify_head};

use super::sign::signing_key;
use crate::{exit::Exit, print, user_file};

/// Verify chained records (`run --chain`, or `recordsChain` of the daemon), or sign their head
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  hookbox records verify records.1.jsonl records.jsonl --heads heads.jsonl --key records.pub\n  hookbox records head records.jsonl --key records.key >> /elsewhere/heads.jsonl"
)]
pub struct Records {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Find changed, missing and reordered records
    Verify(Verify),
    /// Print the signed head of the records, to keep elsewhere: a truncated file is found by it
    Head(SignHead),
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  hookbox records verify records.jsonl --heads heads.jsonl --key records.pub")]
struct Verify {
    /// The files of one chain, oldest first
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Signed heads that were kept elsewhere, one in a line
    #[arg(long, value_name = "FILE", requires = "key")]
    heads: Option<PathBuf>,
    /// The public key of the heads
    #[arg(long, value_name = "FILE", requires = "heads")]
    key: Option<PathBuf>,
    /// Also print the decisions on this event: the file with its JSON
    #[arg(long, value_name = "FILE")]
    event: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  hookbox records head records.jsonl --key records.key >> /elsewhere/heads.jsonl")]
struct SignHead {
    /// The file of records, or the newest of several
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The private key: ECDSA on P-256, PKCS#8 in PEM, without a password
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
}

impl Records {
    pub fn run(self) -> anyhow::Result<Exit> {
        match self.command {
            Command::Verify(verify) => verify.run(),
            Command::Head(head) => head.run(),
        }
    }
}

impl Verify {
    fn run(self) -> anyhow::Result<Exit> {
        let heads = match (&self.heads, &self.key) {
            (Some(heads), Some(key)) => read_heads(heads, key)?,
            _ => Vec::new(),
        };
        let signed = heads.len();
        let mut verifier = Verifier::new(heads);
        for path in &self.files {
            let shown = path.display().to_string();
            let file = open_regular(path).with_context(|| shown.clone())?;
            verifier.file(&shown, BufReader::new(file)).with_context(|| shown)?;
        }
        let findings = verifier.end();
        findings.iter().for_each(print::out);
        if let Some(event) = &self.event {
            self.tell(event)?;
        }
        let lost = verifier.lost();
        let lost = if lost == 0 { String::new() } else { format!(", {lost} lost before they were written") };
        let word = if findings.is_empty() { "whole" } else { "damaged" };
        print::out(format_args!("{} records, {signed} signed heads{lost}: {word}", verifier.lines()));
        Ok(if findings.is_empty() { Exit::Ok } else { Exit::Failed })
    }

    /// Prints the hooks that decided on an event, with the component and publisher of each.
    fn tell(&self, event: &Path) -> anyhow::Result<()> {
        let missing = || format!("{} does not exist", event.display());
        let digest = sha256(user_file::read(event)?.with_context(missing)?);
        print::out(format_args!("event sha256:{digest}"));
        for path in &self.files {
            let mut text = Vec::new();
            open_regular(path)?.read_to_end(&mut text).with_context(|| path.display().to_string())?;
            for (number, line) in text.split(|byte| *byte == b'\n').enumerate() {
                let record = json::parse(line).ok().and_then(|value| serde_json::from_value::<Record>(value).ok());
                let Some(record) = record.filter(|record| record.event_digest == digest) else { continue };
                print::out(format_args!("{}:{}: {}", path.display(), number + 1, record.verdict));
                for hook in record.hooks.iter().filter(|hook| hook.component_digest.is_some()) {
                    let component = hook.component_digest.as_deref().unwrap_or_default();
                    let publisher = hook.publisher.as_deref().unwrap_or("unknown");
                    print::out(format_args!(
                        "  {}: {}, component sha256:{component}, publisher {}",
                        print::name(&hook.hook),
                        hook.verdict,
                        print::name(publisher)
                    ));
                }
            }
        }
        Ok(())
    }
}

impl SignHead {
    fn run(self) -> anyhow::Result<Exit> {
        let key = signing_key(&self.key)?;
        let shown = || self.file.display().to_string();
        let chain = open_regular(&self.file).and_then(|mut file| Chain::resume(&mut file)).with_context(shown)?;
        let head = chain.as_ref().and_then(Chain::head);
        let head = head.ok_or_else(|| Exit::Data.error(format!("{} has no chained records", shown())))?;
        print::out(sign_head(&key, &head)?);
        Ok(Exit::Ok)
    }
}

/// The heads in a file, each signed by the key.
fn read_heads(file: &Path, key: &Path) -> anyhow::Result<Vec<Head>> {
    let keys = [PublicKey::read(key).map_err(|error| Exit::Config.error(format!("{}: {error}", key.display())))?];
    let text = user_file::read(file)?.with_context(|| format!("{} does not exist", file.display()))?;
    let text = String::from_utf8_lossy(&text);
    let (mut heads, mut seen) = (Vec::new(), BTreeSet::new());
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let place = format!("{}:{}", file.display(), number + 1);
        let head = verify_head(line, &keys).map_err(|error| Exit::Unsigned.error(format!("{place}: {error}")))?;
        if !seen.insert((head.number, head.digest.clone())) {
            continue;
        }
        if heads.iter().any(|known: &Head| known.number == head.number) {
            return Err(Exit::Unsigned.error(format!("{place}: another head of record {} is signed too", head.number)));
        }
        heads.push(head);
    }
    Ok(heads)
}
