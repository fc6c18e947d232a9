//! `hookbox explain`: explains the verdict on an event, for users who are surprised by it.

use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use hookbox::{ErrorKind, Verdict};

use super::{
    GRACE, block_on, event, host,
    run::{EventText, Source},
};
use crate::{exit::Exit, print, report};

/// Show the hooks that match an event, their outputs, and the rule that decides.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  hookbox explain --config hooks.json --input event.json")]
pub struct Explain {
    /// The configuration; `hooks.json` here, or the client's own settings, when left out
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The event's JSON; stdin when left out
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// The hook protocol, when the configuration does not say (default: claude)
    #[arg(long, value_name = "NAME")]
    dialect: Option<String>,
    /// The event's name, when its JSON does not carry it
    #[arg(long, value_name = "NAME")]
    event: Vec<String>,
    /// The older spelling of `--event NAME`
    #[arg(long, value_name = "NAME", hide = true)]
    name: Option<String>,
    /// Run of the configuration only what needs no trust: components without grants, as gates
    #[arg(long, requires = "config")]
    untrusted: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Explain {
    pub fn run(self) -> anyhow::Result<Exit> {
        if self.json {
            print::json_only();
        }
        let (name, input) = event::one(self.event, self.input)?;
        let event = match &input {
            Some(path) => EventText::read(std::fs::File::open(path).with_context(|| path.display().to_string())?),
            None => EventText::read(std::io::stdin().lock()),
        };
        let (dialect, event_name) = (self.dialect, name.or(self.name));
        let source = Source { config: self.config, dialect, event: event_name, untrusted: self.untrusted };
        let response = block_on(async {
            let config = source.load(&source.path()?, false)?;
            event::check(config.dialect, source.event.as_deref())?;
            let host = host(config).await?;
            let response = host.decide(event.request().event_name(source.event.as_deref())).await;
            host.close(GRACE).await;
            Ok(response)
        })?;
        let show = if self.json { |verdict: &Verdict| print::json(&report::json(verdict)) } else { show };
        response.verdict().into_iter().for_each(show);
        match response.error.filter(|error| error.kind == ErrorKind::Event) {
            Some(error) => Err(Exit::Data.error(error.message)),
            None => Ok(Exit::Ok),
        }
    }
}

/// The column of the texts in the rows of an explanation.
const HANG: usize = 9;

fn show(verdict: &Verdict) {
    verdict.explain().iter().for_each(|line| print::row(HANG, line));
    match &verdict.wire {
        Some(wire) => print::out(format_args!("output   {}", print::json_text(wire))),
        None => print::out("output   none"),
    }
}
