//! Files that a text writes, and may run afterwards.

use std::collections::BTreeMap;

use crate::script::Command;
use crate::word::Word;

/// Files that are remembered at most.
const MOST: usize = 64;

/// Content of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// It was downloaded.
    Downloaded,
    /// This text.
    Text(String),
}

/// The files that were written so far, by their paths.
#[derive(Debug, Default)]
pub(crate) struct Files(BTreeMap<String, Content>);

impl Files {
    /// Remembers what a command writes. `output` is what it prints and `input` what it reads, where the text tells it.
    pub(crate) fn after(&mut self, command: &Command, downloaded: bool, output: Option<String>, input: Option<String>) {
        let Some((program, args)) = command.words.split_first() else { return };
        let name = program.text.rsplit('/').next().unwrap_or_default();
        let content = match (downloaded, if name == "tee" { input } else { output }) {
            (true, _) => Content::Downloaded,
            (false, Some(text)) => Content::Text(text),
            (false, None) => return,
        };
        for word in &command.writes {
            self.add(&word.text, &content);
        }
        if name == "tee" {
            args.iter().filter(|arg| !arg.text.starts_with('-')).for_each(|arg| self.add(&arg.text, &content));
        }
        if downloaded {
            for file in saved(&command.words) {
                self.add(&file, &content);
            }
        }
    }

    fn add(&mut self, path: &str, content: &Content) {
        if self.0.len() < MOST {
            // What is added to a file is run with the rest of it.
            match (self.0.get_mut(plain(path)), content) {
                (Some(Content::Text(known)), Content::Text(more)) => known.push_str(more),
                (Some(Content::Downloaded), _) => {}
                _ => drop(self.0.insert(plain(path).to_owned(), content.clone())),
            }
        }
    }

    /// Returns true if a file was written.
    pub(crate) fn has(&self, file: &Word) -> bool {
        self.content(file).is_some()
    }

    /// The content of a file that was written.
    pub(crate) fn content(&self, file: &Word) -> Option<&Content> {
        self.0.get(plain(&file.text))
    }

    /// The text of a file that was written.
    pub(crate) fn text(&self, file: &Word) -> Option<&str> {
        match self.content(file)? {
            Content::Text(text) => Some(text),
            Content::Downloaded => None,
        }
    }
}

/// `./x` is `x`.
fn plain(path: &str) -> &str {
    let mut path = path;
    while let Some(rest) = path.strip_prefix("./") {
        path = rest.trim_start_matches('/');
    }
    path
}

/// The files in which a program saves what it downloads: `curl -o FILE`, `curl -O URL`, `wget URL`, `wget -O FILE`.
fn saved(words: &[Word]) -> Vec<String> {
    let mut files = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let next = || words.get(at + 1).map(|word| word.text.clone());
        let text = word.text.as_str();
        match text {
            "-o" | "-O" | "--output" | "--output-document" | "-OutFile" | "-out" => files.extend(next()),
            _ => {
                let value = ["--output=", "--output-document="].iter().find_map(|start| text.strip_prefix(start));
                let short =
                    text.strip_prefix('-').filter(|letters| !letters.starts_with('-') && letters.ends_with(['o', 'O']));
                files.extend(value.map(str::to_owned).or_else(|| short.and_then(|_| next())));
            }
        }
        if at > 0 && text.contains('/') && !text.starts_with('-') {
            files.extend(text.split(['?', '#']).next().and_then(|path| path.rsplit('/').next()).map(str::to_owned));
        }
    }
    files.retain(|file| !file.is_empty() && file != "-");
    files
}
