//! Losing commits or uncommitted changes, rewriting what others have.

use hookbox_shell::{Call, Word};

use super::{Finding, Kind, finding, has_long, has_short, operands};

/// Options of git itself that take the next word.
const VALUED: [&str; 8] =
    ["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--super-prefix", "--config-env"];
/// Branches that others build on.
const SHARED: [&str; 7] = ["main", "master", "trunk", "develop", "release", "production", "stable"];

pub(super) fn check(call: &Call) -> Option<Finding> {
    if call.program != "git" {
        return None;
    }
    let (command, args) = subcommand(&call.args)?;
    let sub = Call { program: "git".into(), args: args.to_vec(), ..Call::default() };
    let has = |words: &[&str]| super::has(&sub, words);
    let short = |letter| has_short(&sub, letter);
    let risky = |what: &str| Some(finding(Kind::Git, false, call, what));
    let grave = |what: &str| Some(finding(Kind::Git, true, call, what));
    match command {
        "push" => push(call, &sub),
        "reset" if has(&["--hard"]) || has_long(&sub, "hard", 2) => risky("throws away changes that are not committed"),
        "clean" if (short('f') || has_long(&sub, "force", 2)) && !short('n') && !has(&["--dry-run"]) => {
            risky("deletes files that git does not have")
        }
        "checkout" | "switch" if short('f') || has(&["--force", "--discard-changes"]) => {
            risky("throws away changes that are not committed")
        }
        // Behind `--` are paths.
        "checkout" if has(&[".", "./", ":/", "*", "--"]) => risky("throws away changes that are not committed"),
        "restore" if !has(&["--staged", "-S"]) || has(&["--worktree", "-W"]) => {
            risky("throws away changes that are not committed")
        }
        "branch" if short('D') || (short('d') || has(&["--delete"])) && (short('f') || has(&["--force"])) => {
            risky("deletes a branch that may not be merged")
        }
        "stash" if has(&["drop", "clear"]) => risky("throws away stashed changes"),
        "reflog" if has(&["expire", "delete"]) => grave("deletes what git would need to get commits back"),
        "gc" | "prune"
            if sub.args.iter().any(|arg| {
                matches!(arg.text.as_str(), "--prune=now" | "--prune=all" | "--expire=now" | "--aggressive")
            }) =>
        {
            grave("deletes what git would need to get commits back")
        }
        "filter-branch" | "filter-repo" => grave("rewrites every commit"),
        "update-ref" if short('d') => risky("deletes a branch or tag"),
        "worktree" if has(&["remove"]) && (short('f') || has(&["--force"])) => {
            risky("throws away changes that are not committed")
        }
        "submodule" if has(&["deinit"]) && (short('f') || has(&["--force", "--all"])) => {
            risky("throws away changes that are not committed")
        }
        "config" if sub.args.iter().any(|arg| is_executed(&arg.text)) && operands(&sub).count() > 1 => {
            risky("changes which programs git runs")
        }
        _ => None,
    }
}

/// The command of git and its arguments, behind the options of git itself.
fn subcommand(args: &[Word]) -> Option<(&str, &[Word])> {
    let mut at = 0;
    loop {
        let text = args.get(at)?.text.as_str();
        if VALUED.contains(&text) {
            at += 2;
        } else if text.starts_with('-') {
            at += 1;
        } else {
            return Some((text, args.get(at + 1..)?));
        }
    }
}

fn push(call: &Call, sub: &Call) -> Option<Finding> {
    if has_short(sub, 'n') || super::has(sub, &["--dry-run"]) {
        return None;
    }
    let forced = has_short(sub, 'f') || super::has(sub, &["--force"]);
    let lease = sub.args.iter().any(|arg| arg.text.starts_with("--force-with-lease"));
    let refs: Vec<&str> = operands(sub).skip(1).map(|word| word.text.as_str()).collect();
    let plus = refs.iter().any(|name| name.starts_with('+'));
    let shared = refs.iter().any(|name| SHARED.contains(&name.rsplit([':', '/', '+']).next().unwrap_or_default()));
    if super::has(sub, &["--mirror", "--prune"]) {
        return Some(finding(Kind::Git, true, call, "deletes what the remote has and this repository has not"));
    }
    let deletes =
        has_short(sub, 'd') || super::has(sub, &["--delete"]) || refs.iter().any(|name| name.starts_with(':'));
    if deletes {
        return Some(finding(Kind::Git, shared, call, "deletes a branch or tag of the remote"));
    }
    let shared = shared || super::has(sub, &["--all"]);
    if forced || plus || lease {
        let what = "replaces commits that others may have";
        return Some(finding(Kind::Git, shared && !lease, call, what));
    }
    None
}

/// Settings whose value is run.
fn is_executed(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    matches!(
        name.as_str(),
        "core.hookspath" | "core.fsmonitor" | "core.sshcommand" | "core.pager" | "core.editor" | "credential.helper"
    ) || name.starts_with("alias.")
        || name.starts_with("filter.")
}
