//! The `grep` tool: a search that ends, whatever it is let loose on.

use std::{
    collections::VecDeque,
    fmt::Write,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use hookbox_protocol::json::shorten;
use regex::{Regex, RegexBuilder};

use super::project::{Node, Project, entries, text};

/// Lines found at most.
const MAX_HITS: usize = 200;
/// Characters of a line that are shown.
const MAX_LINE: usize = 300;
/// Files and folders looked at at most.
const MAX_NODES: usize = 20_000;
/// Folders below the one that is searched at most.
const MAX_DEPTH: usize = 32;
/// How long a search takes at most. It blocks a thread, which outlives the hook's own deadline.
const MAX_TIME: Duration = Duration::from_secs(5);
/// Bytes of a compiled pattern at most.
const MAX_PATTERN: usize = 1024 * 1024;

/// Searches a file or folder, nearest files first. What cannot be read is left out.
///
/// # Errors
/// The pattern is not a regular expression, or there is nothing at the path.
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

/// A search that ended early, with the line that tells the model so.
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
                Ok(Node::Folder(_)) if depth == MAX_DEPTH => complete = Err("[folders too deep were left out]\n"),
                Ok(Node::Folder(folder)) => {
                    let (entries, more) = entries(folder, room);
                    room -= entries.len();
                    if more {
                        complete = Err("[too many files; some were left out]\n");
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
                    return Err("[there is more; narrow the search]\n");
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
