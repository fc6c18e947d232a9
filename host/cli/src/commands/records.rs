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
    json::parse,
    private::open_regular,
    sha256,
};
use hookbox_registry::{PublicKey, sign_head, verify_head};
use serde::Serialize;
use serde_json::{Value, json};

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
    /// Print JSON
    #[arg(long)]
    json: bool,
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
        if self.json {
            print::json_only();
        }
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
        let decisions = self.event.as_ref().map(|event| self.decisions(event)).transpose()?;
        let lost = verifier.lost();
        if self.json {
            let findings: Vec<Value> = findings
                .iter()
                .map(|finding| {
                    json!({ "file": finding.file, "line": finding.line, "damage": finding.damage.to_string() })
                })
                .collect();
            print::json(&json!({
                "records": verifier.lines(), "signedHeads": signed, "lost": lost, "whole": findings.is_empty(),
                "findings": findings, "event": decisions,
            }));
            return Ok(if findings.is_empty() { Exit::Ok } else { Exit::Failed });
        }
        findings.iter().for_each(print::out);
        if let Some(decisions) = &decisions {
            decisions.print();
        }
        let lost = if lost == 0 { String::new() } else { format!(", {lost} lost before they were written") };
        let word = if findings.is_empty() { "whole" } else { "damaged" };
        let from = verifier.first().filter(|first| *first > 1);
        let from =
            from.map_or_else(String::new, |first| format!(" from record {first} on (those before are not here)"));
        print::out(format_args!("{} records{from}, {signed} signed heads{lost}: {word}", verifier.lines()));
        Ok(if findings.is_empty() { Exit::Ok } else { Exit::Failed })
    }

    /// The decisions on an event, with the component and publisher of each hook.
    fn decisions(&self, event: &Path) -> anyhow::Result<Decisions> {
        let missing = || format!("{} does not exist", event.display());
        let digest = sha256(user_file::read(event)?.with_context(missing)?);
        let mut found = Decisions { digest: format!("sha256:{digest}"), records: Vec::new() };
        for path in &self.files {
            let mut text = Vec::new();
            open_regular(path)?.read_to_end(&mut text).with_context(|| path.display().to_string())?;
            for (number, line) in text.split(|byte| *byte == b'\n').enumerate() {
                let record = parse(line).ok().and_then(|value| serde_json::from_value::<Record>(value).ok());
                let Some(record) = record.filter(|record| record.event_digest == digest) else { continue };
                let hooks = record.hooks.into_iter().filter_map(|hook| {
                    Some(Decided {
                        component: format!("sha256:{}", hook.component_digest?),
                        hook: hook.hook,
                        verdict: hook.verdict.to_string(),
                        publisher: hook.publisher,
                    })
                });
                let (file, hooks) = (path.display().to_string(), hooks.collect());
                found.records.push(Decision { file, line: number + 1, verdict: record.verdict.to_string(), hooks });
            }
        }
        Ok(found)
    }
}

/// The records of one event.
#[derive(Debug, Serialize)]
struct Decisions {
    digest: String,
    records: Vec<Decision>,
}

/// A record of the event.
#[derive(Debug, Serialize)]
struct Decision {
    file: String,
    line: usize,
    verdict: String,
    hooks: Vec<Decided>,
}

/// A component that was asked.
#[derive(Debug, Serialize)]
struct Decided {
    hook: String,
    verdict: String,
    component: String,
    publisher: Option<String>,
}

impl Decisions {
    fn print(&self) {
        print::out(format_args!("event {}", self.digest));
        for Decision { file, line, verdict, hooks } in &self.records {
            print::out(format_args!("{file}:{line}: {verdict}"));
            for Decided { hook, verdict, component, publisher } in hooks {
                let publisher = print::name(publisher.as_deref().unwrap_or("unknown"));
                let hook = print::name(hook);
                print::out(format_args!("  {hook}: {verdict}, component {component}, publisher {publisher}"));
            }
        }
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
