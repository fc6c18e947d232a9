//! Attacks on the lock, by a person who can change a checkout, kill a command or move a tag.

use std::{
    fs,
    os::unix::fs::symlink,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use crate::setup::{Setup, denied, keys, passed, silent, text};

/// The file of this user's approvals.
fn approvals(setup: &Setup) -> std::path::PathBuf {
    let folder = fs::read_dir(setup.home.path().join("hookbox/approvals")).unwrap();
    let mut files =
        folder.map(|entry| entry.unwrap().path()).filter(|path| path.extension().is_some_and(|e| e == "json"));
    files.next().unwrap()
}

fn write(file: &std::path::Path, content: &str) {
    let _ = fs::remove_file(file);
    fs::write(file, content).unwrap();
}

/// The publisher of the hook in a new record.
fn recorded(setup: &Setup) -> Option<String> {
    let file = setup.dir.path().join("records.jsonl");
    let _ = fs::remove_file(&file);
    passed(&setup.hookbox(&["run", "--config", "hooks.json", "--record", "records.jsonl"]));
    let record: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    assert!(record["hooks"][0]["componentDigest"].is_string(), "{record}");
    record["hooks"][0]["publisher"].as_str().map(str::to_owned)
}

#[test]
fn a_publisher_that_only_the_lock_names_is_ignored() {
    let setup = Setup::new(&silent(1));
    setup.does(&["lock"]);
    assert_eq!(recorded(&setup), None);
    let reference = setup.reference();
    setup.edit(|lock| {
        lock["components"][&reference]["publisher"] = "key:sha256:00".into();
        lock["components"][&reference]["attested"] = true.into();
    });
    assert!(denied(&setup.run()).contains("! publisher unknown -> key:sha256:00"));
    let told = setup.ends(81, &["lock", "--locked"]);
    assert!(told.contains("no policy here verifies it"), "{told}");
    let told = setup.does(&["approve"]);
    assert!(told.contains("no policy here verifies it"), "{told}");
    assert_eq!(recorded(&setup), None);
}

#[test]
fn a_publisher_that_was_verified_is_in_the_records() {
    let setup = Setup::new(&silent(1));
    let [(key, public), _] = keys(setup.home.path());
    setup.policy(&json!({ "keys": [public] }), &json!({}));
    setup.sign(&key);
    setup.does(&["lock"]);
    let publisher = setup.entry()["publisher"].as_str().unwrap().to_owned();
    assert_eq!(recorded(&setup), Some(publisher.clone()));
    // The same after an update that was approved.
    setup.push(&silent(2), "1");
    setup.sign(&key);
    setup.does(&["update"]);
    assert_eq!(recorded(&setup), Some(publisher));
}

#[test]
fn an_entry_of_another_reference_is_not_approved() {
    let setup = Setup::new(&silent(1));
    setup.push(&silent(2), "2");
    let (first, second) = (setup.reference(), setup.registry.reference("acme/guard:2"));
    let hook = |reference: &str| json!({ "type": "wasm", "component": reference });
    let config = json!({ "hooks": { "PreToolUse": [{ "hooks": [hook(&first), hook(&second)] }] } });
    fs::write(setup.dir.path().join("hooks.json"), config.to_string()).unwrap();
    setup.does(&["lock"]);
    passed(&setup.run());
    setup.edit(|lock| {
        let entry = lock["components"][&second].clone();
        lock["components"][&first] = entry;
    });
    assert!(denied(&setup.run()).contains("is not approved"));
    setup.ends(81, &["lock", "--locked"]);
    setup.ends(81, &["lock"]);
}

#[test]
fn a_lower_version_waits_for_approval() {
    let setup = Setup::new(&silent(1));
    let file = setup.home.path().join("push.wasm");
    let push = |version: u32, name: &str| {
        fs::write(&file, silent(version)).unwrap();
        setup.does(&["push", file.to_str().unwrap(), &setup.reference(), "--version", name]);
    };
    push(2, "1.4.0");
    setup.does(&["lock"]);
    // The registry serves an old artifact under the tag. Its signature would still be valid.
    push(3, "1.3.9");
    let told = setup.ends(81, &["update"]);
    assert!(told.contains("! version 1.4.0 -> 1.3.9, which is older"), "{told}");
    assert_eq!(setup.entry()["version"], "1.4.0");
    push(4, "1.10.0");
    setup.does(&["update"]);
    assert_eq!(setup.entry()["version"], "1.10.0");
    passed(&setup.run());
}

#[test]
fn a_command_that_was_killed_between_two_writes_leaves_hooks_that_run() {
    let setup = Setup::new(&silent(1));
    setup.does(&["lock"]);
    let (lock_1, approval_1) =
        (fs::read_to_string(setup.lock_file()).unwrap(), fs::read_to_string(approvals(&setup)).unwrap());
    setup.push(&silent(2), "1");
    setup.does(&["update"]);
    let (lock_2, approval_2) =
        (fs::read_to_string(setup.lock_file()).unwrap(), fs::read_to_string(approvals(&setup)).unwrap());
    // As `update` leaves them after its first and after its second write.
    let mut between: Value = serde_json::from_str(&approval_1).unwrap();
    let after: Value = serde_json::from_str(&approval_2).unwrap();
    between["next"] = after["components"].clone();
    for lock in [&lock_1, &lock_2] {
        write(&approvals(&setup), &between.to_string());
        fs::write(setup.lock_file(), lock).unwrap();
        passed(&setup.run());
        // The next command settles it, whatever it is.
        for command in [&["lock"][..], &["lock", "--locked"], &["approve"]] {
            write(&approvals(&setup), &between.to_string());
            setup.does(command);
            passed(&setup.run());
            assert_eq!(&fs::read_to_string(setup.lock_file()).unwrap(), lock);
        }
    }
}

#[test]
fn kills_at_any_moment_leave_a_lock_that_can_be_used() {
    let setup = Setup::new(&silent(0));
    setup.does(&["lock"]);
    for version in 1..12 {
        setup.push(&silent(version), "1");
        let mut child = setup
            .command(&["update"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        thread::sleep(Duration::from_millis(u64::from(version) * 7));
        let _ = child.kill();
        child.wait().unwrap();
        passed(&setup.run());
    }
    setup.does(&["update"]);
    passed(&setup.run());
}

#[test]
fn an_update_after_a_killed_one_keeps_the_hooks_running() {
    let setup = Setup::new(&silent(1));
    setup.does(&["lock"]);
    // Longer than all other files, so that only writing the lock exceeds the limit below.
    setup.edit(|lock| lock["about"] = "x".repeat(200 << 10).into());
    let before = fs::read_to_string(approvals(&setup)).unwrap();
    setup.push(&silent(2), "1");
    setup.does(&["update"]);
    // As an update leaves them that was killed behind the lock.
    let mut between: Value = serde_json::from_str(&before).unwrap();
    let after: Value = serde_json::from_slice(&fs::read(approvals(&setup)).unwrap()).unwrap();
    between["next"] = after["components"].clone();
    write(&approvals(&setup), &between.to_string());
    passed(&setup.run());
    // The next one is killed before the lock.
    setup.push(&silent(3), "1");
    let mut killed = Command::new("sh");
    killed.args(["-c", "ulimit -c 0; ulimit -f 200; exec \"$0\" update", env!("CARGO_BIN_EXE_hookbox")]);
    let like = setup.command(&[]);
    killed.current_dir(setup.dir.path()).envs(like.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let lock = fs::read(setup.lock_file()).unwrap();
    assert!(!killed.output().unwrap().status.success());
    assert_eq!(fs::read(setup.lock_file()).unwrap(), lock);
    passed(&setup.run());
    setup.does(&["update"]);
    passed(&setup.run());
}

#[test]
fn emptied_approvals_approve_nothing_and_can_be_repeated() {
    let setup = Setup::new(&silent(1));
    setup.does(&["lock"]);
    for broken in ["", "{", "\0\0\0\0"] {
        write(&approvals(&setup), broken);
        assert!(denied(&setup.run()).contains("is not approved"), "{broken:?}");
        setup.does(&["approve"]);
        passed(&setup.run());
    }
}

#[test]
fn commands_at_once_lose_no_entry() {
    let setup = Setup::new(&silent(1));
    let names: Vec<String> = (0..4).map(|n| format!("{n}.json")).collect();
    for (n, name) in names.iter().enumerate() {
        setup.push(&silent(u32::try_from(n).unwrap()), &format!("v{n}"));
        let hook = json!({ "type": "wasm", "component": setup.registry.reference(&format!("acme/guard:v{n}")) });
        let config = json!({ "hooks": { "PreToolUse": [{ "hooks": [hook] }] } });
        fs::write(setup.dir.path().join(name), config.to_string()).unwrap();
    }
    thread::scope(|scope| {
        for name in &names {
            scope.spawn(|| setup.does(&["lock", name]));
        }
    });
    assert_eq!(setup.lock()["components"].as_object().unwrap().len(), names.len());
    for name in &names {
        passed(&setup.hookbox(&["run", "--config", name]));
    }
}

#[test]
fn a_link_in_place_of_the_lock_is_not_followed() {
    let setup = Setup::new(&silent(1));
    let outside = setup.home.path().join("outside");
    for content in [None, Some("not a lock\n")] {
        let _ = fs::remove_file(setup.lock_file());
        let _ = fs::remove_file(&outside);
        symlink(&outside, setup.lock_file()).unwrap();
        if let Some(content) = content {
            fs::write(&outside, content).unwrap();
            setup.ends(78, &["lock"]);
            assert_eq!(fs::read_to_string(&outside).unwrap(), content);
            continue;
        }
        setup.does(&["lock"]);
        assert!(!outside.exists());
        assert!(setup.lock_file().symlink_metadata().unwrap().is_file());
        passed(&setup.run());
    }
    for (name, command) in [("a pipe", "mkfifo"), ("a folder", "mkdir")] {
        fs::remove_file(setup.lock_file()).unwrap();
        assert!(Command::new(command).arg(setup.lock_file()).status().unwrap().success());
        assert!(denied(&setup.run()).contains("hookbox.lock"), "{name}");
        for command in [&["lock"][..], &["update"], &["approve"], &["lock", "--locked"]] {
            setup.ends(78, command);
        }
        if command == "mkfifo" {
            fs::remove_file(setup.lock_file()).unwrap();
        } else {
            fs::remove_dir(setup.lock_file()).unwrap();
        }
        fs::write(setup.lock_file(), "").unwrap();
    }
    fs::remove_file(setup.lock_file()).unwrap();
    symlink("/dev/zero", setup.lock_file()).unwrap();
    assert!(denied(&setup.run()).contains("hookbox.lock"));
}

#[test]
fn everything_except_new_references_works_offline() {
    let mut setup = Setup::new(&silent(1));
    let [(key, public), _] = keys(setup.home.path());
    setup.policy(&json!({ "keys": [public] }), &json!({}));
    setup.sign(&key);
    fs::create_dir(setup.dir.path().join("tests")).unwrap();
    let case = json!([{ "name": "passes", "event": serde_json::from_str::<Value>(crate::setup::EVENT).unwrap(), "expect": { "decision": "none" } }]);
    fs::write(setup.dir.path().join("tests/all.yaml"), case.to_string()).unwrap();
    setup.does(&["lock"]);
    setup.registry.stop();
    for command in [
        &["run", "--config", "hooks.json"][..],
        &["check", "--config", "hooks.json"],
        &["explain", "--config", "hooks.json"],
        &["test", ".", "--config", "hooks.json"],
        &["trust", "hooks.json"],
        &["run"],
        &["lock"],
        &["lock", "--locked"],
        &["lock", "--locked", "--approve"],
        &["approve"],
        &["save", "all.tar"],
        &["load", "all.tar"],
        &["cache", "--gc"],
        &["bench", "--config", "hooks.json", "--event", "event.json", "--runs", "2"],
    ] {
        if command[0] == "bench" {
            fs::write(setup.dir.path().join("event.json"), crate::setup::EVENT).unwrap();
            continue;
        }
        setup.does(command);
    }
    passed(&setup.run());
    // Commands that ask a registry fail at once.
    let reference = setup.reference();
    for command in [&["update"][..], &["info", &reference], &["pull", &reference], &["digest", &reference]] {
        let told = setup.ends(83, command);
        assert!(told.contains("does not respond"), "{told}");
    }
}

#[test]
fn an_update_shows_the_cases_before_and_after() {
    let setup = Setup::new(&crate::setup::guard());
    fs::create_dir(setup.dir.path().join("tests")).unwrap();
    let event: Value = serde_json::from_str(crate::setup::EVENT).unwrap();
    let cases = json!([
        { "name": "denies rm", "event": event, "expect": { "decision": "deny" } },
        { "name": "has no output", "event": event, "expect": { "decision": "none" } },
    ]);
    fs::write(setup.dir.path().join("tests/all.yaml"), cases.to_string()).unwrap();
    setup.does(&["lock"]);
    // It asks for no more, handles the same event, and no longer does its work.
    setup.push(&silent(1), "1");
    let told = setup.ends(81, &["update"]);
    assert!(told.contains("cases 1 -> 1 of 2 pass"), "{told}");
    assert!(told.contains("! fails now: \"denies rm\"") && told.contains("passes now: \"has no output\""), "{told}");
    assert!(!denied(&setup.run()).contains("load"));
    setup.does(&["approve"]);
    passed(&setup.run());
    // A repaired one is better, so it is written at once.
    setup.push(&crate::setup::guard(), "1");
    let output = setup.hookbox(&["update"]);
    assert!(text(&output).contains("\"denies rm\""), "{output:?}");
}
