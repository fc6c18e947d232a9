//! Authentication, and the tenants that a token is valid for.

use std::{fs, io::Read};

use serde_json::{Value, json};

use crate::daemon::{Daemon, Files, bash, closed, denies, hash, hooks, problem, tenant, token};

#[tokio::test]
async fn only_the_tenants_token_is_accepted() {
    let files = Files::new();
    files.write("tenants/other.json", &tenant("other"));
    files.write("tenants/other-hooks.json", &hooks("guard.wasm"));
    let daemon = files.start();
    assert!(denies(&daemon.verdict("other", bash("rm -rf /")).await));
    let ask = |name: &str| daemon.post(&format!("/v1/{name}/claude")).body(bash("ls").to_string());
    let none = ask("acme").send().await.unwrap();
    assert_eq!(none.headers()["www-authenticate"], "Bearer");
    assert_eq!(problem(none).await, (401, "no-token".into()));
    assert_eq!(problem(ask("acme").bearer_auth("guess").send().await.unwrap()).await.0, 401);
    // The hash is not a token.
    let hash = hash("acme");
    assert_eq!(problem(ask("acme").bearer_auth(&hash[7..]).send().await.unwrap()).await.0, 401);
    assert_eq!(
        problem(ask("acme").bearer_auth(token("other")).send().await.unwrap()).await,
        (403, "foreign-token".into())
    );
    // A client without a token cannot find out which tenants exist.
    assert_eq!(problem(ask("nobody").bearer_auth("guess").send().await.unwrap()).await, (401, "no-token".into()));
    for odd in ["..", "ACME", "acme.json", "a%2Fb"] {
        let status = ask(odd).bearer_auth("guess").send().await.unwrap().status().as_u16();
        assert!(matches!(status, 401 | 404), "{odd}: {status}");
    }
}

#[tokio::test]
async fn tokens_are_replaced_by_having_two() {
    let files = Files::new();
    let mut both = tenant("acme");
    both["tokens"] = json!([hash("acme"), hash("next")]);
    files.write("tenants/acme.json", &both);
    let daemon = files.start();
    let ask = |secret: String| daemon.post("/v1/acme/claude").bearer_auth(secret).body(bash("ls").to_string()).send();
    assert_eq!(ask(token("acme")).await.unwrap().status(), 200);
    assert_eq!(ask(token("next")).await.unwrap().status(), 200);
}

/// Returns the daemon's error when it does not start.
fn refused(settings: Value) -> String {
    let files = Files::new();
    files.settings(settings);
    let mut child = files.command().spawn().unwrap();
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(78), "{said}");
    said
}

#[test]
fn beyond_loopback_it_needs_tls_or_insecure() {
    for open in [json!("0.0.0.0:0"), json!(["127.0.0.1:0", "[::]:0"])] {
        let said = refused(json!({ "listen": open }));
        assert!(said.contains("insecure") && said.contains("certificate"), "{said}");
    }
    let files = Files::new();
    files.settings(json!({ "listen": "0.0.0.0:0", "insecure": true }));
    drop(Daemon::start(files));
}

#[test]
fn a_mistake_in_the_settings_is_shown_with_its_line() {
    let said = refused(json!({ "lisen": "127.0.0.1:0" }));
    assert!(said.contains("serve.json") && said.contains("`lisen`") && said.contains("line 1"), "{said}");
    let said = refused(json!({ "listen": "8750" }));
    assert!(said.contains("IP:PORT"), "{said}");
}

#[tokio::test]
async fn one_tenants_error_does_not_affect_others() {
    let files = Files::new();
    // Settings that a tenant's hooks file must not have, and a tenant's file that is invalid.
    for (name, hooks) in [
        (
            "command",
            json!({ "hooks": { "PreToolUse": [ { "hooks": [ { "type": "command", "command": "true" } ] } ] } }),
        ),
        ("agent", json!({ "hooks": { "PreToolUse": [ { "hooks": [ { "type": "agent", "prompt": "?" } ] } ] } })),
        ("missing", hooks("nowhere.wasm")),
        ("outside", hooks("../serve.json")),
        (
            "state",
            json!({ "hooks": { "PreToolUse": [ { "hooks": [
            { "type": "wasm", "component": "guard.wasm", "permissions": { "state": true } } ] } ] } }),
        ),
    ] {
        files.write(&format!("tenants/{name}.json"), &tenant(name));
        files.write(&format!("tenants/{name}-hooks.json"), &hooks);
    }
    files.write("tenants/enormous.json", &tenant("enormous"));
    fs::write(files.path("tenants/enormous-hooks.json"), vec![b' '; 17 << 20]).unwrap();
    files.write_text("tenants/garbage.json", "{");
    files.write("tenants/keyless.json", &json!({ "tokens": [], "hooks": {} }));
    let daemon = files.start();
    assert!(denies(&daemon.verdict("acme", bash("rm -rf /")).await));
    for name in ["command", "agent", "missing", "outside", "state", "enormous"] {
        let response = daemon.ask(name, bash("ls")).send().await.unwrap();
        assert_eq!(problem(response).await, (503, "unusable".into()), "{name}");
    }
    for name in ["garbage", "keyless"] {
        let response = daemon.ask(name, bash("ls")).send().await.unwrap();
        assert_eq!(problem(response).await.0, 401, "{name}");
    }
}

#[tokio::test]
async fn allowed_hooks_run() {
    let files = Files::new();
    let deny = r#"echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"}}'"#;
    let command = json!({ "hooks": { "PreToolUse": [ { "hooks": [ { "type": "command", "command": deny } ] } ] } });
    files.write("tenants/acme-hooks.json", &command);
    let mut allowed = tenant("acme");
    allowed["allow"] = json!(["command"]);
    files.write("tenants/acme.json", &allowed);
    assert!(denies(&files.start().verdict("acme", bash("ls")).await));
}

#[tokio::test]
async fn an_unloaded_tenant_blocks_if_any_file_fails_closed() {
    let files = Files::new();
    files.write("tenants/acme-hooks.json", &closed(hooks("nowhere.wasm")));
    files.write_text("tenants/garbage.json", r#"{ "failClosed": true, "tokens": ["#);
    // Files in another encoding, and `onFailure` of a single hook.
    files.write("tenants/latin.json", &tenant("latin"));
    fs::write(files.path("tenants/latin-hooks.json"), b"{ \"failClosed\": true, \"hooks\": { \"\xe9\": [] } }")
        .unwrap();
    files.write("tenants/hook.json", &tenant("hook"));
    files.write_text("tenants/hook-hooks.json", r#"{ "hooks": { "PreToolUse": [ { "onFailure": "block", "#);
    let daemon = files.start();
    for name in ["acme", "garbage", "latin", "hook"] {
        assert!(denies(&daemon.verdict(name, bash("ls")).await), "{name}");
    }
}

/// decisions.md#failures: "If its configuration says `ignore`, a hook that cannot be loaded counts as no output."
#[tokio::test]
async fn an_ignored_hook_that_cannot_be_loaded_leaves_the_tenant_its_others() {
    for fail_closed in [false, true] {
        let files = Files::new();
        let mut file = hooks("guard.wasm");
        let gone = json!({ "type": "wasm", "component": "gone.wasm", "onFailure": "ignore" });
        file["hooks"]["PreToolUse"][0]["hooks"].as_array_mut().unwrap().insert(0, gone);
        files.write("tenants/acme-hooks.json", &if fail_closed { closed(file) } else { file });
        let daemon = files.start();
        assert!(denies(&daemon.verdict("acme", bash("rm -rf /")).await));
        assert_eq!(daemon.verdict("acme", bash("ls")).await, json!({}));
        daemon.until("logged", async || daemon.log().contains("gone.wasm")).await;
        // The file is watched although it was not there.
        daemon.files.component("gone.wasm", "command-guard");
        daemon.until("reloaded", async || daemon.log().matches("is loaded").count() == 2).await;
    }
}

#[test]
fn a_new_token_is_printed_with_its_hash() {
    let hookbox = || std::process::Command::new(env!("CARGO_BIN_EXE_hookbox"));
    let printed = String::from_utf8(hookbox().arg("token").output().unwrap().stdout).unwrap();
    let (secret, hash) = printed.trim().split_once('\n').unwrap();
    assert!(secret.starts_with("hbx_") && hash.starts_with("sha256:"), "{printed}");
    let mut again = hookbox();
    let again = hookbox_testing::process::fed(again.args(["token", "--hash"]), secret.as_bytes());
    assert_eq!(String::from_utf8(again.stdout).unwrap().trim(), hash);
}
