//! Warnings about valid settings that are probably mistakes and leave a gate open.

use hookbox_protocol::{
    Cause, EventKind, FailurePolicy,
    dialect::EventSpec,
    matcher::{MatchStyle, Matcher},
};

use super::Resolver;
use crate::config::{
    CAN_USE_TOOL, Mode,
    diagnostic::{Finding, Severity, list, nearest},
};

impl Resolver {
    /// Warns about a pattern that does not match what it was probably written for.
    pub(super) fn pattern_traps(&mut self, spec: &EventSpec, matcher: &Matcher, text: &str, pointer: &str) {
        let dialect = self.dialect;
        let style = dialect.match_style_of(spec);
        if text.contains(" |") || text.contains("| ") {
            let message =
                format!("`{text}` has blanks around `|`, but names have none, so it matches fewer names than intended");
            let plain = text.split('|').map(str::trim).collect::<Vec<_>>().join("|");
            self.found.push(Finding::warning(pointer, message).help(format!("write `{plain}`")));
        } else if style == Some(MatchStyle::Whole)
            && text.starts_with('^')
            && !text.contains('$')
            && !text.contains(".*")
        {
            let message = format!("`{text}` has to match the whole name under {}, not its beginning", dialect.name());
            let whole = format!("{}.*", text.trim_start_matches('^'));
            self.found.push(
                Finding::warning(pointer, message)
                    .help(format!("to match all names with this beginning, write `{whole}`")),
            );
        } else if spec.matched == Some("tool_name") {
            self.names_no_tool(matcher, text, pointer);
        }
    }

    fn names_no_tool(&mut self, matcher: &Matcher, text: &str, pointer: &str) {
        let usage = self.dialect.usage();
        let named = |name: &&str| {
            let others = self.dialect.also_called(name).iter();
            matcher.matches(Some(name)) || others.into_iter().any(|name| matcher.matches(Some(name)))
        };
        // The tools of a project's MCP servers are unknown here.
        if usage.tools.is_empty() || text.contains("mcp") || usage.tools.iter().any(named) {
            return;
        }
        let message =
            format!("`{text}` names no tool of {} that hookbox knows, so it may match nothing", self.dialect.name());
        let now = usage.renamed.iter().find(|(old, _)| matcher.matches(Some(old)));
        let help = match (now, nearest(text, usage.tools.iter().copied())) {
            (Some((old, new)), _) => format!("`{old}` is `{new}` now"),
            (None, Some(near)) => format!("did you mean `{near}`?"),
            (None, None) => format!("known are {}", list(usage.tools)),
        };
        self.found.push(Finding::warning(pointer, message).help(help));
    }

    /// Warns about a timeout in seconds that is probably meant in milliseconds.
    pub(super) fn unit_trap(&mut self, timeout: Option<f64>, pointer: &str) {
        let Some(from) = self.dialect.usage().milliseconds_from else { return };
        if let Some(seconds) = timeout.filter(|seconds| *seconds >= from) {
            let message = format!(
                "a `timeout` of {seconds} is in seconds here, but the client's documentation uses milliseconds"
            );
            let finding = Finding::warning(format!("{pointer}/timeout"), message);
            self.found.push(finding.help(format!("if milliseconds are meant, write `\"timeoutMs\": {seconds}`")));
        }
    }

    /// Reports gates that are never called because the name of their event is misspelt.
    ///
    /// decisions.md#failures: "So is the misspelt name of an event whose hooks block when they fail".
    pub(in crate::config) fn unasked_gates(&mut self) {
        for (event, at) in &self.misspelt {
            let blocks = |policy: Option<FailurePolicy>| policy.is_some_and(|policy| policy != FailurePolicy::Ignore);
            let mut hooks = self.hooks.iter().filter(|hook| hook.events.contains(event));
            let closed = self.fail_closed || hooks.any(|hook| blocks(hook.on_failure) || blocks(hook.on_timeout));
            if let Some(finding) = self.found.get_mut(*at).filter(|_| closed) {
                finding.severity = Severity::Error;
            }
        }
    }

    /// Warns about hooks for an event that no client is known to send: one warning per event, for its first hook.
    pub(in crate::config) fn unheard_events(&mut self) {
        for event in &self.unheard {
            if let Some(hook) = self.hooks.iter().find(|hook| hook.events.contains(event)) {
                let message = format!("{} may have no event `{event}`", self.dialect.name());
                let help = "its hooks run only if the client sends an event of this name";
                self.found.push(Finding::warning(&hook.pointer, message).help(help));
            }
        }
    }

    /// Warns about gates that open when they fail, if no failure policy is configured.
    pub(in crate::config) fn undecided_gates(&mut self) {
        let mut reported: Vec<&str> = Vec::new();
        for hook in self.hooks.iter().filter(|_| self.enabled && !self.fail_closed) {
            if hook.on_failure.is_some() || hook.observe_only || hook.mode == Mode::Monitor {
                continue;
            }
            let kind = |event: &str| match self.dialect.spec_by_name(event) {
                Some(spec) => spec.kind,
                None if event == CAN_USE_TOOL => EventKind::CanUseTool,
                None => EventKind::OtherEvent,
            };
            let opens = |event: &&String| {
                let kind = kind(event);
                matches!(kind, EventKind::PreToolUse | EventKind::PermissionRequest | EventKind::CanUseTool)
                    && self.dialect.default_policy(kind, Cause::Trap) == FailurePolicy::Ignore
            };
            // One warning per event, for its first hook.
            let Some(event) = hook.events.iter().find(opens).filter(|event| !reported.contains(&event.as_str())) else {
                continue;
            };
            reported.push(event);
            let message =
                format!("no failure policy applies, so `{}` opens the gate on {event} when it fails", hook.name);
            let help =
                "set `\"failClosed\": true` for the file, or `onFailure` for the hook: `block`, `ask` or `ignore`";
            self.found.push(Finding::warning(&hook.pointer, message).help(help));
        }
    }
}
