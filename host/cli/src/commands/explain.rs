//! `hookbox explain`: people come here when a gate surprises them.

use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use hookbox::{
    ErrorKind, Verdict,
    verdict::{HookReport, Status},
};

use super::{
    GRACE, block_on, event, host,
    run::{EventText, Source},
};
use crate::{exit::Exit, print, report};

/// Show which hooks an event meets, what each says, and what decides.
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
}

impl Explain {
    pub fn run(self) -> anyhow::Result<Exit> {
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
        response.verdict().into_iter().for_each(show);
        match response.error.filter(|error| error.kind == ErrorKind::Event) {
            Some(error) => Err(Exit::Data.error(error.message)),
            None => Ok(Exit::Ok),
        }
    }
}

fn show(verdict: &Verdict) {
    let profile = if verdict.dialect.contains('@') { "" } else { " (documented)" };
    let tool = verdict.tool.as_deref().map(|tool| format!("  {tool}")).unwrap_or_default();
    print::out(format_args!("{}{tool}  under {}{profile}", verdict.event, verdict.dialect));
    let name = verdict.hooks.iter().map(|hook| report::name(hook).chars().count()).max().unwrap_or_default();
    let matched = verdict.hooks.iter().map(|hook| matching(hook).chars().count()).max().unwrap_or_default();
    for (number, hook) in verdict.hooks.iter().enumerate() {
        let line =
            format!("{:3}  {:name$}  {:matched$}  {}", number + 1, report::name(hook), matching(hook), said(hook));
        print::out(line.trim_end());
        for aside in report::asides(hook) {
            print::out(format_args!("     {:name$}  {aside}", ""));
        }
    }
    if verdict.hooks.is_empty() {
        print::out(format_args!("  no hook is configured for {}", verdict.event));
    }
    let outcome = &verdict.outcome;
    let (place, sentence) = outcome.clause.split_once(": ").unwrap_or(("", outcome.clause));
    print::out(format!("verdict  {}   \"{sentence}\"  {place}", outcome.output.word()).trim_end());
    if let Some(reason) = &outcome.output.reason {
        print::out(format_args!("reason   {}", report::first_line(reason)));
    }
    if let Some(would_be) = &verdict.would_be {
        print::out(format_args!("would be {} if the hooks decided that are only watched", would_be.output.word()));
    }
    let dropped: Vec<String> = dropped(verdict).collect();
    let (first, rest) = dropped.split_first().map_or(("nothing", &[][..]), |(first, rest)| (first.as_str(), rest));
    print::out(format_args!("dropped  {first}"));
    for text in rest {
        print::out(format_args!("         {text}"));
    }
    match &verdict.wire {
        Some(wire) => print::out(format_args!("output   {}", print::json_text(wire))),
        None => print::out("output   none"),
    }
}

fn matching(hook: &HookReport) -> String {
    let pattern = hook.matcher.as_deref().filter(|pattern| !pattern.is_empty()).unwrap_or("*");
    let verb = if matches!(hook.status, Status::NotMatched) { "not matched" } else { "matched" };
    format!("{verb} \"{pattern}\"")
}

fn said(hook: &HookReport) -> String {
    match &hook.status {
        Status::NotMatched => String::new(),
        Status::NotHandled => "the component does not handle this event".into(),
        Status::NotReached => "not reached: an earlier hook ended the event".into(),
        Status::Ran(ran) => {
            let text = match &ran.result {
                Ok(output) => output.reason.as_deref().map(report::first_line).unwrap_or_default(),
                Err(failure) => failure.to_string(),
            };
            let fuel = ran.fuel.map(|fuel| format!("   {fuel} fuel")).unwrap_or_default();
            format!("{:8} {text}   {}{fuel}", report::word(hook), report::time(ran.time))
        }
    }
}

fn dropped(verdict: &Verdict) -> impl Iterator<Item = String> {
    let of_hooks = verdict.hooks.iter().flat_map(|hook| match &hook.status {
        Status::Ran(ran) => ran.notes.iter().map(|note| format!("{}: {}", report::name(hook), note.text)).collect(),
        _ => Vec::new(),
    });
    of_hooks.chain(verdict.outcome.notes.iter().map(|(_, note)| note.text.clone()))
}
