#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use std::path::Path;

use super::*;

fn parse(text: &str) -> Result<Loaded, ConfigErrors> {
    Config::parse(text, Path::new("hooks.json"), None)
}

#[test]
fn a_typo_is_shown_with_its_place_and_the_nearest_key() {
    let text = "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\n        \"hooks\": [],\n\n        \"mathcer\": \"Bash\"\n      }\n    ]\n  }\n}";
    assert_eq!(
        parse(text).unwrap_err().to_string(),
        "error: unknown key `mathcer`\n   hooks.json  /hooks/PreToolUse/0/mathcer   (line 7)\n   did you mean `matcher`?"
    );
}

#[test]
fn design_example() {
    let text = r#"{ "dialect": "claude",
  "limits": { "fuel": 50000000, "memoryMiB": 64, "timeout": 5, "outputKiB": 1024 },
  "hooks": { "PreToolUse": [ { "matcher": "Bash", "hooks": [
      { "type": "wasm", "component": "hooks/guard.wasm", "timeout": 2,
        "permissions": { "state": true, "http": ["https://api.example.com"] },
        "authority": { "decide": ["deny", "ask"], "rewrite": ["/command"] },
        "config": { "pattern": "rm -rf" } },
      { "type": "command", "command": "./legacy.sh" } ] } ] } }"#;
    let loaded = parse(text).unwrap();
    assert_eq!(loaded.warnings, []);
    assert_eq!(loaded.config.hooks.len(), 2);
}
