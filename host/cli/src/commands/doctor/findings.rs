//! The findings about one client, for people or for programs.

use std::{fmt::Display, path::PathBuf};

use serde_json::{Value, json};

use crate::{clients::Client, print};

/// The word before a problem.
const PROBLEM: &str = "PROBLEM";
/// The column of the texts of findings.
const HANG: usize = 12;

/// The findings about one client.
pub struct Findings {
    pub(super) client: &'static Client,
    pub(super) project: PathBuf,
    pub(super) problems: usize,
    /// The number of events that never arrived from this project.
    pub(super) unseen: usize,
    /// All findings, for a program. `None`: they are printed for people.
    listed: Option<Vec<Value>>,
}

impl Findings {
    /// No findings yet. `is_json`: they are collected for a program.
    pub(super) fn new(client: &'static Client, project: PathBuf, is_json: bool) -> Self {
        Self { client, project, problems: 0, unseen: 0, listed: is_json.then(Vec::new) }
    }

    /// Prints the client's name for people.
    pub(super) fn title(&self) {
        if self.listed.is_none() {
            print::out(self.client.title);
        }
    }

    /// Reports a problem.
    pub(super) fn problem(&mut self, text: impl Display) {
        self.problems += 1;
        self.line(PROBLEM, text);
    }

    /// Reports one finding.
    pub(super) fn line(&mut self, what: &str, text: impl Display) {
        match &mut self.listed {
            Some(listed) => listed.push(json!({ "about": what.to_lowercase(), "text": text.to_string() })),
            None => print::row(HANG, format_args!("  {what:9} {text}")),
        }
    }

    /// All findings as JSON.
    pub(super) fn json(&self) -> Value {
        json!({
            "client": self.client.name, "title": self.client.title, "project": self.project.to_string_lossy(),
            "problems": self.problems, "neverSeen": self.unseen, "findings": self.listed,
        })
    }
}
