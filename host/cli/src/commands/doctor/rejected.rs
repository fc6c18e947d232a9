//! Settings that the client does not read, although hookbox can read them.

use std::path::{Path, PathBuf};

use super::{Findings, SCOPES};
use crate::{
    change,
    clients::{claude, settings::Settings},
    report,
};

/// A settings file of the client.
struct Read {
    file: PathBuf,
    text: String,
    /// The events that have a hookbox entry in it.
    events: Vec<String>,
    /// The groups that keep the client from running other hooks: the event, the index, and the reason.
    spoiled: Vec<(String, usize, &'static str)>,
}

impl Findings {
    /// Reports files that the client does not read, and groups that keep it from running hookbox.
    pub fn rejected(&mut self) {
        let files: Vec<Read> =
            SCOPES.into_iter().filter_map(|scope| self.read(&self.client.file(scope, &self.project)?)).collect();
        let title = self.client.title;
        let mut reported = Vec::new();
        for read in &files {
            let Some(why) = self.client.unread(&read.text) else { continue };
            let text = format!(
                "{}: {title} does not read it, so {}: {why}",
                read.file.display(),
                self.client.without_settings()
            );
            // Without its settings Gemini does not start at all.
            if read.events.is_empty() && self.client.name != "gemini" {
                self.line("note", text);
            } else {
                self.problem(text);
            }
            reported.push(read.file.clone());
        }
        for read in &files {
            for (event, index, why) in &read.spoiled {
                if files.iter().any(|read| read.events.contains(event)) {
                    self.problem(format_args!(
                        "{}: /hooks/{event}/{index}: {why}, so {title} runs no hook of {event}",
                        read.file.display()
                    ));
                }
            }
        }
        if self.client.name == "claude" && files.iter().any(|read| !read.events.is_empty()) {
            self.claude(&files, &reported);
        }
    }

    /// Reports what Claude Code itself says about the settings.
    fn claude(&mut self, files: &[Read], reported: &[PathBuf]) {
        let Some(program) = self.client.program() else { return };
        let found = match claude::invalid(&program, self.client.home().as_deref(), &self.project) {
            Ok(found) => found,
            Err(error) => return self.line("note", report::one_line(&error)),
        };
        for invalid in found.iter().filter(|invalid| !reported.iter().any(|file| invalid.is_of(file))) {
            let is_ours = files.iter().any(|read| !read.events.is_empty() && invalid.is_of(&read.file));
            if is_ours && !invalid.is_part {
                self.problem(format_args!(
                    "Claude Code does not load these settings, so no hook of them runs: {}",
                    invalid.text
                ));
            } else {
                self.line("note", format_args!("Claude Code: {}", invalid.text));
            }
        }
    }

    /// A settings file that can be parsed. The errors of others are reported where their entries are read.
    fn read(&self, file: &Path) -> Option<Read> {
        let text = change::read(file).ok()??;
        let (events, spoiled) = match Settings::read(self.client, file, Some(&text)) {
            Ok(settings) => (
                settings.found().ok()?.into_iter().map(|found| found.event).collect(),
                settings.spoiled().unwrap_or_default(),
            ),
            Err(_) => (Vec::new(), Vec::new()),
        };
        Some(Read { file: file.to_owned(), text, events, spoiled })
    }
}
