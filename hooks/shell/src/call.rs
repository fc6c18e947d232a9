//! From simple commands to calls of programs, through whatever runs them.

use std::collections::BTreeMap;

use crate::expand::{output, printed};
use crate::files::{Content, Files};
use crate::parse::parse;
use crate::runner::{Runs, joined, runs};
use crate::script::{Command, Script, Stdin};
use crate::word::{UNKNOWN, Word};

/// Depth to which texts in texts (`sh -c "sh -c …"`) are followed.
const DEPTH: usize = 8;
/// Texts that are read at most.
const MOST_TEXTS: usize = 128;
/// Bytes of all texts together.
const MOST_BYTES: usize = 1024 * 1024;

/// Variables whose values programs run.
const COMMANDS: [&str; 12] = [
    "PAGER",
    "GIT_PAGER",
    "MANPAGER",
    "EDITOR",
    "VISUAL",
    "GIT_EDITOR",
    "GIT_SEQUENCE_EDITOR",
    "GIT_SSH_COMMAND",
    "GIT_EXTERNAL_DIFF",
    "GIT_ASKPASS",
    "PROMPT_COMMAND",
    "LESSOPEN",
];
/// Arguments of `xargs` that are read from its input at most.
const MOST_ITEMS: usize = 64;

/// Programs that read commands.
const SHELLS: [&str; 10] = ["sh", "bash", "zsh", "dash", "ash", "ksh", "mksh", "fish", "rbash", "yash"];
/// Programs that read code of another language.
const INTERPRETERS: [&str; 12] =
    ["python", "python2", "python3", "node", "perl", "ruby", "php", "deno", "bun", "lua", "pypy3", "tclsh"];
/// Programs that print what they fetch.
pub(crate) const DOWNLOADS: [&str; 12] =
    ["curl", "wget", "fetch", "http", "https", "aria2c", "lynx", "nc", "ncat", "iwr", "irm", "invoke-webrequest"];

/// Every call of a program in a text.
#[derive(Debug, Default)]
pub struct Analysis {
    /// The calls, in the order in which they stand.
    pub calls: Vec<Call>,
    /// Commands that cannot be known before they run.
    pub unseen: Vec<Unseen>,
    texts: usize,
    bytes: usize,
    /// The files that were written so far.
    files: Files,
    /// The folder of the last `cd`.
    folder: String,
}

/// A call of a program.
#[derive(Debug, Default)]
pub struct Call {
    /// The name of the program without its folder, in small letters and without `.exe`; with [`UNKNOWN`] where it is not
    /// known, and empty for redirections without a command.
    pub program: String,
    /// The program as it is written, with its folder.
    pub path: String,
    /// The arguments.
    pub args: Vec<Word>,
    /// The files that its output is redirected to.
    pub writes: Vec<Word>,
    /// The files that it reads from.
    pub reads: Vec<Word>,
    /// Other input.
    pub input: Input,
    /// Other arguments are added that are not in the text: for example by `xargs` or `find -exec`.
    pub more_args: bool,
    /// It runs as another user, for example by `sudo`.
    pub as_another_user: bool,
    /// It is a function of the text, and reads what it writes itself: `f() { f | f & }`.
    pub multiplies: bool,
    /// The folder that the text has gone to before, if it has: a relative path may be in it.
    pub folder: String,
}

/// Input of a call.
#[derive(Debug, Default, PartialEq, Eq)]
pub enum Input {
    /// Nothing that the text tells.
    #[default]
    Nothing,
    /// The output of another program.
    Pipe,
    /// A text.
    Text(String),
}

/// Commands that cannot be known before they run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unseen {
    /// A program whose name comes of an expansion.
    Program,
    /// A shell or interpreter that reads what another program prints.
    Piped,
    /// A shell or interpreter that reads what was downloaded.
    Downloaded,
    /// The text is longer, deeper or expands to more than is read.
    TooMuch,
}

/// Finds every call of a program in a text.
pub fn analyse(text: &str) -> Analysis {
    let mut analysis = Analysis::default();
    analysis.text(text, BTreeMap::new(), DEPTH, Around::default());
    analysis.unseen.sort_unstable();
    analysis.unseen.dedup();
    analysis
}

/// Surroundings of a call.
#[derive(Clone, Copy, Default)]
struct Around {
    more_args: bool,
    as_another_user: bool,
}

/// Position of a call.
struct Place<'s> {
    script: &'s Script,
    command: &'s Command,
    variables: &'s BTreeMap<String, String>,
    depth: usize,
}

impl Analysis {
    fn text(&mut self, text: &str, variables: BTreeMap<String, String>, depth: usize, around: Around) {
        self.texts += 1;
        self.bytes += text.len();
        let Some(depth) = depth.checked_sub(1).filter(|_| self.texts <= MOST_TEXTS && self.bytes <= MOST_BYTES) else {
            return self.unseen.push(Unseen::TooMuch);
        };
        let (script, variables) = {
            let before = variables.clone();
            let (script, after) = parse(text, variables);
            // Programs run what these variables say.
            for name in COMMANDS {
                if let Some(value) = after.get(name).filter(|value| before.get(name) != Some(value)) {
                    self.text(value, BTreeMap::new(), depth, around);
                }
            }
            (script, after)
        };
        if script.too_much {
            self.unseen.push(Unseen::TooMuch);
        }
        for (index, command) in script.commands.iter().enumerate() {
            let place = Place { script: &script, command, variables: &variables, depth };
            self.words(&command.words, &place, around);
            let downloaded = is_download(&script, index, DEPTH);
            let piped = match &command.stdin {
                Stdin::Pipe(from) => script.commands.get(*from).and_then(printed),
                Stdin::Text(word) => Some(word.text.clone()),
                Stdin::Nothing => None,
            };
            self.files.after(command, downloaded, output(command), piped);
        }
    }

    fn words(&mut self, words: &[Word], place: &Place<'_>, around: Around) {
        let Some((first, args)) = words.split_first() else {
            return self.call(String::new(), &Word::default(), &[], place, around);
        };
        let name = first.text.rsplit(['/', '\\']).next().unwrap_or_default().to_ascii_lowercase();
        let name = name.strip_suffix(".exe").unwrap_or(&name).to_owned();
        if name.contains(UNKNOWN) || first.glob && name.contains(['*', '?', '[']) && name != "[" && name != "[[" {
            let downloaded = downloads(first, place);
            self.unseen.push(if downloaded { Unseen::Downloaded } else { Unseen::Program });
            return self.call(UNKNOWN.to_string(), first, args, place, around);
        }
        if first.text.contains('/') && self.files.has(first) {
            self.script_file(first, place, Some(around));
        }
        let found = runs(&name, args);
        if name == "xargs" && self.handed_on(args, &found, place, around) {
            return self.call(name, first, args, place, around);
        }
        for runs in &found {
            match runs {
                Runs::Words { words, more, root } => {
                    let around = Around {
                        more_args: around.more_args || *more,
                        as_another_user: around.as_another_user || *root,
                    };
                    // Each program that runs another costs a level.
                    match place.depth.checked_sub(1) {
                        Some(depth) => self.words(words, &Place { depth, ..*place }, around),
                        None => self.unseen.push(Unseen::TooMuch),
                    }
                }
                Runs::Text(text) => self.nested(text, place, around),
            }
        }
        let also = matches!(name.as_str(), "find" | "fd" | "fdfind" | "git" | "docker" | "podman" | "nerdctl");
        if found.is_empty() || also || matches!(name.as_str(), "docker-compose" | "podman-compose" | "kubectl" | "oc") {
            self.builtin(&name, args, place, around);
            self.call(name, first, args, place, around);
        }
    }

    /// The program of `xargs` with the arguments that its input tells: a text, or what `find` finds. False: they are not
    /// known.
    fn handed_on(&mut self, args: &[Word], found: &[Runs<'_>], place: &Place<'_>, around: Around) -> bool {
        let Some(Runs::Words { words, .. }) = found.first() else { return false };
        let Some(depth) = place.depth.checked_sub(1) else { return false };
        let place = Place { depth, ..*place };
        let piped = match &place.command.stdin {
            Stdin::Pipe(from) => place.script.commands.get(*from),
            _ => None,
        };
        let text = match &place.command.stdin {
            Stdin::Text(word) => Some(word.text.clone()),
            _ => piped.and_then(printed),
        };
        if let Some(text) = text.filter(|text| !text.contains(UNKNOWN)) {
            let items = text.split(|c: char| c.is_whitespace() || c == '\0').filter(|item| !item.is_empty());
            let items: Vec<&str> = items.take(MOST_ITEMS).collect();
            if let Some(mark) = replaced(args) {
                for item in items {
                    let with = |word: &Word| Word { text: word.text.replace(&mark, item), ..word.clone() };
                    self.words(&words.iter().map(with).collect::<Vec<_>>(), &place, around);
                }
            } else {
                let all: Vec<Word> = words.iter().cloned().chain(items.into_iter().map(Word::new)).collect();
                self.words(&all, &place, around);
            }
            return true;
        }
        let Some((lister, operands)) = piped.and_then(|piped| piped.words.split_first()) else { return false };
        if lister.text == "find" {
            // As if `find` ran it.
            let all: Vec<Word> = operands.iter().chain(words.iter()).cloned().collect();
            self.call("find".into(), &Word::new("find"), &all, &place, around);
        } else if lister.text == "ls" {
            let items = operands.iter().filter(|word| !word.text.starts_with('-')).map(|word| Word {
                text: if word.glob { word.text.clone() } else { format!("{}/*", word.text.trim_end_matches('/')) },
                glob: true,
                ..word.clone()
            });
            let with = |item: Word| match replaced(args) {
                Some(mark) => {
                    let put = |word: &Word| Word { text: word.text.replace(&mark, "*"), glob: true, ..word.clone() };
                    words.iter().map(put).collect()
                }
                None => words.iter().cloned().chain(std::iter::once(item)).collect::<Vec<_>>(),
            };
            for all in items.map(with).collect::<Vec<_>>() {
                self.words(&all, &place, around);
            }
        }
        false
    }

    fn nested(&mut self, text: &str, place: &Place<'_>, around: Around) {
        self.text(text, place.variables.clone(), place.depth, around);
    }

    /// Programs that run commands by their nature: shells, `eval`, interpreters.
    fn builtin(&mut self, name: &str, args: &[Word], place: &Place<'_>, around: Around) {
        match name {
            "cd" | "pushd" | "chdir" | "set-location" => self.go(args),
            "sed" => {
                let lines = args.iter().flat_map(|arg| arg.text.split([';', '\n', '{']));
                let address = |c: char| c.is_ascii_digit() || matches!(c, ' ' | ',' | '$' | '!');
                for line in lines.filter_map(|line| line.trim_start_matches(address).strip_prefix("e ")) {
                    self.nested(line, place, around);
                }
            }
            "eval" if !args.is_empty() => self.given(args, place, around),
            "alias" => {
                for (_, command) in args.iter().filter_map(|arg| arg.text.split_once('=')) {
                    self.nested(command, place, around);
                }
            }
            "trap" => {
                if let Some(command) = args.first().filter(|arg| !arg.text.starts_with('-')) {
                    self.nested(&command.text, place, around);
                }
            }
            "source" | "." => {
                if args.first().is_some_and(|file| downloads(file, place)) {
                    self.unseen.push(Unseen::Downloaded);
                } else if let Some(file) = args.first().filter(|file| self.files.has(file)) {
                    self.script_file(file, place, Some(around));
                } else if args.first().is_some_and(|file| !file.from.is_empty() && !file.is_known()) {
                    self.unseen.push(Unseen::Piped);
                }
            }
            "at" | "batch" => self.reads_code(&[], place, Some(around)),
            // A word with blanks is a command line.
            "tmux" | "screen" => {
                for line in args.iter().filter(|arg| arg.text.contains(' ')) {
                    self.nested(&line.text, place, around);
                }
            }
            "vi" | "vim" | "nvim" | "ex" | "tar" => {
                let starts = [":!", "!", "--checkpoint-action=exec=", "--to-command=", "--use-compress-program="];
                for line in args.iter().filter_map(|arg| starts.iter().find_map(|start| arg.text.strip_prefix(start))) {
                    self.nested(line, place, around);
                }
            }
            _ if SHELLS.contains(&name) => self.shell(args, place, around),
            _ if is_interpreter(name) => self.interpreter(args, place),
            "iex" | "invoke-expression" => self.reads_code(args, place, None),
            _ => {}
        }
    }

    /// Words that a shell is given to run.
    fn given(&mut self, words: &[Word], place: &Place<'_>, around: Around) {
        if words.iter().any(|word| downloads(word, place)) {
            self.unseen.push(Unseen::Downloaded);
        }
        self.nested(&joined(words), place, around);
    }

    fn shell(&mut self, args: &[Word], place: &Place<'_>, around: Around) {
        let mut at = 0;
        while let Some(option) = args.get(at).map(|arg| arg.text.as_str()) {
            match option.strip_prefix(['-', '+']) {
                Some(letters) if !letters.starts_with('-') && letters.contains('c') => {
                    // The text is the first word behind all options.
                    let rest = args.get(at + 1..).unwrap_or_default();
                    let text = rest.iter().position(|arg| !arg.text.starts_with(['-', '+']));
                    if let Some(text) = text.and_then(|at| rest.get(at..=at)) {
                        self.given(text, place, around);
                    }
                    return;
                }
                Some("o" | "O" | "-rcfile" | "-init-file") => at += 2,
                Some("s") => return self.reads_code(&[], place, Some(around)),
                Some(_) => at += 1,
                None => break,
            }
        }
        self.reads_code(args.get(at..).unwrap_or_default(), place, Some(around));
    }

    fn interpreter(&mut self, args: &[Word], place: &Place<'_>) {
        let code = args.iter().any(|arg| matches!(arg.text.as_str(), "-c" | "-e" | "-r" | "-m" | "--eval" | "-p"));
        if code {
            if args.iter().any(|arg| downloads(arg, place)) {
                self.unseen.push(Unseen::Downloaded);
            }
        } else {
            let files = args.iter().position(|arg| !arg.text.starts_with('-') || arg.text == "-");
            let files = files.and_then(|at| args.get(at..)).unwrap_or_default();
            let stdin = files.first().is_some_and(|file| file.text == "-");
            self.reads_code(if stdin { &[] } else { files }, place, None);
        }
    }

    /// A shell or interpreter that reads a file, or else what is written to it. `shell`: what is known of it is read.
    fn reads_code(&mut self, files: &[Word], place: &Place<'_>, shell: Option<Around>) {
        let piped = match files.first() {
            Some(file) if !file.text.starts_with("/dev/stdin") => {
                if downloads(file, place) {
                    self.unseen.push(Unseen::Downloaded);
                } else if self.files.has(file) {
                    self.script_file(file, place, shell);
                } else if !file.from.is_empty() && !file.is_known() {
                    self.unseen.push(Unseen::Piped);
                }
                return;
            }
            _ => &place.command.stdin,
        };
        match piped {
            Stdin::Nothing => {}
            Stdin::Text(word) => {
                if let Some(around) = shell {
                    self.given(std::slice::from_ref(word), place, around);
                }
            }
            Stdin::Pipe(from) => {
                let known = place.script.commands.get(*from).and_then(printed).filter(|text| !text.contains(UNKNOWN));
                match (known, shell) {
                    (Some(text), Some(around)) => self.nested(&text, place, around),
                    (Some(_), None) => {}
                    (None, _) => {
                        let downloaded = is_download(place.script, *from, DEPTH);
                        self.unseen.push(if downloaded { Unseen::Downloaded } else { Unseen::Piped });
                    }
                }
            }
        }
    }

    /// A file that the text has written before, and runs now.
    fn script_file(&mut self, file: &Word, place: &Place<'_>, shell: Option<Around>) {
        match (self.files.content(file).cloned(), shell) {
            (Some(Content::Downloaded), _) => self.unseen.push(Unseen::Downloaded),
            (Some(Content::Text(text)), Some(around)) => self.nested(&text, place, around),
            _ => {}
        }
    }

    /// The folder after `cd`.
    fn go(&mut self, args: &[Word]) {
        if args.iter().any(|arg| arg.text == "-") {
            return self.folder.clear();
        }
        let to = args.iter().find(|arg| !arg.text.starts_with('-')).map_or("~", |arg| arg.text.as_str());
        let whole = to.starts_with(['/', '~']) || self.folder.is_empty();
        self.folder = if whole { to.to_owned() } else { format!("{}/{to}", self.folder) };
    }

    fn call(&mut self, program: String, first: &Word, args: &[Word], place: &Place<'_>, around: Around) {
        let Command { writes, reads, stdin, .. } = place.command;
        let written = is_interpreter(&program).then(|| args.iter().find_map(|arg| self.files.text(arg))).flatten();
        let input = match stdin {
            Stdin::Nothing if written.is_some() => Input::Text(written.unwrap_or_default().to_owned()),
            Stdin::Nothing => Input::Nothing,
            Stdin::Text(word) => Input::Text(word.text.clone()),
            Stdin::Pipe(from) => place.script.commands.get(*from).and_then(printed).map_or(Input::Pipe, Input::Text),
        };
        let piped_from = match stdin {
            Stdin::Pipe(from) => place.script.commands.get(*from).and_then(|from| from.words.first()),
            _ => None,
        };
        let multiplies = place.script.functions.contains(&first.text)
            && piped_from.is_some_and(|piped_from| piped_from.text == first.text);
        self.calls.push(Call {
            multiplies,
            folder: self.folder.clone(),
            program,
            path: first.text.clone(),
            args: args.to_vec(),
            writes: writes.clone(),
            reads: reads.clone(),
            input,
            more_args: around.more_args,
            as_another_user: around.as_another_user,
        });
    }
}

/// The mark that `xargs` replaces: `-I{}`, `-I {}`, `-i`, `--replace`.
fn replaced(args: &[Word]) -> Option<String> {
    args.iter().enumerate().find_map(|(at, arg)| match arg.text.strip_prefix("-I") {
        Some("") => args.get(at + 1).map(|mark| mark.text.clone()),
        Some(mark) => Some(mark.to_owned()),
        None => matches!(arg.text.as_str(), "-i" | "--replace").then(|| "{}".to_owned()),
    })
}

/// `python3.12` is Python.
fn is_interpreter(name: &str) -> bool {
    INTERPRETERS.contains(&name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.'))
        || INTERPRETERS.contains(&name)
}

/// Returns true if a word has what a command downloads.
fn downloads(word: &Word, place: &Place<'_>) -> bool {
    word.from.iter().any(|command| is_download(place.script, *command, DEPTH))
}

/// Returns true if a command downloads, or passes on what one before it downloads.
fn is_download(script: &Script, command: usize, depth: usize) -> bool {
    let (Some(depth), Some(command)) = (depth.checked_sub(1), script.commands.get(command)) else { return false };
    // The substitutions of a word have those within them too.
    let mut substituted = command.words.iter().flat_map(|word| &word.from);
    fetches(command)
        || substituted.any(|from| script.commands.get(*from).is_some_and(fetches))
        || matches!(command.stdin, Stdin::Pipe(from) if is_download(script, from, depth))
}

/// Also behind programs such as `sudo`.
fn fetches(command: &Command) -> bool {
    command.words.iter().take(4).any(|word| {
        let name = word.text.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
        DOWNLOADS.contains(&name.as_str())
    })
}
