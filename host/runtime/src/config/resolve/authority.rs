//! Resolves the authority of an entry.

use hookbox_protocol::authority::{Authority, Power, Rewrite, env::is_name};

use super::Resolver;
use crate::config::{
    diagnostic::Finding,
    file::{AuthorityEntry, Preset, RewriteEntry},
};

impl Resolver {
    /// The authority of an entry. Reports invalid names of environment variables as errors.
    pub(super) fn authority(&mut self, entry: Option<AuthorityEntry>, pointer: &str) -> Option<Authority> {
        let entry = entry?;
        for (index, name) in entry.invalid_variables() {
            let finding = Finding::error(format!("{pointer}/authority/env/{index}"), no_variable(name));
            self.found.push(finding.help("name each variable, as in `\"env\": [\"CI_JOB_ID\"]`"));
        }
        Some(entry.into())
    }
}

impl AuthorityEntry {
    /// Invalid names of environment variables, with their indices. Patterns are invalid: no deny list could be
    /// complete, so each variable has to be named.
    pub(in crate::config) fn invalid_variables(&self) -> impl Iterator<Item = (usize, &str)> {
        let names: &[String] = match self {
            Self::Preset(_) => &[],
            Self::Detailed(details) => &details.env,
        };
        names.iter().map(String::as_str).enumerate().filter(|(_, name)| !is_name(name))
    }
}

/// The error message for an invalid name.
pub(in crate::config) fn no_variable(name: &str) -> String {
    format!("`{name}` is not the name of an environment variable, and patterns are not supported")
}

impl From<AuthorityEntry> for Authority {
    fn from(entry: AuthorityEntry) -> Self {
        match entry {
            AuthorityEntry::Preset(Preset::Gate) => Self::gate(),
            AuthorityEntry::Preset(Preset::Rewriter) => Self::rewriter(),
            AuthorityEntry::Preset(Preset::Trusted) => Self::trusted(),
            AuthorityEntry::Detailed(details) => Self {
                decide: details.decide.into_iter().map(Power::from).collect(),
                rewrite: match details.rewrite {
                    RewriteEntry::All(_) => Rewrite::All,
                    RewriteEntry::Pointers(pointers) => Rewrite::Only(pointers),
                },
                context: details.context,
                system_message: details.system_message,
                env: details.env,
            },
        }
    }
}
