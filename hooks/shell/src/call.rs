//! From simple commands to calls of programs, through whatever runs them.

use std::collections::BTreeMap;

use crate::expand::printed;
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

/// Programs that read commands.
const SHELLS: [&str; 10] = ["sh", "bash", "zsh", "dash", "ash", "ksh", "mksh", "fish", "rbash", "yash"];
/// Programs that read code of another language.
const INTERPRETERS: [&str; 12] =
    ["python", "python2", "python3", "node", "perl", "ruby", "php", "deno", "bun", "lua", "pypy3", "tclsh"];
/// Programs that print what they fetch.
const DOWNLOADS: [&str; 12] =
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
    /// Other arguments are added that are not in the text: by `xargs`, `find -exec` and the like.
    pub more_args: bool,
    /// It runs as another user: by `sudo` and the like.
    pub as_another_user: bool,
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
        let (script, variables) = parse(text, variables);
        if script.too_much {
            self.unseen.push(Unseen::TooMuch);
        }
        for command in &script.commands {
            let place = Place { script: &script, command, variables: &variables, depth };
            self.words(&command.words, &place, around);
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
        let found = runs(&name, args);
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
        if found.is_empty() || matches!(name.as_str(), "find" | "fd" | "fdfind" | "git") {
            self.builtin(&name, args, place, around);
            self.call(name, first, args, place, around);
        }
    }

    fn nested(&mut self, text: &str, place: &Place<'_>, around: Around) {
        self.text(text, place.variables.clone(), place.depth, around);
    }

    /// Programs that run commands by their nature: shells, `eval`, interpreters.
    fn builtin(&mut self, name: &str, args: &[Word], place: &Place<'_>, around: Around) {
        match name {
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

    fn call(&mut self, program: String, first: &Word, args: &[Word], place: &Place<'_>, around: Around) {
        let Command { writes, reads, stdin, .. } = place.command;
        let input = match stdin {
            Stdin::Nothing => Input::Nothing,
            Stdin::Text(word) => Input::Text(word.text.clone()),
            Stdin::Pipe(from) => place.script.commands.get(*from).and_then(printed).map_or(Input::Pipe, Input::Text),
        };
        self.calls.push(Call {
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

/// Behind `sudo` and the like too.
fn fetches(command: &Command) -> bool {
    command.words.iter().take(4).any(|word| {
        let name = word.text.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
        DOWNLOADS.contains(&name.as_str())
    })
}
