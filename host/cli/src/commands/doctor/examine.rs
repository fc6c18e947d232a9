//! Examines one client: its program, its settings files and their entries.

use std::{
    path::Path,
    process::{Command, Stdio},
};

use super::{Findings, SCOPES, canary, trust, vouched};
use crate::{
    change, child,
    clients::{
        Form, Scope,
        coverage::{Coverage, Holds},
        entry, plugin,
        settings::{Found, Settings},
        wiring::Wiring,
    },
    heartbeat, report,
};

impl Findings {
    /// Examines the client from a folder. `is_named`: the user named this client.
    pub(super) fn examine(&mut self, coverage: &Coverage, is_named: bool, folder: &Path) {
        let client = self.client;
        self.title();
        if self.project != folder {
            let project = self.project.display().to_string();
            self.line("project", format_args!("{project}: its settings are in a parent folder"));
        }
        self.program(coverage);
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
            if is_named { self.problem(hint) } else { self.line("entry", hint) }
        }
    }

    /// Reports the client's program and its version.
    fn program(&mut self, coverage: &Coverage) {
        let client = self.client;
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
        let mut configs: Vec<Option<String>> = found.iter().map(|found| found.command.config.clone()).collect();
        configs.sort();
        configs.dedup();
        for config in configs {
            let of_config: Vec<&Found> = found.iter().filter(|found| found.command.config == config).collect();
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

    /// Reports what cannot be blocked in this client, for the events that have hooks.
    fn cannot(&mut self, coverage: &Coverage, wiring: &Wiring) {
        let (known, _) = wiring.events(self.client);
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

/// The version that a program prints.
fn version(program: &Path) -> Option<String> {
    let mut child = Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
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
