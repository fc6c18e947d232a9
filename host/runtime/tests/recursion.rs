//! decisions.md#processes: "A command handler gets `HOOKBOX_DEPTH`, one more than hookbox itself was started with. From
//! the fifth level on it is not started".
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::{path::Path, process::Command};

use hookbox::{Cause, HookSet, config::Config};
use serde_json::json;

/// The other tests run this in a child process, because environment variables belong to the process. Prints the result
/// of one command that prints its depth.
#[tokio::test]
#[ignore = "only as a part of the other tests"]
async fn one_command() {
    let hook = json!({ "type": "command", "command": r#"printf '{"systemMessage":"depth %s"}' "$HOOKBOX_DEPTH""# });
    let config = json!({ "dialect": "claude", "hooks": { "Stop": [{ "hooks": [hook] }] } }).to_string();
    let loaded = Config::parse(&config, Path::new("hooks.json"), None).unwrap();
    let host = HookSet::standalone().config(loaded.config).build().await.unwrap();
    let verdict = host.dispatch(r#"{"hook_event_name":"Stop"}"#).await.unwrap();
    match verdict.hooks[0].outcome().unwrap() {
        Ok(output) => println!("said: {}", output.system_message.as_ref().unwrap()),
        Err(failure) => {
            assert_eq!(failure.cause, Cause::TooDeep);
            println!("failed: {failure}");
        }
    }
}

fn inside(depth: Option<&str>) -> String {
    let mut process = Command::new(std::env::current_exe().unwrap());
    process.args(["--exact", "one_command", "--ignored", "--nocapture"]).env_remove("HOOKBOX_DEPTH");
    process.envs(depth.map(|depth| ("HOOKBOX_DEPTH", depth)));
    let output = process.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_command_is_one_deeper_than_hookbox() {
    assert!(inside(None).contains("said: depth 1"));
    assert!(inside(Some("3")).contains("said: depth 4"));
    assert!(inside(Some("not ours")).contains("said: depth 1"));
}

#[test]
fn the_fifth_nested_command_is_not_started() {
    for depth in ["4", "5", "4000000000"] {
        let told = inside(Some(depth));
        assert!(told.contains("failed: ") && told.contains("HOOKBOX_DEPTH"), "{told}");
    }
}
