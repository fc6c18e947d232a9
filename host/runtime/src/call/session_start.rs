//! `session-start`

use crate::bindings::exports::hookbox::hooks::session_start::{Decision, Event};

interface! {
    SessionStart(event, input) => session_start::handle(
        start: Event = Event {
            source: input.source.clone(),
            is_resume: input.is_resume,
            resume_session_id: input.resume_session_id.clone(),
        }
    ) -> Decision,
    (Decision { env, effects }, reader) => {
        let mut answer = reader.effects(effects)?;
        for (name, value) in env {
            answer.env.insert(reader.text(name)?, reader.text(value)?.into());
        }
        Ok(answer)
    }
}
