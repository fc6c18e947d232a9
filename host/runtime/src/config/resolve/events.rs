//! Event names and matchers.

use hookbox_protocol::{
    json::token,
    matcher::{MatchStyle, Matcher},
};

use super::Resolver;
use crate::config::diagnostic::{Finding, list, nearest};

impl Resolver {
    /// The pointer of an event under `hooks`; warns when the name looks like a known one's typo.
    pub(super) fn event_pointer(&mut self, event: &str) -> String {
        let pointer = format!("/hooks/{}", token(event));
        if self.dialect.row_by_name(event).is_none()
            && let Some(near) = nearest(event, self.dialect.rows().iter().map(|row| row.name))
        {
            // A warning only: clients add events every month, and a new name may resemble an old one.
            let message = format!("{} has no event `{event}`", self.dialect.name());
            self.found.push(Finding::warning(&pointer, message).help(format!("did you mean `{near}`?")));
        }
        pointer
    }

    /// Compiles the matcher of what stands at `pointer`.
    pub(super) fn matcher(&mut self, event: &str, text: Option<&str>, pointer: &str) -> Matcher {
        let pointer = format!("{pointer}/matcher");
        let row = self.dialect.row_by_name(event).unwrap_or(self.dialect.other_row());
        let style = self.dialect.match_style();
        let matcher = match Matcher::compile(style.unwrap_or(MatchStyle::Whole), text) {
            Ok(matcher) => matcher,
            Err(error) => {
                self.found.push(Finding::error(&pointer, error.to_string()));
                return Matcher::Everything;
            }
        };
        // decisions.md: "Matchers are ignored for events that are not about a tool" (claude); "`UserPromptSubmit`, `Stop`
        // and `TaskCompleted` take no matcher (one given there is a configuration warning and is ignored)" (blade).
        let ignored = style.is_none() || row.matched.is_none();
        if ignored && !matches!(matcher, Matcher::Everything) {
            let message = format!("{} takes no matcher for {event}, so the hook runs every time", self.dialect.name());
            self.found.push(Finding::warning(&pointer, message));
        }
        if ignored { Matcher::Everything } else { matcher }
    }

    /// Names under `intercept` that the dialect does not know: such a hook would never be asked.
    pub(super) fn intercepts(&mut self, events: &[String], pointer: &str) {
        let known: Vec<&str> = self.dialect.rows().iter().map(|row| row.name).collect();
        for (index, event) in events.iter().enumerate().filter(|(_, event)| !known.contains(&event.as_str())) {
            let finding =
                Finding::warning(format!("{pointer}/intercept/{index}"), format!("`{event}` is never asked about"));
            self.found.push(finding.help(match nearest(event, known.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("known are {}", list(&known)),
            }));
        }
    }
}
