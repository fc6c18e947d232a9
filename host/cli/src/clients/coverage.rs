//! The coverage of each client: measured, and stored as data, from which `docs/clients.md` is generated.

use std::collections::BTreeMap;

use serde::Deserialize;

/// The coverage of all clients.
#[derive(Debug, Deserialize)]
pub struct Coverage {
    /// The measured version of each client.
    pub measured: BTreeMap<String, String>,
    /// One row per client, event and power.
    pub rows: Vec<Row>,
}

/// The measured effect of one power of a hook on one event of one client.
#[derive(Debug, Deserialize)]
pub struct Row {
    pub client: String,
    /// The event as the client's settings name it. `any`: every event.
    pub event: String,
    /// `deny`, `ask`, `rewrite`, `context` or `end`.
    pub power: String,
    pub holds: Holds,
    /// Restrictions to know about.
    pub note: Option<String>,
}

/// The measured result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Holds {
    Yes,
    Partly,
    No,
}

impl Holds {
    /// The word in `docs/clients.md`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::Partly => "partly",
            Self::No => "no",
        }
    }
}

impl Coverage {
    /// Reads the embedded data.
    pub fn read() -> anyhow::Result<Self> {
        Ok(serde_json::from_str(include_str!("coverage.json"))?)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]
mod tests {
    use std::{fmt::Write, fs, path::Path};

    use hookbox_protocol::{DecisionKind, EventKind, dialect};

    use super::{Coverage, Holds};
    use crate::clients;

    /// `docs/clients.md` is generated from the data and up to date. `UPDATE_DOCS=1` regenerates it.
    #[test]
    fn the_table_is_current() {
        let coverage = Coverage::read().unwrap();
        let mut text = String::from(
            "# What holds in which client\n\n\
             Generated from `host/cli/src/clients/coverage.json` (`./just generate`), which was measured with the real\n\
             programs in the versions below. One row per client, event and power of a hook: to `deny` is to keep it from\n\
             happening, `ask` puts it to the user, `rewrite` replaces what it carries, `context` adds to what the model\n\
             reads, `end` ends the turn or the session. A power that has no row is not there. `any` is every event.\n\
             `hookbox doctor` tells what of this concerns your hooks. How to wire a client stands in [`use/`](use/).\n\n\
             | client | event | power | holds | |\n|---|---|---|---|---|\n",
        );
        for row in &coverage.rows {
            let client = clients::by_name(&row.client).unwrap();
            let note = row.note.as_deref().unwrap_or_default();
            let version = &coverage.measured[&row.client];
            let (title, event) =
                (client.title, if row.event == "any" { "any".into() } else { format!("`{}`", row.event) });
            writeln!(text, "| {title} {version} | {event} | {} | {} | {note} |", row.power, row.holds.word()).unwrap();
        }
        text.push_str(
            "\n## Names of tools\n\n\
             A matcher may name a tool as the calling client does, as Claude Code does, or as the client does that the file is\n\
             written for. Clients and tools that are not listed have Claude Code's names, or names that nobody else has.\n\n\
             | client | its names | Claude Code's |\n|---|---|---|\n",
        );
        let code = |names: &[&str]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        for client in clients::ALL {
            for (own, claudes) in dialect::by_name(client.dialect).unwrap().tool_names() {
                writeln!(text, "| {} | {} | {} |", client.title, code(own), code(claudes)).unwrap();
            }
        }
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/clients.md");
        if std::env::var_os("UPDATE_DOCS").is_some() {
            fs::write(&file, &text).unwrap();
        }
        assert!(
            fs::read_to_string(file).unwrap_or_default() == text,
            "docs/clients.md is not current: ./just generate"
        );
    }

    /// The data agrees with what each dialect can express on an event, and contains every event.
    #[test]
    fn coverage_agrees_with_the_dialects() {
        let coverage = Coverage::read().unwrap();
        for client in clients::ALL {
            // The observed profile describes the program, not its documentation.
            let observed = dialect::by_name(&format!("{}@observed", client.name));
            let dialect = observed.or(dialect::by_name(client.dialect)).unwrap();
            let rows = || coverage.rows.iter().filter(|row| row.client == client.name && row.event != "any");
            let named = |event: &str| {
                let prefixed = format!("hook.{event}");
                let spec = dialect.spec_by_name(event).or_else(|| dialect.spec_by_name(&prefixed));
                spec.or_else(|| dialect.specs().iter().find(|spec| clients::wiring::pascal(spec.name) == event))
            };
            for spec in dialect.specs() {
                let is_expected = spec.kind != EventKind::CanUseTool && spec.name != "hook.hello";
                let there = rows().any(|row| named(&row.event).is_some_and(|other| other.name == spec.name));
                assert!(there || !is_expected, "{}: {} is missing", client.name, spec.name);
            }
            for row in rows() {
                let spec = named(&row.event).unwrap_or_else(|| panic!("{} has no {}", client.name, row.event));
                let says = &spec.expressible;
                let can = match row.power.as_str() {
                    "deny" => spec.blockable,
                    "ask" => says.decisions.contains(&DecisionKind::Ask),
                    "rewrite" => says.rewrite,
                    "context" => says.context,
                    "end" => !says.halt.is_empty(),
                    other => panic!("{other}"),
                };
                let place = format!("{} {} {}", client.name, row.event, row.power);
                assert!(can || row.holds != Holds::Yes, "{place} cannot be said");
                assert!(row.holds != Holds::Partly || row.note.is_some(), "{place} holds partly: when?");
            }
        }
    }
}
