//! Formats an authority as configuration text.

use hookbox_protocol::authority::{Authority, Rewrite};
use serde_json::{Map, Value, json};

/// The `"authority"` member of a hook's entry that grants this authority, as JSON.
pub(crate) fn authority_text(authority: &Authority) -> String {
    let rewrite = match &authority.rewrite {
        Rewrite::All => json!("all"),
        Rewrite::Only(pointers) => json!(pointers),
    };
    let decide: Vec<_> = authority.decide.iter().map(|power| power.word()).collect();
    let mut details = Map::new();
    details.insert("decide".into(), json!(decide));
    details.insert("rewrite".into(), rewrite);
    for (key, granted) in [("context", authority.context), ("systemMessage", authority.system_message)] {
        if granted {
            details.insert(key.into(), Value::Bool(true));
        }
    }
    if !authority.env.is_empty() {
        details.insert("env".into(), json!(authority.env));
    }
    format!("\"authority\": {}", Value::Object(details))
}
