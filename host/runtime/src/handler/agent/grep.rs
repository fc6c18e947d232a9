//! The `grep` tool: a search with limits on results, time and memory.

use std::{
    collections::VecDeque,
    fmt::Write,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use hookbox_protocol::json::shorten;
use regex::{Regex, RegexBuilder};

use super::project::{Node, Project, entries, text};

/// The maximum number of matching lines.
const MAX_HITS: usize = 200;
/// The maximum length of a printed line, in characters.
const MAX_LINE: usize = 300;
/// The maximum number of files and folders in a search.
const MAX_NODES: usize = 20_000;
/// The maximum depth of folders below the searched one.
const MAX_DEPTH: usize = 32;
/// The time limit of a search. It blocks a thread, which the hook's deadline cannot end.
const MAX_TIME: Duration = Duration::from_secs(5);
/// The maximum size of a compiled pattern, in bytes.
const MAX_PATTERN: usize = 1024 * 1024;

/// Searches a file, or a folder breadth-first. Skips what cannot be read.
///
/// # Errors
/// The pattern is not a valid regular expression, or the path does not exist.
pub(super) fn grep(project: &Project, pattern: &str, path: PathBuf) -> Result<String, String> {
    let pattern = RegexBuilder::new(pattern).size_limit(MAX_PATTERN).build().map_err(|e| e.to_string())?;
    project.node(&path)?;
    let mut search = Search { pattern, hits: 0, output: String::new(), until: Instant::now() + MAX_TIME };
    match search.walk(project, path) {
        Err(why) => search.output.push_str(why),
        Ok(()) if search.hits == 0 => search.output.push_str("[nothing found]\n"),
        Ok(()) => {}
    }
    Ok(search.output)
}

struct Search {
    pattern: Regex,
    hits: usize,
    output: String,
    until: Instant,
}

/// The result of a search step. The error is a line for the model that says why the search ended early.
type Ended = Result<(), &'static str>;

impl Search {
    fn walk(&mut self, project: &Project, path: PathBuf) -> Ended {
        let mut queue = VecDeque::from([(path, 0)]);
        let mut room = MAX_NODES;
        let mut complete = Ok(());
        while let Some((path, depth)) = queue.pop_front() {
            self.check_time()?;
            match project.node(&path) {
                Ok(Node::File(file)) => text(file).map_or(Ok(()), |text| self.file(&path, &text))?,
                Ok(Node::Folder(_)) if depth == MAX_DEPTH => {
                    complete = Err("[folders that are too deep were skipped]\n");
                }
                Ok(Node::Folder(folder)) => {
                    let (entries, more) = entries(folder, room);
                    room -= entries.len();
                    if more {
                        complete = Err("[too many files; some were skipped]\n");
                    }
                    let names = entries.into_iter().map(|(name, _)| name).filter(|name| name != ".git");
                    queue.extend(names.map(|name| (path.join(name), depth + 1)));
                }
                Err(_) => {}
            }
        }
        complete
    }

    fn file(&mut self, path: &Path, text: &str) -> Ended {
        for (number, line) in (1..).zip(text.lines()) {
            self.check_time()?;
            if self.pattern.is_match(line) {
                if self.hits == MAX_HITS {
                    return Err("[more results exist; narrow the search]\n");
                }
                self.hits += 1;
                let _ = writeln!(self.output, "{}:{number}: {}", path.display(), shorten(line, MAX_LINE));
            }
        }
        Ok(())
    }

    fn check_time(&self) -> Ended {
        if Instant::now() < self.until { Ok(()) } else { Err("[out of time; narrow the search]\n") }
    }
}
