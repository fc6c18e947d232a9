//! Reads the event from stdin until the client's timeout.

use std::{
    io::{self, Read},
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::Instant,
};

use hookbox::{EVENT_LIMIT, Request};

use crate::exit::Exit;

/// An event, or the part of it that could be read.
pub struct EventText {
    pub read: Vec<u8>,
    unread: Option<String>,
}

impl EventText {
    /// Reads an event. Stops when it is known to be too large.
    pub fn read(from: impl Read) -> Self {
        let mut read = Vec::new();
        let ended = from.take(EVENT_LIMIT as u64 + 1).read_to_end(&mut read);
        Self { read, unread: ended.err().map(|error| format!("it cannot be read to its end: {error}")) }
    }

    /// Reads stdin until the client's deadline, even if the client never closes it.
    pub(super) fn of_stdin(due: Option<Instant>) -> Self {
        let Some(due) = due else { return Self::read(io::stdin().lock()) };
        let (send, parts) = mpsc::channel();
        let reading = thread::Builder::new().spawn(move || {
            let mut from = io::stdin().lock().take(EVENT_LIMIT as u64 + 1);
            loop {
                let mut part = vec![0; 64 << 10];
                let read = match from.read(&mut part) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    read => read,
                };
                let ended = !matches!(read, Ok(length) if length > 0);
                let read = read.map(|length| {
                    part.truncate(length);
                    part
                });
                if send.send(read).is_err() || ended {
                    return;
                }
            }
        });
        if reading.is_err() {
            return Self::read(io::stdin().lock());
        }
        let mut read = Vec::new();
        let unread = loop {
            match parts.recv_timeout(due.saturating_duration_since(Instant::now())) {
                Ok(Ok(part)) if part.is_empty() => break None,
                Ok(Ok(part)) => read.extend(part),
                Ok(Err(error)) => break Some(format!("it cannot be read to its end: {error}")),
                Err(RecvTimeoutError::Timeout) => break Some("it did not end before the deadline".to_owned()),
                Err(RecvTimeoutError::Disconnected) => break Some("it cannot be read to its end".to_owned()),
            }
        };
        Self { read, unread }
    }

    /// The whole event.
    ///
    /// # Errors
    /// The event is incomplete.
    pub fn whole(&self) -> anyhow::Result<&[u8]> {
        match &self.unread {
            Some(why) => Err(Exit::Data.error(why.clone())),
            None => Ok(&self.read),
        }
    }

    /// The request to decide on the event.
    pub fn request(&self) -> Request<'_> {
        Request::new(&self.read).incomplete(self.unread.as_deref())
    }
}
