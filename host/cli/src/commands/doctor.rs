//! `hookbox doctor`: finds out why a hook does not run, and what it could not block.

mod canary;
mod rejected;
mod switches;
mod tools;
mod trust;
pub mod vouched;

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};

use super::{block_on, host};
use crate::{
    change, child,
    clients::{
        self, Client, Form, Scope,
        coverage::{Coverage, Holds},
        entry::{self, Wiring},
        on_path, plugin,
        settings::{Found, Settings},
    },
    exit::Exit,
    heartbeat, print, report,
};

/// Check that clients call hookbox, and list what no hook can stop there.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  hookbox doctor claude")]
pub struct Doctor {
    /// Only this client; all that are on this machine when left out
    #[arg(value_name = "CLIENT", value_parser = super::install::client)]
    client: Option<&'static Client>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The findings about one client.
pub struct Findings {
    client: &'static Client,
    project: PathBuf,
    problems: usize,
    /// The number of events that never arrived from this project.
    unseen: usize,
    /// All findings, for a program. `None`: they are printed for people.
    listed: Option<Vec<Value>>,
}

/// The scopes of a client's settings, from the first to the last that doctor reports.
const SCOPES: [Scope; 3] = [Scope::Project, Scope::Local, Scope::User];

impl Doctor {
    /// An examination of one client.
    pub fn of(client: &'static Client) -> Self {
        Self { client: Some(client), json: false }
    }

    pub fn run(self) -> anyhow::Result<Exit> {
        if self.json {
            print::json_only();
        }
        let folder = std::env::current_dir()?;
        let coverage = Coverage::read()?;
        let (mut problems, mut unseen) = (0, 0);
        let mut shown = Vec::new();
        for client in clients::ALL {
            if self.client.is_some_and(|only| only.name != client.name) {
                continue;
            }
            let project = client.project(&folder);
            let there = SCOPES.into_iter().filter_map(|scope| client.file(scope, &project));
            let there = there.filter(|file| file.symlink_metadata().is_ok()).count() > 0;
            if self.client.is_none() && client.program().is_none() && !there {
                continue;
            }
            let listed = self.json.then(Vec::new);
            let mut findings = Findings { client, project, problems: 0, unseen: 0, listed };
            findings.examine(&coverage, self.client.is_some(), &folder);
            problems += findings.problems;
            unseen += findings.unseen;
            shown.push(findings.json());
        }
        let exit = if problems == 0 { Exit::Ok } else { Exit::Config };
        if self.json {
            print::json(&json!({ "clients": shown, "problems": problems, "neverSeen": unseen }));
            return Ok(exit);
        }
        if shown.is_empty() {
            print::out("no supported client is installed on this machine");
        }
        let plural = |count, word: &str| if count == 1 { format!("1 {word}") } else { format!("{count} {word}s") };
        let problems_found = plural(problems, "problem");
        if unseen == 0 {
            print::out(problems_found);
        } else {
            let events = plural(unseen, "event");
            print::out(format_args!(
                "{problems_found}; {events} never came from this project: try one that your hooks deny"
            ));
        }
        Ok(exit)
    }
}

impl Findings {
    fn problem(&mut self, text: impl std::fmt::Display) {
        self.problems += 1;
        self.line(PROBLEM, text);
    }

    /// Reports one finding.
    fn line(&mut self, what: &str, text: impl std::fmt::Display) {
        match &mut self.listed {
            Some(listed) => listed.push(json!({ "about": what.to_lowercase(), "text": text.to_string() })),
            None => print::row(HANG, format_args!("  {what:9} {text}")),
        }
    }

    fn json(&self) -> Value {
        json!({
            "client": self.client.name, "title": self.client.title, "project": self.project.to_string_lossy(),
            "problems": self.problems, "neverSeen": self.unseen, "findings": self.listed,
        })
    }

    fn examine(&mut self, coverage: &Coverage, asked_for: bool, folder: &Path) {
        let client = self.client;
        if self.listed.is_none() {
            print::out(client.title);
        }
        if self.project != folder {
            let project = self.project.display().to_string();
            self.line("project", format_args!("{project}: its settings are in a parent folder"));
        }
        let measured = coverage.measured.get(client.name).map_or("", String::as_str);
        match client.program() {
            Some(program) => {
                let version = version(&program).unwrap_or_else(|| "version unknown".into());
                let same = version
                    .split(|c: char| c.is_whitespace() || c == 'v')
                    .any(|word| word.trim_end_matches('.') == measured);
                let other = if same { String::new() } else { format!("; the facts below were measured in {measured}") };
                self.line("program", format_args!("{}   {version}{other}", program.display()));
            }
            None => self.line("program", format_args!("{} is not on the PATH", client.programs.join(", "))),
        }
        let mut entries = 0;
        self.switches();
        self.rejected();
        for scope in SCOPES {
            let Some(file) = client.file(scope, &self.project) else { continue };
            match self.settings(scope, &file, coverage) {
                Ok(found) => {
                    entries += found;
                    if found > 0 && scope != Scope::User && !client.reads_from(folder, &self.project) {
                        self.problem(format_args!(
                            "{} does not read {} when it is started in this folder: start it in the project's folder, or use \
                             `hookbox install {} --user`",
                            client.title,
                            file.display(),
                            client.name
                        ));
                    }
                }
                Err(error) => self.problem(report::one_line(&error)),
            }
        }
        if entries == 0 {
            let hint = format!("no entry here calls hookbox; `hookbox install {}` writes one", client.name);
            if asked_for { self.problem(hint) } else { self.line("entry", hint) }
        }
    }

    /// Reports on one settings file. Returns the number of hookbox entries in it.
    fn settings(&mut self, scope: Scope, file: &Path, coverage: &Coverage) -> anyhow::Result<usize> {
        let Some(text) = change::read(file)? else { return Ok(0) };
        let client = self.client;
        let found = if client.form == Form::Plugin {
            self.plugin(file, &text).into_iter().collect()
        } else {
            Settings::read(client, file, Some(&text))?.found()?
        };
        let mut configs: Vec<Option<String>> = found.iter().map(|found| found.ours.config.clone()).collect();
        configs.sort();
        configs.dedup();
        for config in configs {
            let of_config: Vec<&Found> = found.iter().filter(|found| found.ours.config == config).collect();
            let events: Vec<&str> = of_config.iter().map(|found| found.event.as_str()).collect();
            self.line("entry", format_args!("{}   {}", file.display(), events.join(", ")));
            let Some(first) = of_config.first() else { continue };
            self.reachable(first);
            self.trusts_folder(scope);
            trust::look(self, scope, file, &of_config);
            let Some(wiring) = self.config(first, scope) else { continue };
            self.events(&of_config, &wiring);
            self.tools(&wiring);
            self.check(&wiring);
            for found in &of_config {
                self.timeout(found, &wiring);
                if entry::is_misquoted(client, &self.project, &found.handler) {
                    self.problem(format_args!(
                        "{}: every call is blocked: {} puts quotes around the project's path, and the entry too: \
                         `hookbox install {}` writes it again",
                        found.event, client.title, client.name
                    ));
                    continue;
                }
                match vouched::check(client, scope, &self.project, file, found, &wiring) {
                    Ok(()) => canary::run(self, found, &wiring),
                    Err(why) => self.line("canary", format_args!("{}   not run: {why}", found.event)),
                }
                if client.form != Form::Process {
                    self.fired(wiring.config.dialect.name(), &found.event);
                }
            }
            self.cannot(coverage, &wiring);
        }
        Ok(found.len())
    }

    /// The entry that corresponds to OpenCode's plugin. OpenCode silently ignores a plugin that does not load.
    fn plugin(&mut self, file: &Path, text: &str) -> Option<Found> {
        let advice = "a plugin that does not load opens every gate: `hookbox install opencode` writes it again";
        if let Some(number) = plugin::first_difference(text) {
            let file = file.display();
            let why = "differs from the plugin of this version";
            self.problem(format_args!(
                "{file}: line {number} {why}: it was edited, or is of another version; {advice}"
            ));
        }
        plugin::Installed::read(text).map(|installed| installed.entry())
    }

    /// Reports when an event last arrived from this project.
    fn fired(&mut self, dialect: &str, event: &str) {
        let fired = heartbeat::last(dialect, event, &self.project);
        self.unseen += usize::from(fired.is_none());
        let fired =
            fired.map_or_else(|| "never, from this project".to_owned(), |ago| format!("{} ago", long(ago.as_secs())));
        self.line("fired", format_args!("{event}   {fired}"));
    }

    /// Reports the findings of `hookbox check` on the configuration.
    fn check(&mut self, wiring: &Wiring) {
        let mut config = wiring.config.clone();
        for text in crate::trust::leave_out_programs(&mut config) {
            self.line("note", text);
        }
        let checked = block_on(async { Ok(host(config).await?.check().await) });
        let found = match checked {
            Ok(found) => found,
            Err(error) => return self.problem(report::one_line(&error)),
        };
        for diagnostic in wiring.warnings.iter().chain(&found) {
            let text = print::lines(diagnostic).into_iter().map(|line| line.trim().to_owned()).collect::<Vec<_>>();
            let text = text.join("; ");
            if diagnostic.is_error() { self.problem(text) } else { self.line("note", text) }
        }
    }

    fn reachable(&mut self, found: &Found) {
        let program = found.ours.words.first().map_or("", String::as_str);
        if let Some(place) = on_path(program) {
            return self.line("hookbox", place.display());
        }
        let blocks = entry::blocks_without_us(self.client, &found.handler);
        let then = if blocks { "every call is blocked" } else { "the gate is open" };
        self.problem(format_args!("`{program}` cannot be started: it is not on this PATH; {then}"));
    }

    /// The configuration that an entry names, as this client uses it.
    fn config(&mut self, found: &Found, scope: Scope) -> Option<Wiring> {
        let ours = &found.ours;
        let below = ours.below(self.client);
        if scope == Scope::User && !Path::new(below).is_absolute() {
            self.line("config", format_args!("{below}: of the client's current project; here that is this folder"));
        }
        let file = self.project.join(below);
        let read = change::read(&file)
            .and_then(|text| text.ok_or_else(|| Exit::Config.error(format!("{} is not there", file.display()))));
        let wiring = read.and_then(|text| Ok(entry::wire(self.client, &text, &file)?));
        match wiring {
            Ok(wiring) => {
                let dialect = wiring.config.dialect.name();
                let closed = if wiring.config.fail_closed { "fails closed" } else { "fails open" };
                self.line("config", format_args!("{}   {dialect}   {closed}", file.display()));
                // The plugin itself denies if hookbox does not respond.
                let plugin = self.client.form == Form::Plugin;
                if wiring.config.fail_closed && !plugin && !ours.words.iter().any(|word| word == "--fail-closed") {
                    self.line("note", "without --fail-closed in the entry, a missing configuration opens the gate");
                }
                let open = !entry::blocks_without_us(self.client, &found.handler) && self.client.form == Form::Groups;
                if wiring.config.fail_closed && entry::is_gate(&wiring, &found.event) && open {
                    let name = self.client.name;
                    let text = format!(
                        "if hookbox is missing or killed, the gate is open: `hookbox install {name}` writes an entry that blocks"
                    );
                    self.line("note", text);
                }
                Some(wiring)
            }
            Err(error) => {
                self.problem(report::one_line(&error));
                None
            }
        }
    }

    /// Reports events without an entry, and entries without hooks.
    fn events(&mut self, found: &[&Found], wiring: &Wiring) {
        if self.client.form == Form::Process || self.client.form == Form::Plugin {
            return;
        }
        let (known, unknown) = entry::events(self.client, wiring);
        for (event, _) in known.iter().filter(|(event, _)| !found.iter().any(|found| found.event == *event)) {
            let name = self.client.name;
            self.problem(format_args!("{event} has hooks, but no entry: `hookbox install {name}` writes it"));
        }
        for event in unknown {
            self.problem(format_args!("{event} has hooks, but {} has no such event", self.client.title));
        }
        for found in found.iter().filter(|found| !known.iter().any(|(event, _)| *event == found.event)) {
            self.line("note", format_args!("{}: no hook handles it", found.event));
        }
        for found in found.iter().filter(|found| found.matcher.as_deref().is_some_and(|text| !text.is_empty())) {
            let matcher = found.matcher.as_deref().unwrap_or_default();
            let text =
                format!("{}: its matcher {} keeps other calls from all hooks", found.event, print::quoted(matcher));
            self.line("note", text);
        }
    }

    fn timeout(&mut self, found: &Found, wiring: &Wiring) {
        let client = self.client;
        if matches!(client.form, Form::Process | Form::Plugin) {
            return;
        }
        let key = if client.form == Form::Flat { "timeoutSec" } else { "timeout" };
        let given = found.handler.get(key).or(found.handler.get("timeout")).and_then(serde_json::Value::as_f64);
        let unit = if client.milliseconds { 1000.0 } else { 1.0 };
        #[expect(clippy::cast_precision_loss, reason = "a few minutes")]
        let has = given.map_or(client.patience as f64, |given| given / unit);
        let needs = entry::time(&wiring.config, &found.event).as_secs_f64();
        if given.is_some_and(|given| client.milliseconds && given < 1000.0) {
            let given = given.unwrap_or_default();
            self.problem(format_args!(
                "{}: its timeout of {given} is in milliseconds: it expires, and the gate is open",
                found.event
            ));
        } else if given.is_some_and(|given| !client.milliseconds && given > 86_400.0) {
            self.problem(format_args!("{}: its timeout is in seconds: this is more than a day", found.event));
        } else if has < needs {
            self.problem(format_args!(
                "{}: {} waits {has} s, but the hooks may take {needs} s: the gate is open after that",
                found.event, client.title
            ));
        } else {
            self.line(
                "timeout",
                format_args!("{}   {has} s, of which the hooks and hookbox may take {needs} s", found.event),
            );
        }
    }

    /// Reports what cannot be blocked in this client, for the events that have hooks.
    fn cannot(&mut self, coverage: &Coverage, wiring: &Wiring) {
        let (known, _) = entry::events(self.client, wiring);
        let has_hooks = |event: &str| {
            let short = |name: &str| name.strip_prefix("hook.").unwrap_or(name).to_owned();
            event == "any" || known.iter().any(|(known, _)| short(known) == event)
        };
        for row in coverage.rows.iter().filter(|row| row.client == self.client.name && has_hooks(&row.event)) {
            if row.holds == Holds::Yes && row.note.is_none() {
                continue;
            }
            let what = if row.event == "any" { row.power.clone() } else { format!("{} {}", row.event, row.power) };
            let note = row.note.as_deref().map(|note| format!(": {note}")).unwrap_or_default();
            self.line("holds", format_args!("{what}   {}{note}", row.holds.word()));
        }
    }
}

/// The word before a problem.
const PROBLEM: &str = "PROBLEM";
/// The column of the texts of findings.
const HANG: usize = 12;

/// The version that a program prints.
fn version(program: &Path) -> Option<String> {
    let mut child = std::process::Command::new(program)
        .arg("--version")
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()
        .ok()?;
    let output = child::within(&mut child, canary::PATIENCE)?;
    let text = String::from_utf8_lossy(&output).into_owned();
    let line = text.lines().map(str::trim).find(|line| line.contains(|c: char| c.is_ascii_digit()))?;
    Some(line.to_owned())
}

/// A duration in the unit that a person would use.
fn long(seconds: u64) -> String {
    match seconds {
        0..=119 => format!("{seconds} s"),
        120..=7199 => format!("{} min", seconds / 60),
        7200..=172_799 => format!("{} h", seconds / 3600),
        _ => format!("{} days", seconds / 86_400),
    }
}
