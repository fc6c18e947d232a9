//! The terminal: whether it shows colours, and its width.

use std::io;

use anstream::{AutoStream, ColorChoice, stream::RawStream};
use rustix::termios::{isatty, tcgetwinsize};
use unicode_width::UnicodeWidthStr;

/// The meaning of a word that is coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    Good,
    Bad,
    Doubtful,
}

/// A word, coloured if `colours` is true.
pub fn word(text: &str, tone: Tone, colours: bool) -> String {
    let code = match tone {
        Tone::Good => 32,
        Tone::Bad => 31,
        Tone::Doubtful => 33,
    };
    if colours { format!("\u{1b}[1;{code}m{text}\u{1b}[0m") } else { text.to_owned() }
}

/// Returns true if a stream may show colours: a terminal, unless `NO_COLOR`, `CLICOLOR`, `CLICOLOR_FORCE` or `TERM` say otherwise.
pub fn colours(stream: &impl RawStream) -> bool {
    AutoStream::choice(stream) != ColorChoice::Never
}

/// Returns true if stdout may show colours.
pub fn stdout_has_colours() -> bool {
    colours(&io::stdout())
}

/// The number of columns of the terminal on stdout. `None` if stdout is not a terminal.
pub fn width() -> Option<usize> {
    let stdout = io::stdout();
    let size = isatty(&stdout).then(|| tcgetwinsize(&stdout).ok()).flatten()?;
    (size.ws_col > 0).then(|| usize::from(size.ws_col))
}

/// The fewest columns for the text of a row. In a narrower terminal, rows are left to the terminal.
const FEWEST: usize = 20;

/// Breaks a row at spaces, so that it fits into `width` columns. Further lines start at column `hang`.
pub fn wrap(row: &str, hang: usize, width: usize) -> Vec<String> {
    if row.width() <= width || width < hang + FEWEST {
        return vec![row.to_owned()];
    }
    let (mut lines, mut line) = (Vec::new(), String::new());
    for part in row.split_inclusive(' ') {
        let full = line.width() + part.trim_end().width() > width;
        if full && line.width() > hang && !line.trim().is_empty() {
            lines.push(line.trim_end().to_owned());
            line = " ".repeat(hang);
        }
        line.push_str(part);
    }
    lines.push(line.trim_end().to_owned());
    lines
}

#[cfg(test)]
mod tests {
    use super::{Tone, word, wrap};

    #[test]
    fn rows_are_broken_at_spaces_below_their_text() {
        let row = "  handles   PreToolUse, PermissionRequest, PostToolUse";
        assert_eq!(wrap(row, 12, 80), [row]);
        assert_eq!(
            wrap(row, 12, 34),
            ["  handles   PreToolUse,", "            PermissionRequest,", "            PostToolUse"]
        );
        // A word that is wider than the terminal is not broken, so that it can be copied.
        let path = "  file      /a/very/long/path/that/does/not/fit/anywhere and more";
        assert_eq!(
            wrap(path, 12, 34),
            ["  file      /a/very/long/path/that/does/not/fit/anywhere", "            and more"]
        );
        assert_eq!(wrap(row, 12, 20), [row], "too narrow");
        assert_eq!(wrap("  a         多多多多多多 多多多多多多", 12, 32).len(), 2, "wide characters take two columns");
    }

    #[test]
    fn words_have_colours_only_on_request() {
        assert_eq!(word("error", Tone::Bad, false), "error");
        assert_eq!(word("ok", Tone::Good, true), "\u{1b}[1;32mok\u{1b}[0m");
    }
}
