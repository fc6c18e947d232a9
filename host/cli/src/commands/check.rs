//! `hookbox check`

mod beside;

use std::{
    fs::File,
    path::{Path, PathBuf},
};

use anyhow::Context;
use clap::Args;
use hookbox::config::{Config, Diagnostic, Handler, Reader};
use serde_json::{Value, json};

use super::{
    block_on, event, host,
    run::{EventText, Source},
};
use crate::{diagnostics, exit::Exit, print, terminal::Tone, trust};

/// Report all errors in a configuration and its hooks.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  hookbox check hooks.json --input event.json")]
pub struct Check {
    /// The configuration; `hooks.json` here, or the client's own settings, when left out
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// The same, as under `run`
    #[arg(long, value_name = "FILE", conflicts_with = "file")]
    config: Option<PathBuf>,
    /// The hook protocol, when the configuration does not say (default: claude)
    #[arg(long, value_name = "NAME")]
    dialect: Option<String>,
    /// A recorded event's JSON: report what components say on it beyond their authority (may be given several times; when left
    /// out: `event.json` and the cases of `tests/` beside the configuration, asked without grants)
    #[arg(long, value_name = "FILE")]
    input: Vec<PathBuf>,
    /// The events' name, when their JSON does not carry it
    #[arg(long, value_name = "NAME")]
    event: Vec<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The findings about a configuration.
#[derive(Default)]
struct Findings {
    json: bool,
    errors: usize,
    warnings: usize,
    /// All findings, for a program.
    listed: Vec<Value>,
}

impl Findings {
    fn add(&mut self, found: &[Diagnostic]) {
        let errors = found.iter().filter(|diagnostic| diagnostic.is_error()).count();
        self.errors += errors;
        self.warnings += found.len() - errors;
        let found: Vec<&Diagnostic> = found.iter().collect();
        if self.json { self.listed.extend(diagnostics::json(&found)) } else { diagnostics::out(&found) }
    }

    /// Adds a warning that has no place in the file.
    fn warn(&mut self, message: &str) {
        self.warnings += 1;
        if self.json {
            self.listed.push(json!({ "severity": "warning", "message": message }));
        } else {
            print::marked(Tone::Doubtful, "warning", format_args!(": {message}"));
        }
    }

    fn end(self, file: &Path) -> Exit {
        let Self { json, errors, warnings, listed } = self;
        if json {
            print::json(&json!({
                "file": file.to_string_lossy(), "errors": errors, "warnings": warnings, "diagnostics": listed,
            }));
        } else {
            let plural = |count, word| if count == 1 { format!("1 {word}") } else { format!("{count} {word}s") };
            let (errors, warnings) = (plural(errors, "error"), plural(warnings, "warning"));
            print::out(format_args!("{errors}, {warnings} in {}", file.display()));
        }
        if errors == 0 { Exit::Ok } else { Exit::Config }
    }
}

impl Check {
    pub fn run(self) -> anyhow::Result<Exit> {
        if self.json {
            print::json_only();
        }
        let (event_name, inputs) = event::split(self.event, self.input)?;
        let looks = self.config.is_none();
        let config = self.config.or(self.file);
        let source = Source { config, dialect: self.dialect, event: event_name, untrusted: false };
        let path = source.path()?;
        // As under `run`: naming a file with `--config` means that the caller trusts it.
        let vouched = source.config.is_some() && !looks;
        let mut findings = Findings { json: self.json, ..Findings::default() };
        let reader = source.dialect.iter().fold(Reader::new().with_files(), Reader::dialect);
        match reader.file(&path) {
            Ok(loaded) => {
                findings.add(&loaded.warnings);
                event::check(loaded.config.dialect, source.event.as_deref())?;
                let mut config = loaded.config;
                let mut found = config.self_writes();
                let mut trusted = config.clone();
                if !vouched {
                    let digest = trusted.digest.clone();
                    trust::hold_back(&mut trusted, &digest, false);
                    let lines = if inputs.is_empty() { Vec::new() } else { not_called(&config, &trusted) };
                    for line in lines {
                        findings.warn(&line);
                    }
                    for line in trust::leave_out_programs(&mut config) {
                        findings.warn(&line);
                    }
                }
                found.extend(block_on(async {
                    let mut found = host(config).await?.check().await;
                    if inputs.is_empty() {
                        found.extend(beside::overreach(trusted).await?);
                        return Ok(found);
                    }
                    let host = host(trusted).await?;
                    for path in &inputs {
                        let file = File::open(path).with_context(|| path.display().to_string())?;
                        let event = EventText::read(file);
                        found.extend(
                            host.overreach(&event.read, source.event.as_deref())
                                .await
                                .with_context(|| path.display().to_string())?,
                        );
                    }
                    Ok(found)
                })?);
                findings.add(&found);
            }
            Err(found) => findings.add(&found.diagnostics),
        }
        Ok(findings.end(&path))
    }
}

/// Returns a line for each component that is not called with the events because its configuration is not trusted.
fn not_called(config: &Config, trusted: &Config) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for (hook, kept) in config.hooks.iter().zip(&trusted.hooks) {
        if let (Handler::Wasm(_), Handler::Withheld { why, help }) = (&hook.handler, &kept.handler) {
            let line = format!("`{}` is not called with the events: {why}; {help}", hook.name);
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
    }
    lines
}
