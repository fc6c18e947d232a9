//! The files that a command uses.

use hookbox_shell::{Analysis, Call, Input, Word, analyse, strings};

use crate::access::{Access, Kind, patched};
use crate::place::{Place, place};

/// Programs that look at names, sizes and modes, or at nothing of a file.
const NAMES_ONLY: [&str; 33] = [
    "ls",
    "stat",
    "test",
    "[",
    "[[",
    "echo",
    "printf",
    "cd",
    "pushd",
    "pwd",
    "mkdir",
    "rmdir",
    "which",
    "basename",
    "dirname",
    "realpath",
    "readlink",
    "tree",
    "du",
    "df",
    "export",
    "true",
    "false",
    "chmod",
    "chown",
    "ssh-keygen",
    "ssh-add",
    "kill",
    "unset",
    "alias",
    "man",
    "sleep",
    "exit",
];
/// Programs that write, or take away, what they are given.
const WRITERS: [&str; 12] =
    ["tee", "truncate", "touch", "rm", "unlink", "shred", "patch", "sponge", "rd", "del", "remove-item", "set-content"];
/// Programs that read all but the last, which they write.
const COPIERS: [&str; 8] = ["cp", "mv", "install", "ln", "rsync", "scp", "copy-item", "move-item"];
/// Programs whose first argument says what to do and is no file.
const WITH_PROGRAM: [&str; 13] =
    ["grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack", "sed", "awk", "gawk", "jq", "yq", "perl"];
/// Programs that open files to be changed.
const EDITORS: [&str; 9] = ["vi", "vim", "nvim", "nano", "emacs", "ed", "ex", "code", "pico"];
/// Subcommands of git that look at names only.
const GIT_NAMES: [&str; 7] = ["check-ignore", "status", "ls-files", "rm", "clean", "config", "update-index"];
/// Options whose value is used and not shown.
const USED: [&str; 8] = [
    "--env-file",
    "--identity",
    "--identity-file",
    "--cacert",
    "--kubeconfig",
    "--exclude",
    "--exclude-dir",
    "--exclude-from",
];
/// Options of openssl that name a key to work with.
const WORKS_WITH: [&str; 5] = ["-key", "-inkey", "-CAkey", "-signkey", "-sign"];
/// Words in code that change files.
const CHANGES: [&str; 9] = ["write", "'w", "\"w", "'a", "\"a", "unlink", "remove", "rename", "rmSync"];
/// Interpreters whose arguments may be code.
const INTERPRETERS: [&str; 9] = ["python", "python2", "python3", "node", "ruby", "perl", "php", "deno", "bun"];

/// Every file that a command names.
pub(crate) fn accesses(text: &str, folder: Option<&Place>) -> Vec<Access> {
    let Analysis { calls, .. } = analyse(text);
    let mut folder = folder.cloned();
    let mut found = Vec::new();
    // `xargs` may pass on the output of `find`.
    let handed_on = calls.iter().any(|call| call.more_args);
    for call in &calls {
        of_call(call, folder.as_ref(), handed_on, &mut found);
        if matches!(call.program.as_str(), "cd" | "pushd")
            && let Some(target) = call.args.iter().find(|arg| !arg.text.starts_with('-'))
        {
            folder = Some(place(&target.text, folder.as_ref()));
        }
    }
    found
}

fn of_call(call: &Call, folder: Option<&Place>, handed_on: bool, found: &mut Vec<Access>) {
    let mut use_as = |kind: Kind, path: &str| {
        if !path.is_empty() {
            found.push(Access::new(kind, path, folder, true));
        }
    };
    call.writes.iter().for_each(|word| use_as(Kind::Write, &word.text));
    call.reads.iter().for_each(|word| use_as(Kind::Read, &word.text));
    let program = call.program.as_str();
    if INTERPRETERS.contains(&program) {
        in_code(call, &mut use_as);
    }
    if program == "apply_patch" || program == "applypatch" {
        let texts = call.args.iter().map(|arg| arg.text.as_str());
        let given = if let Input::Text(text) = &call.input { Some(text.as_str()) } else { None };
        found.extend(texts.chain(given).flat_map(|patch| patched(patch, folder)));
        return;
    }
    let shows_key = program == "ssh-keygen" && call.args.iter().any(|arg| is_short(&arg.text, 'y'));
    if NAMES_ONLY.contains(&program) && !shows_key {
        return;
    }
    let operands = operands(call);
    if let Input::Text(text) = &call.input
        && call.more_args
    {
        text.split_whitespace().for_each(|path| use_as(Kind::Read, path));
    }
    match program {
        "find" | "fd" | "fdfind" => {
            // With `-exec`, what is found is used.
            if handed_on {
                for word in &operands {
                    use_as(Kind::Read, &word.text);
                }
            }
        }
        "git" => git(call, &operands, &mut use_as),
        "dd" => {
            for arg in &call.args {
                if let Some(path) = arg.text.strip_prefix("of=") {
                    use_as(Kind::Write, path);
                } else if let Some(path) = arg.text.strip_prefix("if=") {
                    use_as(Kind::Read, path);
                }
            }
        }
        "curl" | "wget" | "http" => client(call, &mut use_as),
        "gpg" | "gpg2" if call.args.iter().any(|arg| arg.text.starts_with("--export-secret")) => {
            use_as(Kind::Read, "~/.gnupg/private-keys-v1.d");
        }
        _ if WRITERS.contains(&program) => operands.iter().for_each(|word| use_as(Kind::Write, &word.text)),
        _ if COPIERS.contains(&program) => {
            if let Some((last, sources)) = operands.split_last() {
                use_as(Kind::Write, &last.text);
                let taken = if program == "mv" { Kind::Write } else { Kind::Read };
                for word in sources {
                    use_as(taken, &word.text);
                }
            }
        }
        _ if EDITORS.contains(&program) => operands.iter().for_each(|word| use_as(Kind::Write, &word.text)),
        _ if WITH_PROGRAM.contains(&program) => with_program(call, &operands, &mut use_as),
        _ => {
            let inside = call.args.windows(2).find_map(|pair| match pair {
                [option, folder] if program == "tar" && matches!(option.text.as_str(), "-C" | "--directory") => {
                    Some(&folder.text)
                }
                _ => None,
            });
            for word in &operands {
                use_as(Kind::Read, &word.text);
                if let Some(folder) = inside {
                    use_as(Kind::Read, &format!("{folder}/{}", word.text));
                }
            }
            let valued = call.args.iter().filter_map(|arg| arg.text.strip_prefix("--")?.split_once('='));
            let shown = valued.filter(|(name, _)| !USED.contains(&format!("--{name}").as_str()));
            shown.for_each(|(_, path)| use_as(Kind::Read, path.trim_start_matches('@')));
        }
    }
}

/// Files of a program whose first argument says what to do: `grep`, `sed`, `perl`.
fn with_program(call: &Call, operands: &[&Word], use_as: &mut impl FnMut(Kind, &str)) {
    let program = call.program.as_str();
    let given = call.args.iter().any(|arg| matches!(arg.text.as_str(), "-e" | "-f" | "--regexp" | "--file"));
    let has = |letter: char| call.args.iter().any(|arg| is_short(&arg.text, letter));
    let kind = match program {
        "sed" | "perl" if has('i') => Kind::Write,
        "rg" | "ag" | "ack" => Kind::Search,
        _ if has('r') || has('R') => Kind::Search,
        _ => Kind::Read,
    };
    // `perl -pe1 FILE` has its code behind the letter.
    let code = |letters: &str| letters.find('e').is_some_and(|at| at + 1 < letters.len());
    let given = given || program == "perl" && call.args.iter().any(|arg| arg.text.strip_prefix('-').is_some_and(code));
    operands.iter().skip(usize::from(!given)).for_each(|word| use_as(kind, &word.text));
    // `rg -g '.env*' KEY`
    for pair in call.args.windows(2) {
        if let [option, value] = pair
            && matches!(option.text.as_str(), "-g" | "--glob" | "--include" | "--iglob")
        {
            use_as(Kind::Read, &value.text);
        }
    }
    let globs = ["--include=", "--glob=", "--iglob="];
    for arg in &call.args {
        globs.iter().filter_map(|start| arg.text.strip_prefix(start)).for_each(|glob| use_as(Kind::Read, glob));
    }
}

/// Files that the strings of code name.
fn in_code(call: &Call, use_as: &mut impl FnMut(Kind, &str)) {
    let code = call.args.iter().map(|arg| arg.text.as_str());
    let given = if let Input::Text(text) = &call.input { Some(text.as_str()) } else { None };
    for code in code.chain(given) {
        let changes = CHANGES.iter().any(|word| code.contains(word));
        for text in strings(code) {
            // A command in a string has its files behind blanks.
            for path in text.split_whitespace().chain([text.as_str()]) {
                use_as(Kind::Read, path);
                if changes {
                    use_as(Kind::Write, path);
                }
            }
        }
    }
}

/// Files that git shows or puts into commits.
fn git(call: &Call, operands: &[&Word], use_as: &mut impl FnMut(Kind, &str)) {
    if !operands.first().is_some_and(|sub| GIT_NAMES.contains(&sub.text.as_str())) {
        let messages = ["-m", "--message", "-am", "--grep", "--author", "-S", "-G"];
        let pairs = || call.args.windows(2);
        let message = |word: &Word| {
            pairs().any(|pair| matches!(pair, [a, b] if b == word && messages.contains(&a.text.as_str())))
        };
        for word in operands.iter().skip(1).filter(|word| !message(word)) {
            // `HEAD:.env`
            use_as(Kind::Read, word.text.rsplit(':').next().unwrap_or_default());
        }
    }
}

/// Files that a client of the network sends and keeps.
fn client(call: &Call, use_as: &mut impl FnMut(Kind, &str)) {
    for (at, arg) in call.args.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| call.args.get(at)).map_or("", |before| before.text.as_str());
        match before {
            "-o" | "-O" | "--output" | "--output-document" => use_as(Kind::Write, &arg.text),
            "-T" | "--upload-file" | "-K" | "--config" | "--post-file" | "--netrc-file" => {
                use_as(Kind::Read, &arg.text);
            }
            _ if arg.text.starts_with("file://") => use_as(Kind::Read, &arg.text),
            _ => {}
        }
        let sent = ["--post-file=", "--body-file=", "--upload-file=", "--data=@", "--data-binary=@", "--netrc-file="];
        sent.iter().filter_map(|start| arg.text.strip_prefix(start)).for_each(|path| use_as(Kind::Read, path));
        // `-d @file`, `-F name=@file`, `-F name=<file`
        let data = before.starts_with("--data") || before.starts_with("--form") || matches!(before, "-d" | "-F");
        if data && let Some((_, path)) = arg.text.split_once('@').or_else(|| arg.text.split_once("=<")) {
            use_as(Kind::Read, path.split(';').next().unwrap_or_default());
        }
    }
}

fn is_short(option: &str, letter: char) -> bool {
    option.strip_prefix('-').is_some_and(|letters| !letters.starts_with('-') && letters.contains(letter))
}

/// The arguments that are no options, without the values of those that only use a file.
fn operands(call: &Call) -> Vec<&Word> {
    let program = call.program.as_str();
    let keys = matches!(program, "ssh" | "scp" | "sftp");
    let mut found = Vec::new();
    let mut skip = false;
    for arg in &call.args {
        let text = arg.text.as_str();
        let skipped = std::mem::take(&mut skip);
        let works = program == "openssl" && WORKS_WITH.contains(&text) || program == "zip" && text == "-x";
        if USED.contains(&text) || works || keys && text == "-i" {
            skip = true;
        } else if !skipped && (!text.starts_with('-') || text == "-") {
            found.push(arg);
        }
    }
    found
}
