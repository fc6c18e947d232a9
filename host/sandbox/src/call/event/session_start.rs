//! `session-start`

use crate::bindings::exports::hookbox::hooks::session_start::{Event, Output};

interface! {
    SessionStart(event, input) => session_start::handle(
        start: Event = Event {
            source: input.source.as_deref(),
            is_resume: input.is_resume,
            resume_session_id: input.resume_session_id.as_deref(),
        }
    ) -> Output,
    (Output { env, effects }, reader) => {
        let mut output = reader.effects(effects)?;
        for (name, value) in env {
            output.env.insert(reader.text(name)?, reader.text(value)?.into());
        }
        Ok(output)
    }
}
