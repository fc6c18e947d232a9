//! The terminal: another screen while the program runs, and everything as it was afterwards.

use std::{
    io::{self, Read, Write},
    thread,
};

use rustix::termios::{LocalModes, OptionalActions, Termios, isatty, tcgetattr, tcgetwinsize, tcsetattr};
use tokio::sync::mpsc;

use super::table::Line;

/// The size of a terminal that does not say, as columns and rows.
const USUAL: (usize, usize) = (80, 24);

/// The screen. Dropping it restores the previous content.
pub struct Screen {
    /// The terminal's modes as they were. `None`: stdin is not a terminal.
    before: Option<Termios>,
    keys: mpsc::Receiver<u8>,
}

/// Returns true if stdout is a terminal.
pub fn is_terminal() -> bool {
    isatty(io::stdout())
}

/// Columns and rows.
pub fn size() -> (usize, usize) {
    let size = tcgetwinsize(io::stdout()).ok().filter(|size| size.ws_col > 0 && size.ws_row > 0);
    size.map_or(USUAL, |size| (size.ws_col.into(), size.ws_row.into()))
}

impl Screen {
    /// Takes the terminal.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn open() -> io::Result<Self> {
        let before = tcgetattr(io::stdin()).ok();
        if let Some(before) = &before {
            let mut modes = before.clone();
            // Keys arrive immediately and are not echoed. Ctrl-C stays a signal.
            modes.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
            tcsetattr(io::stdin(), OptionalActions::Now, &modes)?;
        }
        let (sender, keys) = mpsc::channel(16);
        if before.is_some() {
            // It ends with the process: a read of a terminal cannot be given up.
            thread::Builder::new().name("keys".into()).spawn(move || read(&sender))?;
        } else {
            // A receiver without a sender would report the end of input, which ends the program.
            std::mem::forget(sender);
        }
        let screen = Self { before, keys };
        write("\u{1b}[?1049h\u{1b}[?25l\u{1b}[2J")?;
        Ok(screen)
    }

    /// The next key; `None` at the end of input.
    pub async fn key(&mut self) -> Option<u8> {
        self.keys.recv().await
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // A terminal that is gone needs nothing.
        let _ = write("\u{1b}[?25h\u{1b}[?1049l");
        if let Some(before) = &self.before {
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, before);
        }
    }
}

/// Shows these lines, which fit.
///
/// # Errors
/// The terminal is gone.
pub fn draw(lines: &[Line]) -> io::Result<()> {
    let mut text = String::from("\u{1b}[H");
    for (index, line) in lines.iter().enumerate() {
        let (on, off) = if line.bold { ("\u{1b}[1m", "\u{1b}[0m") } else { ("", "") };
        let end = if index + 1 == lines.len() { "" } else { "\r\n" };
        text.extend([on, line.text.as_str(), off, "\u{1b}[K", end]);
    }
    text.push_str("\u{1b}[J");
    write(&text)
}

fn write(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

fn read(keys: &mpsc::Sender<u8>) {
    let mut key = [0];
    while let Ok(1) = io::stdin().read(&mut key) {
        if keys.blocking_send(key[0]).is_err() {
            return;
        }
    }
}
