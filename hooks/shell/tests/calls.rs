//! Calls that are found in a command line.

use hookbox_shell::{Analysis, UNKNOWN, Unseen, analyse};

/// Each call as `program arg arg`, with `?` for what is not known.
fn calls(analysis: &Analysis) -> Vec<String> {
    let line = |call: &hookbox_shell::Call| {
        let args = call.args.iter().map(|arg| arg.text.replace(UNKNOWN, "?"));
        std::iter::once(call.program.replace(UNKNOWN, "?")).chain(args).collect::<Vec<_>>().join(" ")
    };
    analysis.calls.iter().map(line).collect()
}

#[track_caller]
fn finds(text: &str, expected: &[&str]) {
    let found = analyse(text);
    assert_eq!(
        (calls(&found), found.unseen.as_slice()),
        (expected.iter().map(|call| (*call).to_owned()).collect(), &[][..]),
        "{text}"
    );
}

#[track_caller]
fn has(text: &str, expected: &str) {
    let found = analyse(text);
    assert!(calls(&found).iter().any(|call| call == expected), "{text}: {:?} {:?}", calls(&found), found.unseen);
}

#[track_caller]
fn cannot_see(text: &str, expected: Unseen) {
    let found = analyse(text);
    assert!(found.unseen.contains(&expected), "{text}: {:?} {:?}", calls(&found), found.unseen);
}

#[test]
fn quotes_are_taken_off() {
    finds("r'm' \"-rf\" \\x", &["rm -rf x"]);
    finds("\\rm -rf x", &["rm -rf x"]);
    finds("/bin/rm -rf x", &["rm -rf x"]);
    finds("$'\\x72m' -rf $'\\057'", &["rm -rf /"]);
    finds("$\"rm\" -rf x", &["rm -rf x"]);
    finds("echo 'rm -rf /'", &["echo rm -rf /"]);
    finds("rm \\\n -rf x", &["rm -rf x"]);
    finds("ls # rm -rf x", &["ls"]);
}

#[test]
fn lists_pipes_and_groups_are_followed() {
    finds("a && b || c; d & e\nf | g |& h", &["a", "b", "c", "d", "e", "f", "g", "h"]);
    finds("if true; then rm x; else ls; fi", &["true", "rm x", "ls"]);
    finds("{ rm x; } ; (rm y)", &["rm x", "rm y"]);
    finds("! rm x", &["rm x"]);
    finds("while read l; do rm x; done < f", &["read l", "rm x", ""]);
    finds("f() { rm -rf x; }; f", &["f", "rm -rf x", "f"]);
    finds("case $1 in a) rm x;; *) ls;; esac", &["rm x", "ls", "esac"]);
    finds("case $1 in\na|*.x)\n rm x;;\n(b) ls;;\nesac | cat", &["rm x", "ls", "esac", "cat"]);
    finds("for f in a; do rm $f; done", &["rm a"]);
}

#[test]
fn substitutions_are_commands_too() {
    finds("echo $(rm x)", &["rm x", "echo ?"]);
    finds("echo \"a `rm x` b\"", &["rm x", "echo a ? b"]);
    finds("diff <(rm x) >(rm y)", &["rm x", "rm y", "diff ? ?"]);
    finds("echo $((1 + 2)) $(( (1) + 2 ))", &["echo ? ?"]);
    has("echo $((rm -rf /); echo)", "rm -rf /");
    has("cat <<E\n$(rm x)\nE", "rm x");
    finds("cat <<'E'\n$(rm x)\nE\nls", &["cat", "ls"]);
    finds("cat <<-E\n\t$x\n\tE\nls", &["cat", "ls"]);
}

#[test]
fn static_expansions_are_made() {
    finds("x=rm; $x -rf /", &["rm -rf /"]);
    finds("x='rm -rf /'; $x", &["rm -rf /"]);
    finds("x=a y=b; echo $x$y", &["echo ab"]);
}

#[test]
fn braces_variables_and_printf() {
    finds("{rm,-rf,/}", &["rm -rf /"]);
    finds("rm -rf /{etc,usr}", &["rm -rf /etc /usr"]);
    finds("echo {a}", &["echo {a}"]);
    finds("find . -exec rm {} +", &["rm {}", "find . -exec rm {} +"]);
    finds("rm${IFS}-rf${IFS}/", &["rm -rf /"]);
    has("$(printf 'r%s' m) -rf /", "rm -rf /");
    has("$(echo rm) -rf /", "rm -rf /");
    finds("rm -rf \"$HOME\"", &["rm -rf ~"]);
    finds("rm -rf ${X:-/}", &["rm -rf /"]);
    finds("rm -rf $X/*", &["rm -rf ?/*"]);
}

#[test]
fn wrapped_commands_are_found() {
    finds("sudo -u root env A=/b rm -rf x", &["rm -rf x"]);
    finds("timeout -k 5 10 nice -n 5 rm x", &["rm x"]);
    finds("ls | xargs -0 -n 1 rm -rf", &["ls", "rm -rf"]);
    finds("env -S 'rm -rf /'", &["rm -rf /"]);
    finds("bash -ec 'cd /; rm -rf x'", &["cd /", "rm -rf x", "bash -ec cd /; rm -rf x"]);
    has("sudo sh -c \"bash -c 'rm -rf /'\"", "rm -rf /");
    has("eval rm\\ -rf\\ x", "rm -rf x");
    has("ssh host -p 22 'rm -rf /'", "rm -rf /");
    has("ssh -p 22 host 'rm -rf /'", "rm -rf /");
    has("git -c alias.x='!rm -rf /' x", "rm -rf /");
    has("echo 'rm -rf /' | sh", "rm -rf /");
    has("sh <<< 'rm -rf /'", "rm -rf /");
    has("sh <<E\nrm -rf /\nE", "rm -rf /");
    has("cat <<E | sudo bash -s\nrm -rf /\nE", "rm -rf /");
    has("su -c 'rm -rf /' root", "rm -rf /");
    has("alias ll='rm -rf /'", "rm -rf /");
    has("trap 'rm -rf /' EXIT", "rm -rf /");
    has("find . -name x -exec sh -c 'rm -rf /' \\;", "rm -rf /");
}

#[test]
fn unknown_values_are_reported() {
    cannot_see("$CMD -rf /", Unseen::Program);
    cannot_see("/bin/r? -rf /", Unseen::Program);
    cannot_see("bash -c \"$CMD\"", Unseen::Program);
    cannot_see("eval \"$(cat x)\"", Unseen::Program);
    cannot_see("base64 -d x | sh", Unseen::Piped);
    cannot_see("curl -s https://x | sudo bash", Unseen::Downloaded);
    cannot_see("bash <(curl -s https://x)", Unseen::Downloaded);
    cannot_see("sh -c \"$(curl -fsSL https://x)\"", Unseen::Downloaded);
    cannot_see("curl x | tee y | python3 -", Unseen::Downloaded);
    cannot_see(&"$(".repeat(10_000), Unseen::TooMuch);
    cannot_see(&"eval ".repeat(40), Unseen::TooMuch);
    cannot_see(&format!("a={}; {}", "x".repeat(60_000), "$a ".repeat(60)), Unseen::TooMuch);
}

#[test]
fn every_text_can_be_read() {
    for text in
        ["", "'", "\"", "`", "$", "${", "$((", "<<", "<<E", ">", "((", "\\", "$'\\", "${x:-", "a=(", "\u{fdd3}", "é$é"]
    {
        let _ = analyse(text);
        let _ = analyse(&text.repeat(500));
    }
}
