//! `hookbox install` in a malicious checkout with links: it writes only the file that it shows.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::PathBuf,
    process::Command,
};

use serde_json::json;

use crate::machine::{Machine, guard};

const BASHRC: &str = "export EDITOR=vi\n";

/// A machine whose user has a `.bashrc`.
fn machine() -> (Machine, PathBuf) {
    let machine = Machine::new(&guard("claude", "PreToolUse", 2));
    let bashrc = machine.write("home/.bashrc", BASHRC);
    fs::create_dir_all(machine.project().join(".claude")).unwrap();
    (machine, bashrc)
}

fn text(output: &std::process::Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn links_with_predictable_names_are_not_followed() {
    let (machine, bashrc) = machine();
    let folder = machine.project().join(".claude");
    fs::write(folder.join("settings.json"), "{}").unwrap();
    // The program keeps the shell's process id because of `exec`.
    let script = format!(
        "for name in settings.json.$$ settings.json.hookbox-backup settings.json.tmp .settings.json.$$; do \
         ln -s \"$HOME/.bashrc\" .claude/$name; done; \
         ln -s \"$HOME/.bashrc\" .claude/settings.json.hookbox-backup.$$; \
         exec {} install claude --yes",
        env!("CARGO_BIN_EXE_hookbox")
    );
    let output = machine.command("sh").args(["-c", &script]).output().unwrap();
    assert!(output.status.success(), "{}", text(&output));
    assert_eq!(fs::read_to_string(&bashrc).unwrap(), BASHRC);
    let settings = folder.join("settings.json");
    assert!(fs::read_to_string(&settings).unwrap().contains("PreToolUse"));
    assert!(fs::symlink_metadata(&settings).unwrap().is_file());
    let backup = folder.join("settings.json.hookbox-backup");
    assert!(fs::symlink_metadata(&backup).unwrap().is_file(), "a link in its place is replaced, not followed");
    assert_eq!(fs::read_to_string(backup).unwrap(), "{}");
}

#[test]
fn a_link_out_of_the_project_is_shown_and_needs_confirmation() {
    for (link, target) in [
        (".claude/settings.json", "home/.claude/settings.json"),
        (".claude/settings.json", "home/missing.json"),
        (".claude", "home/.claude"),
    ] {
        let machine = Machine::new(&guard("claude", "PreToolUse", 2));
        let before = machine.write("home/.claude/settings.json", "{\"theme\":\"dark\"}\n");
        let target = machine.path(target);
        let link = machine.project().join(link);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(&target, &link).unwrap();
        let file = if target.is_dir() { target.join("settings.json") } else { target.clone() };
        let untouched = || {
            assert_eq!(fs::read_to_string(&before).unwrap(), "{\"theme\":\"dark\"}\n");
            assert!(!machine.path("home/missing.json").exists());
        };

        // With `--yes`, hookbox cannot ask the user.
        let output = machine.hookbox(&["install", "claude", "--yes"]);
        let said = text(&output);
        assert_eq!(output.status.code(), Some(64), "{said}");
        assert!(said.contains(&*file.to_string_lossy()) && said.contains("--follow-links"), "{said}");
        untouched();
        // A user who is asked sees the target, and can refuse.
        let output = machine.answering("n\n", &["install", "claude"]);
        assert!(text(&output).contains(&*file.to_string_lossy()), "{}", text(&output));
        untouched();

        let output = machine.hookbox(&["install", "claude", "--yes", "--follow-links"]);
        assert!(output.status.success(), "{}", text(&output));
        assert!(fs::read_to_string(&file).unwrap().contains("PreToolUse"));
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink(), "the link stays");
        let output = machine.hookbox(&["install", "claude", "--remove", "--yes"]);
        assert_eq!(output.status.code(), Some(64), "also when it is removed: {}", text(&output));
    }
}

#[test]
fn a_link_within_the_project_is_followed_and_the_diff_names_its_target() {
    let machine = Machine::new(&guard("claude", "PreToolUse", 2));
    let shared = machine.write("project/shared/settings.json", "{}\n");
    fs::create_dir_all(machine.project().join(".claude")).unwrap();
    symlink("../shared/settings.json", machine.project().join(".claude/settings.json")).unwrap();
    let said = machine.install(&["claude"]);
    assert!(said.contains(&format!("+++ {}", shared.display())), "{said}");
    assert!(fs::read_to_string(shared).unwrap().contains("PreToolUse"));
}

#[test]
fn a_link_of_the_user_is_followed_and_the_diff_names_its_target() {
    let machine = Machine::new(&guard("claude", "PreToolUse", 2));
    let dotfiles = machine.write("dotfiles/settings.json", "{}\n");
    fs::create_dir_all(machine.path("home/.claude")).unwrap();
    symlink(&dotfiles, machine.path("home/.claude/settings.json")).unwrap();
    let said = machine.install(&["claude", "--user"]);
    assert!(said.contains(&format!("+++ {}", dotfiles.display())), "{said}");
}

#[test]
fn non_files_are_refused_at_once() {
    for place in ["settings.json", "settings.json.hookbox-backup"] {
        let (machine, _) = machine();
        let file = machine.project().join(".claude").join(place);
        if place != "settings.json" {
            fs::write(machine.project().join(".claude/settings.json"), "{}").unwrap();
        }
        assert!(Command::new("mkfifo").arg(&file).status().unwrap().success());
        let output = machine.hookbox(&["install", "claude", "--yes"]);
        assert!(!output.status.success(), "{place}: {}", text(&output));
        assert!(text(&output).contains(&*file.to_string_lossy()), "{}", text(&output));
    }
    let (machine, _) = machine();
    symlink("/dev/zero", machine.project().join(".claude/settings.json")).unwrap();
    let output = machine.hookbox(&["install", "claude", "--yes", "--follow-links"]);
    assert!(!output.status.success(), "{}", text(&output));
}

#[test]
fn a_file_keeps_its_mode_and_a_failure_leaves_no_half() {
    let (machine, _) = machine();
    let settings = machine.project().join(".claude/settings.json");
    fs::write(&settings, json!({ "theme": "dark" }).to_string()).unwrap();
    fs::set_permissions(&settings, fs::Permissions::from_mode(0o640)).unwrap();
    machine.install(&["claude"]);
    assert_eq!(fs::metadata(&settings).unwrap().permissions().mode() & 0o777, 0o640);
    let names: Vec<_> = fs::read_dir(settings.parent().unwrap()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "the file and its backup: {names:?}");
}

#[test]
fn other_commands_follow_no_prepared_link_either() {
    let (machine, bashrc) = machine();
    let project = machine.project();
    // `new` into a folder of links, and `--junit` and `--update` through links.
    symlink(&bashrc, project.join("report.xml")).unwrap();
    fs::create_dir_all(project.join("elsewhere")).unwrap();
    symlink(machine.path("home"), project.join("hook")).unwrap();
    let output = machine.hookbox(&["new", "hook", "--lang", "js"]);
    assert!(!output.status.success(), "{}", text(&output));
    fs::create_dir_all(project.join("tests")).unwrap();
    fs::write(project.join("tests/cases.yaml"), "[]\n").unwrap();
    machine.hookbox(&["test", "--junit", "report.xml"]);
    assert_eq!(fs::read_to_string(&bashrc).unwrap(), BASHRC);
    assert_eq!(fs::read_dir(machine.path("home")).unwrap().count(), 1);
}
