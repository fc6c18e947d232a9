//! Programs that run another program, which is given in their arguments.

mod container;

use crate::word::Word;

/// A program that the arguments of another one name.
pub(crate) enum Runs<'w> {
    /// A program and its arguments. `more`: others are added, which are not in the text. `root`: as another user.
    Words { words: &'w [Word], more: bool, root: bool },
    /// A text for a shell.
    Text(String),
}

struct Runner {
    names: &'static [&'static str],
    /// Short options that take the next word, unless their value is behind the letter.
    valued: &'static str,
    /// Long options that take the next word.
    long: &'static [&'static str],
    /// Words before the program.
    skip: usize,
}

const fn runner(names: &'static [&'static str], valued: &'static str) -> Runner {
    Runner { names, valued, long: &[], skip: 0 }
}

const fn after(names: &'static [&'static str], valued: &'static str, skip: usize) -> Runner {
    Runner { names, valued, long: &[], skip }
}

static RUNNERS: &[Runner] = &[
    Runner {
        names: &["sudo"],
        valued: "ughpCrtTUDRa",
        long: &["user", "group", "host", "prompt", "chdir", "chroot", "role", "type", "other-user", "close-from"],
        skip: 0,
    },
    runner(&["doas"], "uC"),
    Runner { names: &["pkexec"], valued: "", long: &["user"], skip: 0 },
    Runner { names: &["env"], valued: "uC", long: &["unset", "chdir"], skip: 0 },
    runner(
        &["nohup", "setsid", "builtin", "command", "busybox", "toybox", "chronic", "unbuffer", "unshare", "noglob"],
        "",
    ),
    runner(&["time"], "fo"),
    Runner { names: &["timeout"], valued: "ks", long: &["kill-after", "signal"], skip: 1 },
    Runner { names: &["nice"], valued: "n", long: &["adjustment"], skip: 0 },
    runner(&["ionice"], "cnpPu"),
    after(&["chrt", "taskset", "chroot"], "", 1),
    runner(&["stdbuf"], "ioe"),
    runner(&["exec"], "a"),
    runner(&["nsenter"], "tSG"),
    after(&["flock"], "wE", 1),
    runner(&["caffeinate"], "tw"),
    runner(&["strace", "ltrace"], "eopsSPuEaI"),
    runner(&["systemd-run"], "upMHE"),
    Runner { names: &["wsl"], valued: "du", long: &["distribution", "user", "cd", "shell-type"], skip: 0 },
    Runner {
        names: &["xargs"],
        valued: "IndLPEsa",
        long: &["max-args", "replace", "delimiter", "max-lines", "max-procs", "arg-file", "max-chars"],
        skip: 0,
    },
    Runner { names: &["parallel"], valued: "jNna", long: &["jobs", "max-args", "arg-file"], skip: 0 },
    runner(&["npx", "bunx", "pnpx", "uvx"], "pw"),
];

/// Programs of which the first word is a subcommand that runs the rest.
const SUBCOMMANDS: [(&str, &str, usize); 10] = [
    ("poetry", "run", 0),
    ("uv", "run", 0),
    ("pipenv", "run", 0),
    ("bundle", "exec", 0),
    ("mise", "exec", 0),
    ("direnv", "exec", 1),
    ("pnpm", "exec", 0),
    ("yarn", "exec", 0),
    ("npm", "exec", 0),
    ("conda", "run", 0),
];

/// Settings of git whose values it runs.
const GIT_COMMANDS: [&str; 8] = [
    "core.pager",
    "core.editor",
    "core.sshcommand",
    "core.fsmonitor",
    "credential.helper",
    "diff.external",
    "sequence.editor",
    "gpg.program",
];

const AS_ANOTHER_USER: [&str; 3] = ["sudo", "doas", "pkexec"];

/// The programs that a program runs. Empty: its arguments name none.
pub(crate) fn runs<'w>(program: &str, args: &'w [Word]) -> Vec<Runs<'w>> {
    match program {
        "find" => return of_find(args),
        "fd" | "fdfind" => return after_option(args, &["-x", "-X", "--exec", "--exec-batch"], true),
        "git" => return of_git(args),
        "ssh" => return of_ssh(args),
        "docker" | "podman" | "nerdctl" | "docker-compose" | "podman-compose" | "kubectl" | "oc" => {
            return container::runs(args);
        }
        "watch" => return text(program_words(args, "n", &["interval"], 0)),
        "su" | "runuser" | "script" | "flock" | "nix" | "nix-shell" | "cmd" | "powershell" | "pwsh" => {
            let found = of_string(program, args);
            if !found.is_empty() {
                return found;
            }
        }
        "command" if args.first().is_some_and(|arg| matches!(arg.text.as_str(), "-v" | "-V")) => return Vec::new(),
        "env" => {
            let split =
                args.iter().position(|arg| arg.text.starts_with("-S") || arg.text.starts_with("--split-string"));
            if let Some(at) = split {
                let rest = args.get(at..).unwrap_or_default();
                let first = rest.first().map_or("", |arg| {
                    arg.text.trim_start_matches("--split-string").trim_start_matches("-S").trim_start_matches('=')
                });
                let rest = rest.get(1..).unwrap_or_default().iter().map(|arg| arg.text.as_str());
                return vec![Runs::Text(std::iter::once(first).chain(rest).collect::<Vec<_>>().join(" "))];
            }
        }
        _ => {}
    }
    if let Some((_, _, skip)) =
        SUBCOMMANDS.iter().find(|(name, sub, _)| *name == program && args.first().is_some_and(|arg| arg.text == *sub))
    {
        let words = program_words(args.get(1..).unwrap_or_default(), "", &[], *skip);
        return words.map(|words| Runs::Words { words, more: false, root: false }).into_iter().collect();
    }
    let Some(runner) = RUNNERS.iter().find(|runner| runner.names.contains(&program)) else { return Vec::new() };
    let words = program_words(args, runner.valued, runner.long, runner.skip);
    let more = matches!(program, "xargs" | "parallel");
    let root = AS_ANOTHER_USER.contains(&program);
    words.map(|words| Runs::Words { words, more, root }).into_iter().collect()
}

/// The words from the program on: behind options, assignments and as many words as come first.
fn program_words<'w>(args: &'w [Word], valued: &str, long: &[&str], mut skip: usize) -> Option<&'w [Word]> {
    let mut at = 0;
    while let Some(arg) = args.get(at) {
        let text = arg.text.as_str();
        if text == "--" {
            at += 1 + skip;
            break;
        }
        if let Some(name) = text.strip_prefix("--") {
            at += if long.contains(&name) { 2 } else { 1 };
        } else if let Some(letters) = text.strip_prefix('-').filter(|letters| !letters.is_empty()) {
            let value = letters.char_indices().find(|(_, letter)| valued.contains(*letter));
            at += if value.is_some_and(|(index, letter)| index + letter.len_utf8() == letters.len()) { 2 } else { 1 };
        } else if text == "-" || is_assignment(text) {
            at += 1;
        } else if skip > 0 {
            skip -= 1;
            at += 1;
        } else {
            break;
        }
    }
    args.get(at..).filter(|words| !words.is_empty())
}

/// `NAME=value`, as `env` and `sudo` take it.
fn is_assignment(text: &str) -> bool {
    let name = text.split_once('=').map_or("", |(name, _)| name);
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn text<'w>(words: Option<&[Word]>) -> Vec<Runs<'w>> {
    words.map(|words| Runs::Text(joined(words))).into_iter().collect()
}

/// The words as one text, as `eval` and `ssh` make it.
pub(crate) fn joined(words: &[Word]) -> String {
    words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
}

fn after_option<'w>(args: &'w [Word], options: &[&str], more: bool) -> Vec<Runs<'w>> {
    let at = args.iter().position(|arg| options.contains(&arg.text.as_str()));
    let words = at.and_then(|at| args.get(at + 1..)).filter(|words| !words.is_empty());
    words.map(|words| Runs::Words { words, more, root: false }).into_iter().collect()
}

fn of_find(args: &[Word]) -> Vec<Runs<'_>> {
    let mut found = Vec::new();
    let mut rest = args;
    while let Some(at) =
        rest.iter().position(|arg| matches!(arg.text.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir"))
    {
        let words = rest.get(at + 1..).unwrap_or_default();
        let end = words.iter().position(|word| matches!(word.text.as_str(), ";" | "+")).unwrap_or(words.len());
        let (command, after) = words.split_at_checked(end).unwrap_or((words, &[]));
        if !command.is_empty() {
            found.push(Runs::Words { words: command, more: true, root: false });
        }
        rest = after;
    }
    found
}

/// `git -c alias.x='!rm …'`, `git submodule foreach`, `git rebase --exec`, `git bisect run`.
fn of_git(args: &[Word]) -> Vec<Runs<'_>> {
    let mut found = Vec::new();
    for (at, arg) in args.iter().enumerate() {
        let rest = args.get(at + 1..).unwrap_or_default();
        let value = || rest.first().map(|word| word.text.clone());
        match arg.text.as_str() {
            "-c" | "--config" => {
                let value = value().unwrap_or_default();
                if let Some((name, command)) = value.split_once('=') {
                    let name = name.to_ascii_lowercase();
                    let runs = command.starts_with('!') || GIT_COMMANDS.contains(&name.as_str());
                    found.extend(runs.then(|| Runs::Text(command.trim_start_matches('!').to_owned())));
                }
            }
            text if text.starts_with('!') && args.iter().any(|arg| arg.text == "config") => {
                found.push(Runs::Text(text.trim_start_matches('!').to_owned()));
            }
            "foreach" => {
                let words = rest.iter().skip_while(|word| word.text.starts_with('-')).cloned().collect::<Vec<_>>();
                found.push(Runs::Text(joined(&words)));
            }
            "-x" | "--exec" if args.iter().any(|arg| arg.text == "rebase") => found.extend(value().map(Runs::Text)),
            "run" if args.iter().any(|arg| arg.text == "bisect") && !rest.is_empty() => {
                found.push(Runs::Words { words: rest, more: false, root: false });
            }
            text => found.extend(text.strip_prefix("--exec=").map(|command| Runs::Text(command.to_owned()))),
        }
    }
    found
}

fn of_ssh(args: &[Word]) -> Vec<Runs<'_>> {
    text(program_words(args, "bcDEeFIiJLlmOopQRSWw", &[], 1))
}

/// Programs that take a command in a string behind an option, or all words behind it.
fn of_string<'w>(program: &str, args: &'w [Word]) -> Vec<Runs<'w>> {
    let options: &[&str] = match program {
        "nix-shell" => &["--run", "--command"],
        "cmd" => &["/c", "/C", "/k", "/K"],
        "powershell" | "pwsh" => &["-c", "-C", "-command", "-Command", "/c", "/Command"],
        _ => &["-c", "--command"],
    };
    let Some(at) = args.iter().position(|arg| options.contains(&arg.text.as_str())) else { return Vec::new() };
    let rest = args.get(at + 1..).unwrap_or_default();
    let all = matches!(program, "cmd" | "powershell" | "pwsh" | "nix");
    if matches!(program, "cmd" | "powershell" | "pwsh") {
        // A backslash separates folders there.
        return vec![Runs::Text(joined(rest).replace('\\', "/"))];
    }
    text(Some(if all { rest } else { rest.get(..1).unwrap_or_default() }).filter(|words| !words.is_empty()))
}
