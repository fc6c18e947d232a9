//! Code of other languages that is given to an interpreter in its arguments or as text: what its strings say.
//!
//! The code is not understood. Its strings are taken out, and read as commands where something in it runs commands, and as
//! paths where something in it deletes.

use hookbox_shell::{Call, Input, Word, analyse, strings};

use super::{Finding, Kind, check as check_call, finding};
use crate::config::Config;
use crate::target::{Reach, reach};

/// Words that run commands.
const RUNS: [&str; 9] = ["system", "popen", "subprocess", "exec", "spawn", "shell", "qx", "%x", "`"];
/// Words that delete folders.
const DELETES: [&str; 9] =
    ["rmtree", "rmSync", "rm_rf", "rm_r", "remove_tree", "rimraf", "emptyDirSync", "remove_dir_all", "rmdirSync"];

/// Names of modules, which are no paths.
const MODULES: [&str; 7] = ["fs", "node:fs", "fs/promises", "node:fs/promises", "path", "rimraf", "fs-extra"];
/// Words that run a text as code or as a command.
const EVALUATES: [&str; 9] =
    ["exec", "eval", "system", "popen", "subprocess", "spawn", "Function(", "compile(", "__import__"];
/// Words that make a text of something else.
const DECODES: [&str; 17] = [
    "b64decode",
    "fromhex",
    "unhexlify",
    "atob(",
    "Buffer.from(",
    "pack(\"",
    "pack('",
    "pack \"",
    "pack '",
    "MIME::Base64",
    "decode64",
    "base64_decode",
    "unescape(",
    "fromCharCode",
    "chr(",
    "codecs.decode",
    "decompress",
];

/// Words that download.
const DOWNLOADS: [&str; 6] = ["urlopen(", "urlretrieve(", "requests.get(", "http.get(", "fetch(", "Net::HTTP"];

pub(super) fn check(call: &Call, config: &Config) -> Vec<Finding> {
    let interpreter = call.program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let options: &[&str] = match interpreter {
        "python" | "pypy" => &["-c"],
        "node" | "deno" | "bun" => &["-e", "--eval", "-p", "--print", "eval"],
        "perl" | "ruby" | "lua" | "osascript" => &["-e", "-E", "-ne", "-pe"],
        "php" => &["-r"],
        "awk" | "gawk" | "mawk" => &[],
        _ => return Vec::new(),
    };
    let mut code: Vec<&str> = call
        .args
        .iter()
        .enumerate()
        .filter(|(at, _)| {
            let before = at.checked_sub(1).and_then(|at| call.args.get(at));
            options.is_empty() || before.is_some_and(|before| options.contains(&before.text.as_str()))
        })
        .map(|(_, arg)| arg.text.as_str())
        .collect();
    if let Input::Text(text) = &call.input {
        code.push(text);
    }
    code.into_iter().flat_map(|code| in_code(code, call, config)).collect()
}

fn in_code(code: &str, call: &Call, config: &Config) -> Vec<Finding> {
    let mut found = Vec::new();
    let runs = RUNS.iter().any(|word| code.contains(word));
    let deletes = DELETES.iter().any(|word| code.contains(word));
    let deletes = deletes || code.contains(".rm(") && code.contains("recursive");
    if EVALUATES.iter().any(|word| code.contains(word)) && DECODES.iter().any(|word| code.contains(word)) {
        found.push(finding(Kind::Unseen, false, call, "runs code that is put together when it runs"));
    }
    if EVALUATES.iter().any(|word| code.contains(word)) && DOWNLOADS.iter().any(|word| code.contains(word)) {
        found.push(finding(Kind::Downloads, false, call, "runs what it downloads"));
    }
    if code.contains("unlink") && code.contains('*') {
        found.push(finding(Kind::Files, false, call, "deletes many files"));
    }
    if !runs && !deletes {
        return found;
    }
    let strings = strings(code);
    if deletes {
        let named = strings.iter().filter(|text| !MODULES.contains(&text.as_str()));
        let reached = named.map(|text| reach(&Word::new(text), &config.disposable)).max();
        match reached.unwrap_or(Reach::Unknown) {
            Reach::Disposable => {}
            reached => found.push(finding(Kind::Files, reached >= Reach::Whole, call, "deletes folders")),
        }
    }
    if runs {
        // One string is a command, or the strings of a list are its words.
        let list = strings.join(" ");
        for command in strings.iter().chain(std::iter::once(&list)) {
            for inner in analyse(command).calls.iter().filter(|inner| options_of(inner).is_none()) {
                found.extend(check_call(inner, config));
            }
        }
    }
    found
}

/// Code within code is not followed.
fn options_of(call: &Call) -> Option<()> {
    matches!(call.program.as_str(), "python" | "python3" | "node" | "perl" | "ruby" | "php").then_some(())
}
