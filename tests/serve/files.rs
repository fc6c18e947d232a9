//! Invalid files of tenants: pipes, links, and files of other tenants.

use std::{fs, os::unix::fs::symlink, path::Path};

use rustix::fs::{CWD, Mode, mkfifoat};
use serde_json::{Value, json};

use crate::daemon::{Daemon, Files, bash, closed, denies, hash, hooks, problem, tenant, token};

fn pipe(path: &Path) {
    let _ = fs::remove_file(path);
    mkfifoat(CWD, path, Mode::RUSR | Mode::WUSR).unwrap();
}

/// Adds a tenant with the command guard.
fn guarded(files: &Files, name: &str) {
    files.write(&format!("tenants/{name}.json"), &tenant(name));
    files.write(&format!("tenants/{name}-hooks.json"), &hooks("guard.wasm"));
}

async fn guards(daemon: &Daemon, name: &str) -> bool {
    let response = daemon.ask(name, bash("rm -rf /")).send().await.unwrap();
    response.status() == 200 && denies(&crate::daemon::read(response).await)
}

/// Waits until the daemon has read its files again, which it shows by serving a new tenant.
async fn looked(daemon: &Daemon, name: &str) {
    guarded(&daemon.files, name);
    daemon.until("looked at", async || guards(daemon, name).await).await;
}

#[tokio::test]
async fn a_component_named_like_a_tenants_file_removes_no_tenant() {
    let files = Files::new();
    guarded(&files, "victim");
    let target = files.path("tenants/victim.json").to_str().unwrap().to_owned();
    let daemon = files.start();
    assert!(guards(&daemon, "victim").await);
    for (round, component) in
        [target.as_str(), "victim.json", "./victim.json", "../tenants/victim.json"].iter().enumerate()
    {
        daemon.files.write("tenants/acme-hooks.json", &hooks(component));
        let refused = async || daemon.log().matches("is refused").count() > round;
        daemon.until("refused", refused).await;
        looked(&daemon, &format!("later{round}")).await;
        assert!(guards(&daemon, "victim").await, "{component}");
    }
}

#[tokio::test]
async fn a_tenants_file_that_names_neighbours_removes_none() {
    let files = Files::new();
    guarded(&files, "victim");
    symlink("victim.json", files.path("tenants/alias-of-it.txt")).unwrap();
    let mut daemon = files.start();
    assert!(guards(&daemon, "victim").await && guards(&daemon, "acme").await);
    for (round, named) in ["victim.json", "./victim.json", "alias-of-it.txt"].iter().enumerate() {
        let mut acme = tenant("acme");
        acme["hooks"] = json!({ "claude": named });
        daemon.files.write("tenants/acme.json", &acme);
        looked(&daemon, &format!("later{round}")).await;
        assert!(guards(&daemon, "victim").await, "{named}");
    }
    // The same after a restart.
    daemon.restart();
    assert!(guards(&daemon, "victim").await);
    // A tenant that was never served keeps its name, its token and its gate but is not loaded, because its author is unknown.
    let files = Files::new();
    guarded(&files, "victim");
    let mut victim = tenant("victim");
    victim["failClosed"] = true.into();
    files.write("tenants/victim.json", &victim);
    let mut acme = tenant("acme");
    acme["hooks"] = json!({ "claude": "victim.json" });
    files.write("tenants/acme.json", &acme);
    let daemon = files.start();
    assert!(denies(&daemon.verdict("victim", bash("ls")).await));
    let stranger = daemon.post("/v1/victim/claude").bearer_auth("guess").body(bash("ls").to_string()).send().await;
    assert_eq!(problem(stranger.unwrap()).await.0, 401);
    daemon.files.write("tenants/acme.json", &tenant("acme"));
    daemon.until("loaded", async || !denies(&daemon.verdict("victim", bash("ls")).await)).await;
}

/// A hooks file belongs to its tenant. It cannot become a tenant's file, whatever it contains.
#[tokio::test]
async fn a_hooks_file_cannot_become_a_tenant() {
    let mut daemon = Files::new().start();
    assert!(guards(&daemon, "acme").await);
    let mut evil = tenant("acme-hooks");
    evil["allow"] = json!(["command"]);
    evil["hooks"] = json!({ "claude": "evil-hooks.json" });
    let touch = json!({ "type": "command", "command": "touch ran; echo '{}'" });
    daemon.files.write("tenants/evil-hooks.json", &json!({ "hooks": { "PreToolUse": [ { "hooks": [touch] } ] } }));
    daemon.files.write("tenants/acme-hooks.json", &evil);
    looked(&daemon, "later").await;
    let ask = async |daemon: &Daemon| daemon.ask("acme-hooks", bash("ls")).send().await.unwrap().status().as_u16();
    assert_eq!(ask(&daemon).await, 401);
    // The same after the tenant is removed, and after a restart.
    fs::remove_file(daemon.files.path("tenants/acme.json")).unwrap();
    looked(&daemon, "later-still").await;
    assert_ne!(ask(&daemon).await, 200);
    daemon.restart();
    looked(&daemon, "last").await;
    assert_ne!(ask(&daemon).await, 200);
    assert!(!daemon.files.path("tenants/ran").exists());
}

#[tokio::test]
async fn a_pipe_in_place_of_a_file_delays_nothing() {
    let files = Files::new();
    guarded(&files, "other");
    pipe(&files.path("tenants/pipe.json"));
    pipe(&files.path("tenants/pipe.wasm"));
    for name in ["hooks", "component", "zero", "folder"] {
        files.write(&format!("tenants/{name}.json"), &tenant(name));
    }
    pipe(&files.path("tenants/hooks-hooks.json"));
    files.write("tenants/component-hooks.json", &hooks("pipe.wasm"));
    symlink("/dev/zero", files.path("tenants/zero-hooks.json")).unwrap();
    fs::create_dir(files.path("tenants/folder-hooks.json")).unwrap();
    let mut daemon = files.start();
    assert!(guards(&daemon, "acme").await);
    for name in ["hooks", "component", "zero", "folder"] {
        assert_eq!(
            problem(daemon.ask(name, bash("ls")).send().await.unwrap()).await,
            (503, "unusable".into()),
            "{name}"
        );
    }
    assert_eq!(problem(daemon.ask("pipe", bash("ls")).send().await.unwrap()).await.0, 401);
    // A pipe that replaces a file in use changes nothing. Changes of other tenants are loaded.
    pipe(&daemon.files.path("tenants/acme-hooks.json"));
    pipe(&daemon.files.path("tenants/other.json"));
    daemon.until("refused", async || daemon.log().matches("not a regular file").count() >= 5).await;
    looked(&daemon, "later").await;
    assert!(guards(&daemon, "acme").await && guards(&daemon, "other").await);
    let mut next = tenant("acme");
    next["tokens"] = json!([hash("next")]);
    daemon.files.write("tenants/acme.json", &next);
    daemon.until("revoked", async || daemon.ask("acme", bash("ls")).send().await.unwrap().status() == 401).await;
    daemon.signal("TERM");
    daemon.ends();
}

#[test]
fn settings_in_a_pipe_are_refused() {
    let files = Files::new();
    pipe(&files.path("serve.json"));
    let output = files.command().output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(78) && said.contains("not a regular file"), "{said}");
}

/// Two tenants, each with a folder of its own. `b` has a key in its hooks file.
fn with_folders(a_hooks: &str) -> Files {
    let files = Files::new();
    for name in ["a", "b"] {
        fs::create_dir(files.path(&format!("tenants/{name}"))).unwrap();
        fs::copy(files.path("tenants/guard.wasm"), files.path(&format!("tenants/{name}/guard.wasm"))).unwrap();
    }
    let of = |name: &str, file: &str| json!({ "tokens": [hash(name)], "hooks": { "claude": file } });
    files.write("tenants/a.json", &of("a", a_hooks));
    files.write("tenants/b.json", &of("b", "b/hooks.json"));
    let mut secret = hooks("guard.wasm");
    secret["hooks"]["PreToolUse"][0]["hooks"][0]["config"] = json!({ "key": "the key of b" });
    files.write("tenants/b/hooks.json", &secret);
    files
}

/// Puts a link in place of a file.
type Link = fn(&Files);

#[tokio::test]
async fn a_link_out_of_a_tenants_folder_is_refused() {
    let out: [(&str, Link); 6] = [
        ("a/hooks.json", |files| symlink("../b/hooks.json", files.path("tenants/a/hooks.json")).unwrap()),
        ("a/hooks.json", |files| {
            symlink(files.path("tenants/b/hooks.json"), files.path("tenants/a/hooks.json")).unwrap();
        }),
        ("a/conf/hooks.json", |files| symlink("../b", files.path("tenants/a/conf")).unwrap()),
        ("a/hooks.json", |files| {
            symlink("../b", files.path("tenants/a/..data")).unwrap();
            symlink("..data/hooks.json", files.path("tenants/a/hooks.json")).unwrap();
        }),
        // Links to components.
        ("a/hooks.json", |files| {
            symlink("../b/guard.wasm", files.path("tenants/a/link.wasm")).unwrap();
            files.write("tenants/a/hooks.json", &hooks("link.wasm"));
        }),
        ("a/hooks.json", |files| files.write("tenants/a/hooks.json", &hooks("../b/guard.wasm"))),
    ];
    for (number, (named, link)) in out.into_iter().enumerate() {
        let files = with_folders(named);
        link(&files);
        let daemon = files.start();
        assert!(guards(&daemon, "b").await);
        let response = daemon.ask("a", bash("rm -rf /")).send().await.unwrap();
        assert_eq!(response.status(), 503, "{number}");
        let said: Value = crate::daemon::read(response).await;
        let said = said.to_string();
        // A path out of the folder exceeds the ceiling of every tenant.
        assert!(said.contains("is outside of") || said.contains("the folder of the configuration"), "{said}");
        assert!(!said.contains("the key of b"), "{said}");
    }
}

#[tokio::test]
async fn links_that_stay_in_the_folder_work_and_are_followed_when_they_change() {
    let files = with_folders("a/hooks.json");
    // The layout of a mounted Kubernetes ConfigMap, also for the folder of all tenants.
    let mount = |folder: &str, version: &str, file: &str, text: &Value| {
        let folder = files.path(folder);
        fs::create_dir(folder.join(version)).unwrap();
        fs::write(folder.join(version).join(file), text.to_string()).unwrap();
        symlink(version, folder.join("..new")).unwrap();
        fs::rename(folder.join("..new"), folder.join("..data")).unwrap();
        let _ = symlink(format!("..data/{file}"), folder.join(file));
    };
    mount("tenants/a", "..2026_1", "hooks.json", &hooks("guard.wasm"));
    fs::remove_file(files.path("tenants/acme.json")).unwrap();
    fs::remove_file(files.path("tenants/acme-hooks.json")).unwrap();
    mount("tenants", "..2026_1", "acme.json", &tenant("acme"));
    fs::write(files.path("tenants/..2026_1/acme-hooks.json"), hooks("guard.wasm").to_string()).unwrap();
    symlink("..data/acme-hooks.json", files.path("tenants/acme-hooks.json")).unwrap();
    let daemon = files.start();
    assert!(guards(&daemon, "a").await && guards(&daemon, "acme").await);
    let open = json!({ "hooks": {} });
    let folder = daemon.files.path("tenants/a");
    fs::create_dir(folder.join("..2026_2")).unwrap();
    fs::write(folder.join("..2026_2/hooks.json"), open.to_string()).unwrap();
    symlink("..2026_2", folder.join("..new")).unwrap();
    fs::rename(folder.join("..new"), folder.join("..data")).unwrap();
    daemon.until("followed", async || !guards(&daemon, "a").await).await;
    assert!(guards(&daemon, "acme").await);
}

#[tokio::test]
async fn unauthenticated_requests_read_no_path_or_value() {
    let files = Files::new();
    let secret = hash("typo");
    files.write_text("tenants/typo.json", &format!(r#"{{ "tokens": "{secret}", "hooks": {{}} }}"#));
    files.write_text("tenants/shut.json", &format!(r#"{{ "failClosed": true, "tokens": "{secret}", "hooks": {{}} }}"#));
    // A file whose tokens are unknown.
    files.write_text("tenants/garbage.json", r#"{ "failClosed": true, "allow": "private", "tokens": ["#);
    files.write("tenants/broken.json", &tenant("broken"));
    files.write("tenants/broken-hooks.json", &closed(json!({ "hooks": "private" })));
    let daemon = files.start();
    assert!(guards(&daemon, "acme").await);
    daemon.until("refused", async || daemon.log().matches("is refused").count() == 4).await;
    // The operator can read all errors.
    assert!(daemon.log().contains(&secret) && daemon.log().contains("typo.json"), "{}", daemon.log());
    let folder = daemon.files.path("").to_str().unwrap().to_owned();
    let mut told = vec![daemon.client.get(daemon.url("/readyz")).send().await.unwrap().text().await.unwrap()];
    assert!(told[0].contains("typo") && told[0].contains("broken"), "{told:?}");
    for name in ["typo", "shut", "garbage", "broken", "acme", "nobody"] {
        for guess in [None, Some("guess"), Some(secret.as_str())] {
            let request = daemon.post(&format!("/v1/{name}/claude")).body(bash("ls").to_string());
            let request = if let Some(guess) = guess { request.bearer_auth(guess) } else { request };
            let response = request.send().await.unwrap();
            told.push(format!("{:?}", response.headers()));
            told.push(response.text().await.unwrap());
        }
    }
    // A client with the token learns of its own error, and nothing else from the operator's files.
    for (name, known) in [("typo", "typo"), ("shut", "typo")] {
        let request = daemon.post(&format!("/v1/{name}/claude")).bearer_auth(token(known)).body(bash("ls").to_string());
        told.push(request.send().await.unwrap().text().await.unwrap());
    }
    for text in told {
        for secret in [folder.as_str(), &secret[7..], "private", "typo.json"] {
            assert!(!text.contains(secret), "{text}");
        }
    }
}

/// Each dialect has a file of its own.
#[tokio::test]
async fn the_matchers_of_all_files_of_a_tenant_share_one_budget() {
    let files = Files::new();
    let dialects = ["claude", "codex", "gemini", "copilot"];
    let group =
        |n: usize| json!({ "matcher": format!("x.{n}"), "hooks": [{ "type": "wasm", "component": "guard.wasm" }] });
    let mut many = tenant("many");
    for (index, dialect) in dialects.iter().enumerate() {
        let event = if *dialect == "gemini" { "BeforeTool" } else { "PreToolUse" };
        let groups: Vec<_> = (0..150).map(|n| group(index * 1000 + n)).collect();
        files
            .write(&format!("tenants/many-{dialect}.json"), &json!({ "dialect": dialect, "hooks": { event: groups } }));
        many["hooks"][dialect] = format!("many-{dialect}.json").into();
    }
    let mut few = many.clone();
    few["tokens"] = json!([hash("few")]);
    few["hooks"] = json!({ "claude": "many-claude.json" });
    files.write("tenants/few.json", &few);
    files.write("tenants/many.json", &many);
    let daemon = files.start();
    daemon.until("refused", async || daemon.log().contains("all matchers together may take 32 MiB")).await;
    daemon.verdict("few", bash("ls")).await;
    let text = daemon.client.get(daemon.url("/metrics")).send().await.unwrap().text().await.unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("hookbox_matcher_bytes{tenant=\"few\"} ")).unwrap();
    assert!((4 << 20..32 << 20).contains(&line.parse::<usize>().unwrap()), "{line}");
}
