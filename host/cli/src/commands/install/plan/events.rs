//! The events that a client sends to hookbox.

use std::{path::PathBuf, time::Duration};

use hookbox::config::Hook;
use hookbox_protocol::FailurePolicy;

use super::Target;
use crate::{
    clients::{Scope, wiring::Wiring},
    exit::Exit,
};

/// The events that the client is to send, with their timeouts. Adds a note for each event that it will not send.
///
/// # Errors
/// A gate would never be called, because its event is unknown or the client does not have it.
pub(super) fn sent(
    target: &Target,
    wiring: &Wiring,
    notes: &mut Vec<String>,
) -> anyhow::Result<Vec<(String, Duration)>> {
    let Target { client, config, .. } = target;
    let title = client.title;
    let (known, lacking) = wiring.events(client);
    let closed = |event: &String| {
        let hooks = wiring.config.hooks.iter().filter(|hook| hook.events.contains(event));
        let decided = |hook: &Hook| matches!(hook.on_failure, Some(FailurePolicy::Deny | FailurePolicy::Ask));
        wiring.config.fail_closed || hooks.into_iter().any(decided)
    };
    let refuse = |event: &String, why: String| {
        let message = format!("nothing was written: {}: {why}, so the gate would never be called", config.display());
        let pointer = format!("/hooks/{event}");
        let help =
            wiring.warnings.iter().find(|warning| warning.pointer == pointer).and_then(|found| found.help.clone());
        Exit::Config.advised(message, &[help.as_deref().unwrap_or("use the client's name of the event, or remove it")])
    };
    for event in &wiring.unknown {
        let doubted = wiring.warnings.iter().any(|warning| warning.pointer == format!("/hooks/{event}"));
        // These clients add events every month.
        let grows = ["claude", "codebuddy", "blade"].contains(&client.name);
        if closed(event) && (doubted || !grows) {
            return Err(refuse(event, format!("unknown event {event}")));
        }
        notes.push(format!("unknown event {event}: {title} may not send it"));
    }
    if let Some(event) = lacking.first().filter(|event| known.is_empty() && closed(event)) {
        return Err(refuse(event, format!("{title} has no event {event}")));
    }
    let lacking = lacking.iter().filter(|event| !wiring.unknown.contains(event));
    notes.extend(lacking.map(|event| format!("{title} has no event {event}: its hooks will not run there")));
    if known.is_empty() {
        notes.push(format!("{} has no hooks for events of {title}", config.display()));
    }
    let home = std::env::var_os("HOME").map(PathBuf::from);
    if target.scope == Scope::User && config.starts_with(&target.project) && home.as_ref() != Some(&target.project) {
        notes.push(format!(
            "all your projects will use {}, a file of this project: changing it affects all of them",
            config.display()
        ));
    }
    Ok(known)
}
