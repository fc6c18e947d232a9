//! Blocks prompts that mention secrets.

use hookbox_guest::prelude::*;

struct PromptFilter;

#[derive(serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Config {
    /// Word beginnings or phrases. Letter case, `-` and `_` do not matter.
    keywords: Vec<String>,
}

impl Default for Config {
    fn default() -> Self {
        Self { keywords: ["password", "passwd", "secret", "api key", "private key"].map(String::from).to_vec() }
    }
}

impl UserPromptSubmit for PromptFilter {
    fn handle(_: &EventContext, event: &user_prompt_submit::Event) -> Result<user_prompt_submit::Output> {
        let Config { keywords } = config::get()?;
        let prompt = plain(&event.prompt);
        let found = keywords.into_iter().find(|keyword| contains(&prompt, &plain(keyword)));
        Ok(found.map_or_else(pass, |keyword| {
            block(format!("the prompt speaks of `{keyword}`; leave secrets out of it and try again"))
        }))
    }
}

hookbox_guest::export!(PromptFilter: UserPromptSubmit);

/// Converts text to lower case, and every run of other characters than letters and digits to one blank: `API_key` is
/// `api key`.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        plain.push(' ');
        plain.push_str(&word.to_lowercase());
    }
    plain
}

/// Both texts have a blank before every word, so a keyword matches only at the start of a word.
fn contains(prompt: &str, keyword: &str) -> bool {
    !keyword.is_empty() && prompt.contains(keyword)
}

#[cfg(test)]
mod tests {
    use hookbox_guest::testing;

    use super::*;

    fn decide(prompt: &str) -> Result<user_prompt_submit::Output> {
        PromptFilter::handle(&EventContext::default(), &user_prompt_submit::Event::new(prompt))
    }

    fn blocked(keyword: &str) -> user_prompt_submit::Output {
        block(format!("the prompt speaks of `{keyword}`; leave secrets out of it and try again"))
    }

    #[test]
    fn secrets_are_blocked_however_they_are_written() {
        testing::host();
        assert_eq!(decide("my Password is 1234"), Ok(blocked("password")));
        assert_eq!(decide("two passwords"), Ok(blocked("password")));
        assert_eq!(decide("set API_KEY=1"), Ok(blocked("api key")));
        assert_eq!(decide("the api-key"), Ok(blocked("api key")));
    }

    #[test]
    fn a_keyword_inside_a_word_does_not_count() {
        testing::host();
        assert_eq!(decide("unsecret"), Ok(pass()));
        assert_eq!(decide("write a parser"), Ok(pass()));
        assert_eq!(decide(""), Ok(pass()));
    }

    #[test]
    fn the_keywords_come_from_the_configuration() {
        testing::host().config(json!({"keywords": ["пароль", ""]}));
        assert_eq!(decide("Мой Пароль"), Ok(blocked("пароль")));
        assert_eq!(decide("my password"), Ok(pass()));
    }
}
