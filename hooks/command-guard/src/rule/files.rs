//! Deleting, overwriting and moving away files and folders.

use hookbox_shell::{Call, Input, UNKNOWN, Word};

use super::{Finding, Kind, finding, has, has_long, has_short, operands};
use crate::config::Config;
use crate::target::{Reach, reach_in};

/// Files that are required to log in or to start the system.
const VITAL: [&str; 7] =
    ["/etc/passwd", "/etc/shadow", "/etc/group", "/etc/sudoers", "/etc/fstab", "/etc/ld.so.preload", "/etc/pam.d"];

/// Ends of names of files that tools leave behind.
const JUNK: [&str; 16] = [
    ".pyc",
    ".pyo",
    ".o",
    ".obj",
    ".log",
    ".tmp",
    ".bak",
    ".swp",
    ".orig",
    ".rej",
    ".class",
    ".DS_Store",
    ".tsbuildinfo",
    "~",
    ".map",
    ".gcda",
];

pub(super) fn check(call: &Call, config: &Config) -> Vec<Finding> {
    let mut found: Vec<Finding> = overwrites(call).into_iter().collect();
    let goes = |word: &Word| reach_in(word, &call.folder, &config.disposable);
    match call.program.as_str() {
        "rm" | "srm" | "unlink" => found.extend(rm(call, is_recursive(call), goes)),
        // PowerShell and cmd; their options may be shortened.
        "remove-item" | "ri" | "del" | "erase" | "rd" | "rmdir" => {
            found.extend(rm(call, is_recursive_on_windows(call), goes));
        }
        "rimraf" | "trash" | "trash-put" | "del-cli" => found.extend(rm(call, true, goes)),
        "shred" | "wipe" => {
            found.push(finding(Kind::Files, worst(call, goes) >= Reach::Outside, call, "destroys what is in files"));
        }
        "find" => found.extend(find(call, config, goes)),
        "mv" | "move-item" => found.extend(mv(call, goes)),
        "chmod" | "chown" | "chgrp" | "setfacl" | "chattr" => found.extend(modes(call, goes)),
        "rsync" if call.args.iter().any(|arg| arg.text.starts_with("--delete") || arg.text == "--del") => {
            let reached = operands(call).last().map_or(Reach::Unknown, goes);
            if reached >= Reach::Unknown {
                found.push(finding(
                    Kind::Files,
                    reached == Reach::Critical,
                    call,
                    "deletes what the source does not have",
                ));
            }
        }
        _ => {}
    }
    found
}

/// `-r`, `-R`, `--recursive`.
fn is_recursive(call: &Call) -> bool {
    has_short(call, 'r') || has_short(call, 'R') || has_long(call, "recursive", 1)
}

/// `-Recurse`, `/s`.
fn is_recursive_on_windows(call: &Call) -> bool {
    call.args.iter().any(|arg| {
        let text = arg.text.to_ascii_lowercase();
        text == "/s" || text.len() > 1 && "-recurse".starts_with(&text)
    })
}

fn worst(call: &Call, goes: impl Fn(&Word) -> Reach) -> Reach {
    operands(call).map(goes).max().unwrap_or(Reach::Disposable)
}

fn rm(call: &Call, recursive: bool, goes: impl Fn(&Word) -> Reach) -> Option<Finding> {
    let grave = |what: &str| Some(finding(Kind::Files, true, call, what));
    let risky = |what: &str| Some(finding(Kind::Files, false, call, what));
    if has_long(call, "no-preserve-root", 4) {
        return grave("deletes / and everything in it");
    }
    let word = operands(call).filter(|word| word.text != "/s" && word.text != "/q").max_by_key(|word| goes(word));
    let reached = word.map_or(Reach::Disposable, &goes);
    // `$X/` and `$X/*` are / where $X is empty.
    let root = word
        .is_some_and(|word| word.text.trim_end_matches(['/', '*']) == UNKNOWN.to_string() && word.text.contains('/'));
    let piped = call.input == Input::Pipe && word.is_none() && call.program != "rm";
    // The files that `find` passes on are checked there.
    if call.more_args && operands(call).all(|word| word.text == "{}") && operands(call).next().is_some() {
        return None;
    }
    if !recursive && reached < Reach::Whole || reached == Reach::Disposable && !call.more_args && !piped {
        return None;
    }
    match (reached, recursive) {
        (Reach::Critical, true) => {
            let what = word.map_or("", |word| word.text.as_str()).trim_end_matches("/*");
            grave(&format!("deletes {} and everything in it", if what.is_empty() { "/" } else { what }))
        }
        (Reach::Critical, false) => grave("deletes a part of the system"),
        (Reach::Whole, true) => grave("deletes the project, or its history"),
        (Reach::Whole, false) => risky("deletes many files of the project"),
        (Reach::Outside, _) => risky("deletes a folder outside of the project"),
        (Reach::Unknown, _) if root => grave("deletes / and everything in it where the variable is empty"),
        (Reach::Unknown, _) => risky("deletes a folder whose name is known only when it runs"),
        (Reach::Project, _) => risky("deletes a folder and everything in it"),
        (Reach::Disposable, _) => risky("deletes folders that are found only when it runs"),
    }
}

fn find(call: &Call, config: &Config, goes: impl Fn(&Word) -> Reach) -> Option<Finding> {
    let modes = has(call, &["chmod", "chown", "chgrp"]);
    if !modes && !has(call, &["-delete", "rm", "/bin/rm", "unlink", "shred"]) {
        return None;
    }
    let roots = call.args.iter().take_while(|arg| !arg.text.starts_with(['-', '(', '!']));
    let reached = roots.map(goes).max().unwrap_or(Reach::Whole);
    let filters = ["-path", "-ipath", "-wholename", "-regex", "-iregex", "-empty", "-mtime", "-mmin"];
    let names: Vec<&str> = values(call, &["-name", "-iname"]).collect();
    // A pattern of everything chooses nothing.
    let filtered = has(call, &filters) || names.iter().any(|name| !matches!(*name, "*" | ".*" | "*.*"));
    let junk = |name: &&str| {
        config.disposable.iter().any(|disposable| disposable == name) || JUNK.iter().any(|end| name.ends_with(end))
    };
    let temporary =
        call.args.first().is_some_and(|root| root.text.starts_with("/tmp") || root.text.starts_with("/var/tmp"));
    match reached {
        Reach::Critical if modes => {
            let grave = opens(call) && !filtered;
            Some(finding(Kind::Files, grave, call, "changes who may use the system's files"))
        }
        _ if modes => None,
        Reach::Disposable => None,
        Reach::Whole | Reach::Project if !names.is_empty() && names.iter().all(junk) || has(call, &["-empty"]) => None,
        Reach::Outside if temporary && filtered => None,
        Reach::Critical => Some(finding(Kind::Files, true, call, "deletes everything that it finds")),
        _ => Some(finding(Kind::Files, reached == Reach::Whole && !filtered, call, "deletes everything that it finds")),
    }
}

/// The words behind these.
fn values<'c>(call: &'c Call, options: &'static [&'static str]) -> impl Iterator<Item = &'c str> {
    call.args.windows(2).filter_map(|pair| match pair {
        [option, value] if options.contains(&option.text.as_str()) => Some(value.text.as_str()),
        _ => None,
    })
}

fn mv(call: &Call, goes: impl Fn(&Word) -> Reach) -> Option<Finding> {
    let words: Vec<&Word> = operands(call).collect();
    let (target, sources) = words.split_last()?;
    if target.text == "/dev/null" {
        return Some(finding(Kind::Files, true, call, "throws files away"));
    }
    let moved = sources.iter().any(|source| goes(source) == Reach::Critical);
    moved.then(|| finding(Kind::Files, true, call, "moves a part of the system away"))
}

/// Modes that allow a file to everybody or to nobody.
fn opens(call: &Call) -> bool {
    has(call, &["777", "0777", "a+rwx", "ugo+rwx", "000", "0", "a-rwx", "+rwx", "a=rwx"])
}

fn modes(call: &Call, goes: impl Fn(&Word) -> Reach) -> Option<Finding> {
    let recursive = has_short(call, 'R') || has_long(call, "recursive", 3);
    let open = call.program == "chmod" && opens(call);
    // The first is a mode or an owner, unless an option says that.
    let first = usize::from(operands(call).count() > 1);
    let targets = || operands(call).skip(first).map(&goes);
    if targets().any(|reached| reached == Reach::Critical) && (recursive || open) {
        return Some(finding(Kind::Files, true, call, "changes who may use the system's files"));
    }
    let wide = targets().any(|reached| reached >= Reach::Unknown);
    (recursive && (open || wide)).then(|| finding(Kind::Files, false, call, "changes who may use many files"))
}

/// Files of the system that are written over.
fn overwrites(call: &Call) -> Option<Finding> {
    let dd =
        call.args.iter().filter(|_| call.program == "dd").filter_map(|arg| arg.text.strip_prefix("of=")).map(Word::new);
    let dd: Vec<Word> = dd.collect();
    let last = matches!(call.program.as_str(), "cp" | "mv" | "install" | "ln").then(|| operands(call).last()).flatten();
    let all = matches!(call.program.as_str(), "tee" | "truncate").then(|| operands(call)).into_iter().flatten();
    let in_place =
        matches!(call.program.as_str(), "sed" | "perl") && (has_short(call, 'i') || has_long(call, "in-place", 3));
    let edited = operands(call).skip(1).filter(|_| in_place);
    let written = call.writes.iter().chain(last).chain(all).chain(&dd).chain(edited);
    let path = written.map(|word| plain(&word.text)).find(|path| is_systems(path))?;
    let grave =
        VITAL.iter().any(|vital| path.starts_with(vital)) || path.starts_with("/proc/") || path.starts_with("/sys/");
    Some(finding(Kind::Files, grave, call, &format!("writes to {path}, which is the system's")))
}

fn is_systems(path: &str) -> bool {
    [
        "/etc/",
        "/usr/bin/",
        "/usr/sbin/",
        "/usr/lib/",
        "/bin/",
        "/sbin/",
        "/lib/",
        "/lib64/",
        "/boot/",
        "/proc/sys",
        "/sys/",
    ]
    .iter()
    .any(|start| path.starts_with(start) || path == start.trim_end_matches('/'))
}

/// `/etc/../etc//passwd` is `/etc/passwd`.
pub(super) fn plain(path: &str) -> String {
    let mut parts = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    let root = if path.starts_with('/') { "/" } else { "" };
    format!("{root}{}", parts.join("/"))
}
