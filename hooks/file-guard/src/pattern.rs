//! Patterns of protected files.

use hookbox_shell::UNKNOWN;

use crate::place::Place;

/// Length of a name that is compared, in characters. A longer one is longer than file systems have them.
const LONGEST: usize = 256;

/// A pattern in parts.
#[derive(Debug)]
pub(crate) struct Pattern<'p> {
    /// As it is written.
    pub(crate) text: &'p str,
    start: Start,
    parts: Vec<String>,
    /// Ends with `/**` or `/`: everything in the folder.
    folder: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Start {
    Root,
    Home,
    Anywhere,
}

impl<'p> Pattern<'p> {
    pub(crate) fn new(text: &'p str) -> Self {
        let (start, rest) = match (text.strip_prefix("~/"), text.strip_prefix('/')) {
            (Some(rest), _) => (Start::Home, rest),
            (_, Some(rest)) => (Start::Root, rest),
            _ => (Start::Anywhere, text.trim_start_matches("**/")),
        };
        let folder = rest.ends_with("/**") || rest.ends_with('/');
        let rest = rest.trim_end_matches("/**").trim_end_matches('/');
        Self { text, start, parts: rest.split('/').map(str::to_lowercase).collect(), folder }
    }

    /// Returns true if a path is, or as a glob may be, one of its files.
    pub(crate) fn matches(&self, place: &Place) -> bool {
        match self.start {
            Start::Root => place.absolute && self.matches_from(&place.parts),
            Start::Home => {
                place.home.and_then(|home| place.parts.get(home..)).is_some_and(|rest| self.matches_from(rest))
            }
            Start::Anywhere => {
                (0..place.parts.len()).any(|at| self.matches_from(place.parts.get(at..).unwrap_or_default()))
            }
        }
    }

    /// Returns true if some of its files are in this folder, from which everything is read.
    pub(crate) fn is_within(&self, folder: &Place) -> bool {
        let above =
            |parts: &[String]| parts.len() < self.parts.len() && parts.iter().zip(&self.parts).all(|(a, b)| a == b);
        match self.start {
            Start::Root => folder.absolute && above(&folder.parts),
            Start::Home => match folder.home {
                Some(home) => folder.parts.get(home..).is_some_and(above),
                None => folder.absolute && folder.parts.len() < 2,
            },
            Start::Anywhere => false,
        }
    }

    fn matches_from(&self, parts: &[String]) -> bool {
        let enough = if self.folder { parts.len() >= self.parts.len() } else { parts.len() == self.parts.len() };
        enough && self.parts.iter().zip(parts).all(|(pattern, name)| may_be(pattern, name))
    }
}

/// Returns true if there is a name that both stand for.
fn may_be(pattern: &str, name: &str) -> bool {
    let wild = |c: char| matches!(c, '*' | '?' | '[' | ']' | UNKNOWN);
    if !name.contains(wild) && !pattern.contains('*') {
        return pattern == name;
    }
    // The usual pattern has one star, and the usual name none.
    if !name.contains(wild)
        && let Some((start, end)) = pattern.split_once('*')
        && !end.contains(wild)
        && !start.contains(wild)
    {
        return name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end);
    }
    // A name of wildcards alone would be every file; that of a shell begins with no dot.
    if name.chars().all(wild) || pattern.starts_with('.') && name.starts_with(['*', '?', '[']) {
        return false;
    }
    let (pattern, name) = (letters(pattern), letters(name));
    if pattern.len() > LONGEST || name.len() > LONGEST {
        return false;
    }
    // For each letter of the pattern: the places of the name up to which both may be the same.
    let mut reached = vec![false; name.len() + 1];
    if let Some(first) = reached.first_mut() {
        *first = true;
    }
    skip_stars(&mut reached, &name);
    for letter in &pattern {
        let mut next = vec![false; name.len() + 1];
        for at in 0..=name.len() {
            if !reached.get(at).is_some_and(|reached| *reached) {
                continue;
            }
            let mut reach = |at: usize| {
                if let Some(place) = next.get_mut(at) {
                    *place = true;
                }
            };
            match (letter, name.get(at)) {
                (Letter::Star, _) => (at..=name.len()).for_each(&mut reach),
                // A star of the name takes the letter in.
                (_, Some(Letter::Star)) => reach(at),
                (Letter::Any, Some(_)) | (_, Some(Letter::Any)) => reach(at + 1),
                (Letter::One(a), Some(Letter::One(b))) if a == b => reach(at + 1),
                _ => {}
            }
        }
        skip_stars(&mut next, &name);
        reached = next;
    }
    reached.last().is_some_and(|last| *last)
}

#[derive(Clone, Copy)]
enum Letter {
    One(char),
    Any,
    Star,
}

fn letters(text: &str) -> Vec<Letter> {
    let mut found = Vec::new();
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        found.push(match c {
            '*' | UNKNOWN => Letter::Star,
            '?' => Letter::Any,
            '[' => {
                // Whichever letters it has: it may be the one.
                for c in rest.by_ref() {
                    if c == ']' {
                        break;
                    }
                }
                Letter::Any
            }
            c => Letter::One(c),
        });
    }
    found
}

/// A star of the name may stand for nothing.
fn skip_stars(reached: &mut [bool], name: &[Letter]) {
    for at in 0..name.len() {
        if reached.get(at) == Some(&true)
            && matches!(name.get(at), Some(Letter::Star))
            && let Some(next) = reached.get_mut(at + 1)
        {
            *next = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::place;

    #[test]
    fn patterns_are_those_of_gitignore() {
        let matches = |pattern: &str, path: &str| Pattern::new(pattern).matches(&place(path, None));
        for (pattern, path) in [
            (".env", "a/.env"),
            (".env.*", ".env.local"),
            ("*.pem", "x/server.PEM"),
            ("~/.ssh/**", "/home/dev/.ssh/id"),
            ("~/.ssh/**", "~/.ssh"),
            (".git/**", "a/.git/hooks/x"),
            ("/etc/**", "/etc/passwd"),
            ("/proc/*/environ", "/proc/1/environ"),
            (".env", ".en?"),
            (".env", ".e*"),
            (".env", ".[e]nv"),
            ("id_rsa", "id_*"),
            (".env.*", ".env*"),
            ("*.pem", "s*.p*"),
        ] {
            assert!(matches(pattern, path), "{pattern} {path}");
        }
        for (pattern, path) in [
            (".env", ".envrc"),
            (".env", ".env/lib"),
            ("*.pem", "pem"),
            ("/etc/**", "a/etc/x"),
            ("~/.ssh/**", "/srv/.ssh/x"),
            (".env", "*"),
            ("*.pem", "*"),
            (".env", "?env"),
            ("id_rsa", "src/*.rs"),
            ("/etc/shadow", "/etc/shadow.d"),
        ] {
            assert!(!matches(pattern, path), "{pattern} {path}");
        }
    }
}
