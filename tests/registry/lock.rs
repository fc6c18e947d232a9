//! Pinning, updating and approving.

use std::{fs, os::unix::fs::symlink, process::Command, thread};

use serde_json::{Value, json};

use crate::setup::{Setup, denied, greedy, guard, keys, passed, silent, text};

/// A change of a lock file.
type Edit<'a> = Box<dyn Fn(&mut Value) + 'a>;

#[test]
fn a_hook_is_added_with_two_commands_and_runs_offline() {
    let mut setup = Setup::new(&guard());
    let why = denied(&setup.run());
    assert!(why.contains("load: ") && why.contains("hookbox.lock does not exist"), "{why}");

    let told = setup.does(&["lock"]);
    assert!(told.contains("pre-tool-use") && told.contains("asks        for nothing"), "{told}");
    let entry = setup.entry();
    assert_eq!(entry["digest"], format!("sha256:{}", hookbox::sha256(guard())));
    assert!(entry["exports"].as_array().unwrap().contains(&json!("pre-tool-use")), "{entry}");
    assert_eq!(entry["version"], "1");

    setup.registry.stop();
    let why = denied(&setup.run());
    assert!(!why.contains("load: "), "{why}");
    setup.does(&["lock", "--locked"]);
    setup.does(&["check", "--config", "hooks.json"]);
    let explained = setup.does(&["explain", "--config", "hooks.json"]);
    assert!(explained.contains("deny"), "{explained}");
}

#[test]
fn pushed_and_pulled_bytes_are_equal() {
    let setup = Setup::new(&guard());
    let reference = setup.reference();
    // The same component always makes the same artifact.
    let (first, second) = (setup.push(&guard(), "1"), setup.push(&guard(), "1"));
    assert_eq!(first, second);
    let digest = setup.does(&["digest", &reference]);
    assert!(first.trim().ends_with(digest.trim()), "{first} {digest}");
    setup.does(&["pull", &reference, "-o", "pulled.wasm"]);
    assert_eq!(fs::read(setup.dir.path().join("pulled.wasm")).unwrap(), guard());
    let by_digest = format!("{}@{}", setup.registry.reference("acme/guard"), digest.trim());
    setup.does(&["pull", &by_digest]);
    assert_eq!(fs::read(setup.dir.path().join("guard.wasm")).unwrap(), guard());
    assert_eq!(setup.does(&["digest", "guard.wasm"]).trim(), format!("sha256:{}", hookbox::sha256(guard())));

    setup.push(&greedy(), "2");
    let info = setup.does(&["info", &setup.registry.reference("acme/guard:2")]);
    assert!(info.contains("to keep state between events"), "{info}");
    let info = setup.does(&["info", "--json", &setup.registry.reference("acme/guard:2")]);
    let info: Value = serde_json::from_str(&info).unwrap();
    assert_eq!(info["component"]["imports"], json!(["state"]));
    assert_eq!(info["manifest"]["config"]["mediaType"], "application/vnd.wasm.config.v0+json");

    setup.ends(83, &["info", &setup.registry.reference("acme/guard:9")]);
    setup.ends(64, &["info", "oci://acme"]);
}

#[test]
fn an_update_with_one_more_import_is_stopped_with_a_diff() {
    let setup = Setup::new(&silent(1));
    setup.configure(&json!({ "permissions": { "state": true } }));
    setup.does(&["lock"]);
    passed(&setup.run());
    let before = setup.lock();

    setup.push(&greedy(), "1");
    // Only `lock` (for new references) and `update` resolve tags.
    setup.does(&["lock"]);
    setup.does(&["lock", "--locked"]);
    passed(&setup.run());
    assert_eq!(setup.lock(), before);

    let told = setup.ends(81, &["update"]);
    assert!(told.contains("+ asks for state") && told.contains("hookbox approve"), "{told}");
    assert_eq!(setup.lock(), before);
    passed(&setup.run());

    let told = setup.does(&["approve", "guard"]);
    assert!(told.contains("+ asks for state"), "{told}");
    assert_eq!(setup.entry()["imports"], json!(["state"]));
    passed(&setup.run());
    assert!(setup.does(&["update"]).contains("is the newest"));
}

/// Runs a command with `--json` that must exit with this code. Returns the value.
fn json_of(setup: &Setup, code: i32, args: &[&str]) -> Value {
    let output = setup.hookbox(&[args, &["--json"]].concat());
    assert_eq!(output.status.code(), Some(code), "{args:?}: {output:?}");
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert_eq!(stdout.lines().count(), 1, "{args:?}: {stdout}");
    for line in String::from_utf8(output.stderr).unwrap().lines() {
        assert!(serde_json::from_str::<Value>(line).unwrap()["message"].is_string(), "{args:?}: {line}");
    }
    serde_json::from_str(&stdout).unwrap()
}

#[test]
fn commands_about_registries_print_json() {
    let setup = Setup::new(&silent(1));
    setup.configure(&json!({ "permissions": { "state": true } }));
    let reference = setup.reference();
    let [(key, _), _] = keys(setup.home.path());
    let locked = json_of(&setup, 0, &["lock"]);
    assert_eq!((&locked["added"], &locked["unapproved"]), (&json!([reference]), &json!([])), "{locked}");
    assert_eq!(locked["components"][&reference], setup.entry());
    assert_eq!(json_of(&setup, 0, &["lock", "--locked"])["added"], json!([]));
    assert_eq!(json_of(&setup, 0, &["update"])["updates"], json!([]), "it is the newest");

    let file = setup.home.path().join("push.wasm");
    fs::write(&file, greedy()).unwrap();
    let pushed = json_of(&setup, 0, &["push", file.to_str().unwrap(), &reference]);
    assert_eq!(pushed["reference"], json!(reference));
    let signed = json_of(&setup, 0, &["sign", &reference, "--key", key.to_str().unwrap()]);
    assert_eq!(signed["digest"], pushed["digest"], "{signed}");
    assert!(signed["publisher"].as_str().unwrap().starts_with("key:sha256:"), "{signed}");
    assert_eq!(json_of(&setup, 0, &["digest", &reference])["digest"], pushed["digest"]);
    let pulled = json_of(&setup, 0, &["pull", &reference, "-o", "pulled.wasm"]);
    assert_eq!((&pulled["manifest"], &pulled["file"]), (&pushed["digest"], &json!("pulled.wasm")), "{pulled}");

    let told = json_of(&setup, 81, &["update"]);
    let update = &told["updates"][0];
    assert_eq!((&told["unapproved"], &update["written"]), (&json!([reference]), &json!(false)), "{told}");
    assert!(
        update["changes"].as_array().unwrap().contains(&json!({ "text": "+ asks for state", "needsApproval": true })),
        "{told}"
    );
    assert_eq!(update["to"]["digest"], pulled["digest"], "{told}");
    let waiting = json_of(&setup, 0, &["approve", "--dry-run"]);
    assert_eq!(
        (&waiting["approved"], &waiting["components"][0]["reference"]),
        (&json!(false), &json!(reference)),
        "{waiting}"
    );
    assert_eq!(json_of(&setup, 0, &["approve"])["approved"], true);
    assert_eq!(json_of(&setup, 0, &["approve"])["components"], json!([]));

    assert_eq!(json_of(&setup, 0, &["save", "hooks.tar"])["components"], 1);
    assert_eq!(
        json_of(&setup, 0, &["load", "hooks.tar"]),
        json!({ "file": "hooks.tar", "components": 1, "missing": [] })
    );
}

#[test]
fn an_update_of_the_same_power_is_written_at_once_and_notes_stay() {
    let setup = Setup::new(&silent(1));
    setup.does(&["lock"]);
    let reference = setup.reference();
    setup.edit(|lock| lock["components"][&reference]["note"] = "reviewed by me".into());
    let old = fs::read(setup.lock_file()).unwrap();
    setup.push(&silent(2), "1");
    assert!(setup.does(&["update", "--dry-run"]).contains(" -> "));
    assert_eq!(fs::read(setup.lock_file()).unwrap(), old);
    setup.does(&["update"]);
    assert_eq!(setup.entry()["digest"], format!("sha256:{}", hookbox::sha256(silent(2))));
    assert_eq!(setup.entry()["note"], "reviewed by me");
    passed(&setup.run());

    // The previous version is back in the lock. A checkout cannot approve that itself.
    fs::write(setup.lock_file(), old).unwrap();
    let why = denied(&setup.run());
    assert!(why.contains("is not approved"), "{why}");
    setup.ends(81, &["lock", "--locked"]);
    setup.does(&["approve"]);
    passed(&setup.run());
}

#[test]
fn an_edited_lock_runs_nothing() {
    let setup = Setup::new(&silent(1));
    setup.configure(&json!({ "permissions": { "state": true } }));
    setup.push(&greedy(), "2");
    setup.does(&["lock"]);
    let original = fs::read(setup.lock_file()).unwrap();
    let (reference, other) = (setup.reference(), format!("sha256:{}", hookbox::sha256(greedy())));
    let edits: Vec<(&str, Edit<'_>, &str, i32)> = vec![
        (
            "another digest",
            Box::new(|lock| lock["components"][&reference]["digest"] = other.clone().into()),
            "is not approved",
            82,
        ),
        (
            "an invalid digest",
            Box::new(|lock| lock["components"][&reference]["digest"] = "sha256:0".into()),
            "not a valid lock",
            78,
        ),
        (
            "power that it has not",
            Box::new(|lock| lock["components"][&reference]["imports"] = json!(["http"])),
            "+ asks for http",
            82,
        ),
        (
            "a publisher without a proof",
            Box::new(|lock| lock["components"][&reference]["publisher"] = "key:x".into()),
            "not a valid lock",
            78,
        ),
        (
            "a publisher",
            Box::new(|lock| {
                lock["components"][&reference]["publisher"] = "key:x".into();
                lock["components"][&reference]["attested"] = true.into();
            }),
            "is not approved",
            81,
        ),
        ("no entry", Box::new(|lock| lock["components"] = json!({})), "is not in", 80),
        ("no declaration", Box::new(|lock| lock["declarations"] = json!({})), "is stale", 80),
        ("another version", Box::new(|lock| lock["version"] = 2.into()), "not a valid lock", 78),
        (
            "an unknown key",
            Box::new(|lock| lock["components"][&reference]["trusted"] = true.into()),
            "not a valid lock",
            78,
        ),
    ];
    for (name, edit, why, code) in edits {
        fs::write(setup.lock_file(), &original).unwrap();
        setup.edit(edit);
        let told = denied(&setup.run());
        assert!(told.contains(why), "{name}: {told}");
        let output = setup.hookbox(&["lock", "--locked"]);
        assert_eq!(output.status.code(), Some(code), "{name}: {output:?}");
        assert!(denied(&setup.run()).contains(why), "{name}");
    }
    // Parsers read a repeated key differently.
    let twice =
        String::from_utf8(original.clone()).unwrap().replacen("\"version\": 1", "\"version\": 1, \"version\": 1", 1);
    fs::write(setup.lock_file(), twice).unwrap();
    assert!(denied(&setup.run()).contains("not a valid lock"));
    fs::write(setup.lock_file(), original).unwrap();
    passed(&setup.run());
}

#[test]
fn a_configuration_that_changed_makes_the_lock_stale() {
    let setup = Setup::new(&silent(1));
    setup.does(&["lock"]);
    let config = fs::read_to_string(setup.dir.path().join("hooks.json")).unwrap();
    fs::write(setup.dir.path().join("hooks.json"), config.replace("guard:1", "guard:2")).unwrap();
    assert!(denied(&setup.run()).contains("is stale"));
    let told = setup.ends(80, &["lock", "--locked"]);
    assert!(told.contains("hookbox lock"), "{told}");
    setup.push(&silent(2), "2");
    setup.does(&["lock"]);
    passed(&setup.run());
    // References that are no longer used are removed.
    assert_eq!(setup.lock()["components"].as_object().unwrap().len(), 1);
}

#[test]
fn its_own_on_failure_overrides() {
    let setup = Setup::new(&silent(1));
    setup.configure(&json!({ "onFailure": "ignore" }));
    passed(&setup.run());
    setup.configure(&json!({ "onFailure": "ask" }));
    let output = setup.run();
    let wire: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(wire["hookSpecificOutput"]["permissionDecision"], "ask");
    // A policy for all hooks does not count as the hook's own.
    let config = fs::read_to_string(setup.dir.path().join("hooks.json")).unwrap();
    let mut config: Value = serde_json::from_str(&config).unwrap();
    config["dialect"] = "blade".into();
    config["hooks"]["failureBehavior"] = "ignore".into();
    config["hooks"]["PreToolUse"][0]["hooks"][0].as_object_mut().unwrap().remove("onFailure");
    fs::write(setup.dir.path().join("hooks.json"), config.to_string()).unwrap();
    assert!(text(&setup.run()).contains("deny"), "{:?}", setup.run());
}

#[test]
fn a_lock_of_another_user_needs_approval() {
    let setup = Setup::new(&silent(1));
    setup.does(&["lock"]);
    let home = tempfile::tempdir().unwrap();
    fs::create_dir_all(home.path().join("hookbox")).unwrap();
    let settings = "hookbox/registries.json";
    fs::copy(setup.home.path().join(settings), home.path().join(settings)).unwrap();
    let run = || setup.in_home(home.path(), &["run", "--config", "hooks.json"]);
    assert!(denied(&run()).contains("is not approved"));
    let output = setup.in_home(home.path(), &["lock", "--locked"]);
    assert_eq!(output.status.code(), Some(81), "{output:?}");
    assert!(text(&output).contains("asks        for nothing"), "{output:?}");
    assert!(denied(&run()).contains("is not approved"));
    assert!(setup.in_home(home.path(), &["approve"]).status.success());
    passed(&run());

    // A build job approves its own checkout.
    let job = tempfile::tempdir().unwrap();
    fs::create_dir_all(job.path().join("hookbox")).unwrap();
    fs::copy(setup.home.path().join(settings), job.path().join(settings)).unwrap();
    assert!(setup.in_home(job.path(), &["lock", "--locked", "--approve"]).status.success());
    passed(&setup.in_home(job.path(), &["run", "--config", "hooks.json"]));
}

#[test]
fn trust_of_a_checkout_covers_its_lock() {
    let setup = Setup::new(&silent(1));
    setup.does(&["lock"]);
    let found = || setup.hookbox(&["run"]);
    assert!(text(&found()).contains("is not trusted"), "{:?}", found());
    let told = setup.does(&["trust", "hooks.json"]);
    assert!(told.contains(&setup.reference()), "{told}");
    passed(&found());
    // An update is a different component, which is not trusted yet.
    setup.push(&silent(2), "1");
    setup.does(&["update"]);
    assert!(text(&found()).contains("has changed since it was trusted"), "{:?}", found());
    setup.does(&["trust", "hooks.json"]);
    passed(&found());
}

#[test]
fn a_private_registry_needs_permission() {
    let setup = Setup::new(&silent(1));
    fs::remove_file(setup.home.path().join("hookbox/registries.json")).unwrap();
    let told = setup.ends(83, &["lock"]);
    assert!(told.contains("are not allowed") && told.contains("registries.json"), "{told}");
    assert!(!setup.lock_file().exists());
    // The user names the reference on the command line.
    setup.does(&["info", &setup.reference()]);
}

#[test]
fn damaged_and_linked_components_do_not_run() {
    let setup = Setup::new(&silent(1));
    setup.does(&["lock"]);
    let file = fs::read_dir(setup.kept()).unwrap().next().unwrap().unwrap().path();
    let whole = fs::read(&file).unwrap();
    for damaged in [Vec::new(), whole[..whole.len() / 2].to_vec(), guard()] {
        fs::remove_file(&file).unwrap();
        fs::write(&file, damaged).unwrap();
        assert!(denied(&setup.run()).contains("is not fetched"));
    }
    fs::remove_file(&file).unwrap();
    let elsewhere = setup.home.path().join("elsewhere");
    fs::write(&elsewhere, &whole).unwrap();
    symlink(&elsewhere, &file).unwrap();
    denied(&setup.run());
    fs::remove_file(&file).unwrap();
    setup.does(&["lock", "--locked"]);
    passed(&setup.run());
    // hookbox does not wait for a lock file that is a named pipe.
    fs::remove_file(setup.lock_file()).unwrap();
    assert!(Command::new("mkfifo").arg(setup.lock_file()).status().unwrap().success());
    assert!(denied(&setup.run()).contains("hookbox.lock"));
}

#[test]
fn locks_and_runs_at_once_see_one_lock_or_the_other() {
    let setup = Setup::new(&silent(0));
    setup.does(&["lock"]);
    thread::scope(|scope| {
        let updates = scope.spawn(|| {
            for version in 1..6 {
                setup.push(&silent(version), "1");
                setup.does(&["update"]);
            }
        });
        while !updates.is_finished() {
            passed(&setup.run());
        }
    });
}

#[test]
fn two_commands_take_a_hook_under_each_form_of_configuration() {
    let setup = Setup::new(&guard());
    let reference = setup.reference();
    let call = json!({ "command": "rm -rf /" });
    let claude = json!({ "hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash", "tool_input": call });
    let picoclaw = json!({ "jsonrpc": "2.0", "id": 7, "method": "hook.before_tool", "params": { "tool": "exec", "arguments": call } });
    for (client, wire, proof) in [
        ("claude", &claude, r#""permissionDecision":"deny""#),
        ("gemini", &claude, r#""permissionDecision":"deny""#),
        // The hook denies by a field that picoclaw does not send. Its log shows that it ran.
        ("picoclaw", &picoclaw, "picoclaw rm -rf /"),
    ] {
        let file = format!("{client}.json");
        let told = setup.does(&["add", &reference, "--client", client, "--config", &file, "--yes"]);
        assert!(told.contains("asks        for nothing") && told.contains("hookbox lock"), "{told}");
        setup.does(&["lock", &file]);
        let output =
            hookbox_testing::process::fed(&mut setup.command(&["run", "--config", &file]), wire.to_string().as_bytes());
        assert!(text(&output).contains(proof), "{client}: {output:?}");
        let told = setup.does(&["add", &reference, "--client", client, "--config", &file, "--yes"]);
        assert!(told.contains("already"), "{told}");
    }
    // A hook gets nothing that it asks for, and an existing configuration keeps its own hooks.
    setup.push(&greedy(), "2");
    let other = setup.registry.reference("acme/guard:2");
    let told = setup.does(&["add", &other, "--config", "claude.json", "--yes"]);
    assert!(told.contains("it asks for state"), "{told}");
    let config: Value = serde_json::from_slice(&fs::read(setup.dir.path().join("claude.json")).unwrap()).unwrap();
    let groups = config["hooks"]["PreToolUse"].as_array().unwrap();
    assert_eq!(groups.len(), 2, "{config}");
    assert_eq!(groups[1]["hooks"][0], json!({ "type": "wasm", "component": other, "onFailure": "block" }));
    setup.does(&["lock", "claude.json"]);
    let reason = denied(&setup.hookbox(&["run", "--config", "claude.json"]));
    assert!(reason.contains("needs state, which is not granted"), "{reason}");
    // `add` writes no entry for a component that the user's policy refuses.
    let [(_, public), _] = crate::setup::keys(setup.home.path());
    setup.policy(&json!({ "keys": [public] }), &json!({}));
    let told = setup.ends(84, &["add", &reference, "--config", "new.json", "--yes"]);
    assert!(told.contains("is not signed") && told.contains("registries.json"), "{told}");
    assert!(!setup.dir.path().join("new.json").exists());
}

#[test]
fn the_cache_lists_unlocked_components() {
    let setup = Setup::new(&silent(1));
    setup.does(&["lock"]);
    setup.push(&silent(2), "1");
    setup.does(&["update"]);
    let told = setup.does(&["cache"]);
    assert!(told.contains("in no lock") && told.contains("2 components"), "{told}");
    let told = setup.does(&["cache", "--gc"]);
    assert!(told.contains("1 component removed"), "{told}");
    passed(&setup.run());
}

#[test]
fn one_file_transfers_a_lock_to_an_offline_machine() {
    let mut setup = Setup::new(&silent(1));
    setup.does(&["lock"]);
    setup.does(&["save", "hooks.tar"]);
    let first = fs::read(setup.dir.path().join("hooks.tar")).unwrap();
    setup.does(&["save", "hooks.tar"]);
    assert_eq!(fs::read(setup.dir.path().join("hooks.tar")).unwrap(), first);

    setup.registry.stop();
    let home = tempfile::tempdir().unwrap();
    let there = |args: &[&str]| setup.in_home(home.path(), args);
    let does = |args: &[&str]| assert!(there(args).status.success(), "{args:?}: {:?}", there(args));
    does(&["load", "hooks.tar"]);
    assert!(denied(&there(&["run", "--config", "hooks.json"])).contains("is not approved"));
    does(&["approve"]);
    passed(&there(&["run", "--config", "hooks.json"]));

    // Other bytes under a name of the lock, and a file that is cut.
    let other = tempfile::tempdir().unwrap();
    let at = first.windows(4).position(|bytes| bytes == b"\0asm").unwrap();
    for (name, code, change) in [("forged.tar", 82, at + 100), ("cut.tar", 70, 0)] {
        let mut bytes = first.clone();
        if change > 0 {
            bytes[change] ^= 1;
        } else {
            bytes.truncate(at + 10);
        }
        fs::write(setup.dir.path().join(name), bytes).unwrap();
        let output = setup.in_home(other.path(), &["load", name]);
        assert!([Some(code), Some(82)].contains(&output.status.code()), "{name}: {output:?}");
    }
    assert!(!other.path().join("hookbox/components").exists());
}

/// A tar file of these entries.
fn archive(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut tar = tar::Builder::new(Vec::new());
    for (name, bytes) in entries {
        let mut header = tar::Header::new_ustar();
        header.set_size(bytes.len() as u64);
        header.set_entry_type(tar::EntryType::Regular);
        // Past the check of the library, which writes no `..`.
        header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_cksum();
        tar.append(&header, *bytes).unwrap();
    }
    tar.into_inner().unwrap()
}

#[test]
fn a_hostile_archive_loads_only_what_the_lock_names() {
    let setup = Setup::new(&silent(1));
    setup.push(&silent(2), "2");
    let hook = |reference: &str| json!({ "type": "wasm", "component": setup.registry.reference(reference) });
    let configure = |references: &[&str]| {
        let hooks: Vec<Value> = references.iter().map(|reference| hook(reference)).collect();
        let config = json!({ "hooks": { "PreToolUse": [{ "hooks": hooks }] } });
        fs::write(setup.dir.path().join("hooks.json"), config.to_string()).unwrap();
    };
    configure(&["acme/guard:1", "acme/guard:2"]);
    setup.does(&["lock"]);
    let home = tempfile::tempdir().unwrap();
    let load = |content: Vec<u8>| {
        fs::write(setup.dir.path().join("hooks.tar"), content).unwrap();
        setup.in_home(home.path(), &["load", "hooks.tar"])
    };
    let [first, second] = [silent(1), silent(2)];
    let [a, b] = [&first, &second].map(|bytes| format!("components/{}.wasm", hookbox::sha256(bytes)));
    // A component that is there twice does not stand for another, which is missing.
    let output = load(archive(&[(&a, &first), (&a, &first)]));
    assert!(!output.status.success() && text(&output).contains("lacks components"), "{output:?}");
    // Other names, links and bytes.
    let mut link = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_ustar();
    header.set_size(0);
    header.set_entry_type(tar::EntryType::Symlink);
    link.append_link(&mut header, &a, "/etc/passwd").unwrap();
    for content in [
        archive(&[("components/../../escaped", b"x"), (&a.replace("components", "component"), &first)]),
        link.into_inner().unwrap(),
        archive(&[(&a, b"other bytes")]),
        archive(&[(&a, &[first.clone(), vec![0; 1000]].concat())]),
        b"no archive".to_vec(),
        Vec::new(),
    ] {
        assert!(!load(content).status.success());
    }
    // A name as long as the disk is not read into memory.
    let mut header = tar::Header::new_gnu();
    header.set_path("././@LongLink").unwrap();
    header.set_size(3 << 30);
    header.set_entry_type(tar::EntryType::GNULongName);
    header.set_cksum();
    let file = setup.dir.path().join("hooks.tar");
    fs::write(&file, header.as_bytes()).unwrap();
    fs::File::options().write(true).open(&file).unwrap().set_len((3 << 30) + 4096).unwrap();
    let mut limited = std::process::Command::new("sh");
    limited.args(["-c", "ulimit -v 4000000; exec \"$0\" load hooks.tar", env!("CARGO_BIN_EXE_hookbox")]);
    let like = setup.command(&[]);
    limited.current_dir(setup.dir.path()).envs(like.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = limited.output().unwrap();
    assert!(text(&output).contains("lacks components"), "{output:?}");

    // Two references to one component are one file.
    assert!(load(archive(&[("more", b"x"), (&b, &second), (&a, &first)])).status.success());
    setup.push(&first, "3");
    configure(&["acme/guard:1", "acme/guard:3"]);
    setup.does(&["lock"]);
    setup.does(&["save", "hooks.tar"]);
    let output = setup.in_home(home.path(), &["load", "hooks.tar"]);
    assert!(output.status.success() && text(&output).contains("1 of 1 component loaded"), "{output:?}");
}

/// A checkout may have links in the place of files that commands make.
#[test]
fn new_files_are_not_written_through_links() {
    let setup = Setup::new(&guard());
    let bashrc = setup.home.path().join(".bashrc");
    fs::write(&bashrc, "mine").unwrap();
    setup.does(&["lock"]);
    for name in ["guard.wasm", "hooks.tar"] {
        symlink(&bashrc, setup.dir.path().join(name)).unwrap();
    }
    setup.does(&["pull", &setup.reference()]);
    setup.does(&["save", "hooks.tar"]);
    assert_eq!(fs::read_to_string(&bashrc).unwrap(), "mine");
    assert_eq!(fs::read(setup.dir.path().join("guard.wasm")).unwrap(), guard());
}
