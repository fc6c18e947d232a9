//! Adds text from the configuration to the model's context: once per session, or with every prompt.

use hookbox_guest::prelude::*;

struct ContextInjector;

#[derive(Default, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Config {
    /// Text for the model at the start of a session.
    session: Option<String>,
    /// Text for the model with every prompt.
    prompt: Option<String>,
}

impl SessionStart for ContextInjector {
    fn handle(_: &EventContext, _: &session_start::Event) -> Result<session_start::Output> {
        let Config { session, .. } = config::get()?;
        Ok(session.map_or_else(pass, |text| pass().context(text)))
    }
}

impl UserPromptSubmit for ContextInjector {
    fn handle(_: &EventContext, _: &user_prompt_submit::Event) -> Result<user_prompt_submit::Output> {
        let Config { prompt, .. } = config::get()?;
        Ok(prompt.map_or_else(pass, |text| pass().context(text)))
    }
}

hookbox_guest::export!(ContextInjector: SessionStart, UserPromptSubmit);

#[cfg(test)]
mod tests {
    use hookbox_guest::testing;

    use super::*;

    fn start() -> Result<session_start::Output> {
        <ContextInjector as SessionStart>::handle(&EventContext::default(), &session_start::Event::default())
    }

    fn prompt() -> Result<user_prompt_submit::Output> {
        <ContextInjector as UserPromptSubmit>::handle(
            &EventContext::default(),
            &user_prompt_submit::Event::new("hello"),
        )
    }

    #[test]
    fn each_event_has_its_text() {
        testing::host().config(json!({"session": "Use tabs.", "prompt": "Be brief."}));
        assert_eq!(start(), Ok(pass().context("Use tabs.")));
        assert_eq!(prompt(), Ok(pass().context("Be brief.")));
    }

    #[test]
    fn an_empty_text_has_no_message() {
        testing::host();
        assert_eq!(start(), Ok(pass()));
        assert_eq!(prompt(), Ok(pass()));
    }

    #[test]
    fn a_misspelt_configuration_is_a_fault() {
        testing::host().config(json!({"promt": "Be brief."}));
        assert!(matches!(prompt(), Err(Fault::Failed(why)) if why.contains("promt")));
    }
}
