//! Checks that the client runs the entry at all.

use std::path::Path;

use super::Findings;
use crate::clients::{Scope, codex, settings::Found};

/// Asks Codex for its approvals, which only it can verify.
pub fn look(findings: &mut Findings, scope: Scope, file: &Path, found: &[&Found]) {
    if findings.client.name != "codex" {
        return;
    }
    let Some(program) = findings.client.program() else {
        findings.line("trust", "codex is not on the PATH, so its approvals of the entries are unknown");
        return;
    };
    let listed = match codex::list(&program, &findings.project) {
        Ok(listed) => listed,
        Err(error) => return findings.problem(format_args!("{error:#}")),
    };
    for warning in &listed.warnings {
        findings.problem(format_args!("Codex: {warning}"));
    }
    let place = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    for found in found {
        let keys = [file, &place].map(|file| codex::key(file, &found.event, found.position));
        match listed.hooks.iter().find(|hook| keys.contains(&hook.key)) {
            Some(hook) if hook.trusted && hook.enabled => {
                findings.line("trust", format_args!("{}   approved", found.event));
            }
            Some(hook) => {
                let why = if hook.enabled { "its hash was not approved" } else { "it is switched off" };
                findings.problem(format_args!("{}: {why}, so it does not run: `hookbox install codex`", found.event));
            }
            // A warning has the reason.
            None if !listed.warnings.is_empty() => {
                findings.problem(format_args!("{}: Codex does not know the entry", found.event));
            }
            None => {
                let why = match scope {
                    Scope::Project | Scope::Local => "the project may not be trusted, or hooks may be switched off",
                    Scope::User => "hooks may be switched off, or a part of the file switches off all of it",
                };
                findings.problem(format_args!("{}: Codex does not know the entry: {why}", found.event));
            }
        }
    }
}
