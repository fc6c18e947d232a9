//! Checks that matchers name tools that the client has.

use hookbox_protocol::matcher::Matcher;

use super::Findings;
use crate::{clients::wiring::Wiring, print};

impl Findings {
    /// Warns about matchers that match none of the client's known tools.
    pub fn tools(&mut self, wiring: &Wiring) {
        let dialect = wiring.config.dialect;
        let tools = dialect.usage().tools;
        for hook in &wiring.config.hooks {
            let about_tools =
                |event: &String| dialect.spec_by_name(event).is_some_and(|spec| spec.matched == Some("tool_name"));
            let text = hook.matcher_text.as_deref().unwrap_or_default();
            if !hook.events.iter().any(about_tools) || hook.observe_only || text.contains("mcp") {
                continue;
            }
            // Each name of a list is checked by itself, because a valid name does not excuse an invalid one.
            let named: Vec<(String, Matcher)> = match &hook.matcher {
                Matcher::Everything | Matcher::Call(_) => continue,
                Matcher::Names(list) => {
                    list.iter().map(|name| (name.clone(), Matcher::Names(vec![name.clone()]))).collect()
                }
                pattern @ Matcher::Pattern(_) => vec![(text.to_owned(), pattern.clone())],
            };
            for (word, matcher) in named {
                let takes = |tool: &&str| {
                    matcher.matches(Some(tool))
                        || dialect.also_called(tool).iter().any(|name| matcher.matches(Some(name)))
                };
                if tools.is_empty() || tools.iter().any(takes) {
                    continue;
                }
                let known = tools.iter().take(4).copied().collect::<Vec<_>>().join(", ");
                let title = self.client.title;
                let word = print::quoted(&word);
                self.problem(format_args!(
                    "{}: {word} names no tool that {title} is known to have ({known}, …)",
                    hook.pointer
                ));
            }
        }
    }
}
