//! A session begins or is resumed. All dialects but codebuddy and picoclaw.

use crate::bindings::session_start::exports::hookbox::hooks::session_start as wit;
use crate::output::Decides;
use crate::verb::Env;
use crate::wire::{Lower, event, input};

input! {
    /// The kind of start.
    Event from wit::Event {
        /// `startup`, `resume`, `clear` or `compact`; claude now also `fork`.
        source: Option<String>,
        /// blade.
        is_resume: Option<bool>,
        /// blade: the session being resumed.
        resume_session_id: Option<String>,
    }
}

/// The output of a hook for this event.
pub type Output = crate::Output<Event>;

/// The decision about the session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Body {
    /// blade: environment variables for the whole session.
    pub env: Vec<(String, String)>,
}

event! {
    /// A session begins: give the model context, or (blade) set environment variables.
    ///
    /// ```
    /// use hookbox_guest::prelude::*;
    ///
    /// struct Welcome;
    ///
    /// impl SessionStart for Welcome {
    ///     fn handle(_: &EventContext, _: &session_start::Event) -> Result<session_start::Output> {
    ///         Ok(pass().context("This repository is formatted with rustfmt.").env("CI", "1"))
    ///     }
    /// }
    ///
    /// hookbox_guest::export!(Welcome: SessionStart);
    /// ```
    SessionStart in session_start(event: Event) -> Output
}

impl Decides for Event {
    type Body = Body;
}

impl Env for Event {
    fn set(body: &mut Body, name: String, value: String) {
        body.env.push((name, value));
    }
}

impl Lower for Output {
    type Wire = wit::Output;

    fn lower(self) -> wit::Output {
        wit::Output { env: self.body.env, effects: self.effects.into() }
    }
}
