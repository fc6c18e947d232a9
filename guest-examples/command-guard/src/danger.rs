//! Detection of dangerous commands.

use crate::shell::{self, Command};

/// Programs that run another program given in their arguments.
const RUNNERS: [&str; 17] = [
    "sudo", "doas", "env", "nohup", "time", "timeout", "nice", "ionice", "exec", "command", "builtin", "busybox",
    "setsid", "stdbuf", "xargs", "find", "watch",
];

/// Programs that read a command from a string.
const SHELLS: [&str; 8] = ["sh", "bash", "zsh", "dash", "ash", "ksh", "fish", "eval"];

/// Words that may stand before a command.
const KEYWORDS: [&str; 10] = ["!", "{", "if", "then", "elif", "else", "while", "until", "do", "coproc"];

/// Devices that discard or display what is written to them.
const HARMLESS_DEVICES: [&str; 6] = ["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/zero", "/dev/full"];

/// Maximum nesting of commands in strings (`sh -c "sh -c …"`).
const DEPTH: usize = 8;

/// Returns the first dangerous command of a command line.
pub(crate) fn find(text: &str) -> Option<String> {
    find_at(text, DEPTH)
}

fn find_at(text: &str, depth: usize) -> Option<String> {
    let Some(depth) = depth.checked_sub(1) else { return Some("a command inside so many others".to_owned()) };
    match shell::parse(text) {
        Ok(commands) => commands.iter().find_map(|command| in_command(command, depth)),
        Err(why) => Some(why.to_owned()),
    }
}

fn in_command(command: &Command, depth: usize) -> Option<String> {
    let overwritten = command.targets.iter().map(|target| resolve(target)).find(|target| is_device(target));
    if let Some(device) = overwritten {
        return Some(format!("writing to `{device}`"));
    }
    let start = command.words.iter().position(|word| !KEYWORDS.contains(&word.as_str()) && !is_assignment(word))?;
    in_words(command.words.get(start..)?, depth)
}

fn in_words(words: &[String], depth: usize) -> Option<String> {
    let (program, args) = words.split_first()?;
    // `/bin/rm` is `rm`.
    let program = program.rsplit('/').next()?;
    match program {
        "rm" if is_recursive_and_forced(args) => Some("`rm -rf`".to_owned()),
        "dd" if args.iter().any(|arg| arg.starts_with("if=")) => Some("`dd if=`".to_owned()),
        "dd" | "tee" => {
            let paths = args.iter().map(|arg| resolve(arg.strip_prefix("of=").unwrap_or(arg)));
            paths.into_iter().find(|path| is_device(path)).map(|device| format!("writing to `{device}`"))
        }
        _ if program == "mkfs" || program.starts_with("mkfs.") => Some("`mkfs`".to_owned()),
        _ if SHELLS.contains(&program) => args.iter().find_map(|arg| find_at(arg, depth)),
        // The runner's options determine which argument is the program, so try every argument.
        _ if RUNNERS.contains(&program) => {
            (0..args.len()).filter_map(|at| args.get(at..)).find_map(|rest| in_words_of_runner(rest, depth))
        }
        _ => None,
    }
}

/// As [`in_words`], but skips a runner inside a runner: the outer one already tries all arguments.
fn in_words_of_runner(words: &[String], depth: usize) -> Option<String> {
    let program = words.first()?.rsplit('/').next()?;
    if RUNNERS.contains(&program) { None } else { in_words(words, depth) }
}

/// Detects `-rf`, `-r -f`, `-fR`, `--recursive --force`, and the abbreviations that GNU accepts.
fn is_recursive_and_forced(args: &[String]) -> bool {
    let mut recursive = false;
    let mut forced = false;
    for arg in args.iter().take_while(|arg| *arg != "--") {
        if let Some(long) = arg.strip_prefix("--") {
            recursive |= "recursive".starts_with(long);
            forced |= "force".starts_with(long);
        } else if let Some(short) = arg.strip_prefix('-') {
            recursive |= short.contains(['r', 'R']);
            forced |= short.contains('f');
        }
    }
    recursive && forced
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

fn is_device(path: &str) -> bool {
    path.starts_with("/dev/") && !path.starts_with("/dev/fd/") && !HARMLESS_DEVICES.contains(&path)
}

/// Normalizes a path: `/dev/./sda` and `/tmp/../dev//sda` become `/dev/sda`. A relative path stays relative.
fn resolve(path: &str) -> String {
    let mut parts = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let root = if path.starts_with('/') { "/" } else { "" };
    format!("{root}{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::find;

    #[test]
    fn rm_is_found_however_it_is_written() {
        for command in [
            "rm -rf /",
            "rm  -r   -f x",
            "rm -fr x",
            "rm -Rf x",
            "rm -r x -f",
            "rm -vrf x",
            "rm --recursive --force x",
            "rm --rec -f x",
            "/bin/rm -rf x",
            "\\rm -rf x",
            "r'm' \"-rf\" x",
            "cd /tmp && rm -rf x",
            "cd /tmp;rm -rf x",
            "ls | xargs rm -rf",
            "find . -name x -exec rm -rf {} +",
            "sudo -u root env A=1 rm -rf x",
            "A=1 rm -rf x",
            "if true; then rm -rf x; fi",
            "{ rm -rf x; }",
            "(rm -rf x)",
            "echo $(rm -rf x)",
            "echo \"`rm -rf x`\"",
            "echo \"a $(rm -rf x) b\"",
            "bash -c 'rm -rf x'",
            "sudo sh -ec \"cd /; rm -rf x\"",
            "eval rm\\ -rf\\ x",
            "rm${IFS}-rf${IFS}x",
            "rm -rf x > /dev/null",
            "< list rm -rf x",
            "ls\nrm -rf x",
            "rm \\\n -rf x",
            "ls & rm -rf x",
        ] {
            assert_eq!(find(command).as_deref(), Some("`rm -rf`"), "{command}");
        }
    }

    #[test]
    fn file_systems_and_devices_are_found() {
        for (command, why) in [
            ("mkfs /dev/sdb", "`mkfs`"),
            ("sudo mkfs.ext4 -F /dev/sdb", "`mkfs`"),
            ("dd if=/dev/zero of=/dev/sda bs=1M", "`dd if=`"),
            ("dd bs=1M if=image", "`dd if=`"),
            ("dd of=/dev/sda < image", "writing to `/dev/sda`"),
            ("cat image > /dev/sda", "writing to `/dev/sda`"),
            ("cat image >/dev//sda", "writing to `/dev/sda`"),
            ("cat image >> /tmp/../dev/sda", "writing to `/dev/sda`"),
            ("cat image >| /dev/sda", "writing to `/dev/sda`"),
            ("cat image &> /dev/sda", "writing to `/dev/sda`"),
            ("cat image | sudo tee /dev/sda", "writing to `/dev/sda`"),
        ] {
            assert_eq!(find(command).as_deref(), Some(why), "{command}");
        }
    }

    #[test]
    fn harmless_commands_are_allowed() {
        for command in [
            "rm x",
            "rm -r x",
            "rm -f x",
            "rm -- -rf",
            "git rm -rf x",
            "docker run --rm -f x",
            "git commit -m 'never run rm -rf /'",
            "echo \"rm -rf\"",
            "grep -rf patterns .",
            "ls > /dev/null 2>&1",
            "ls 2>/dev/stderr",
            "echo x > dev/sda",
            "cat /dev/urandom | head -c 4",
            "ddrescue if=x",
            "ls # rm -rf x",
            "echo 'mkfs'",
            "",
        ] {
            assert_eq!(find(command), None, "{command}");
        }
    }

    #[test]
    fn nesting_without_end_is_refused() {
        assert!(find(&"$(".repeat(10_000)).is_some());
        assert!(find(&"sh -c ".repeat(10)).is_none());
    }
}
