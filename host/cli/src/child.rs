//! The output of a child process, within a time and a size.

use std::{
    io::Read,
    process::Child,
    sync::mpsc::{Receiver, channel},
    time::Duration,
};

/// The maximum size of an output, in bytes.
const MOST_BYTES: u64 = 1 << 20;

/// The stdout of a process. Kills a process that does not exit in time.
pub fn within(child: &mut Child, time: Duration) -> Option<Vec<u8>> {
    let done = collect(child.stdout.take()?);
    let printed = done.recv_timeout(time).ok();
    if printed.is_none() {
        let _ = child.kill();
    }
    let _ = child.wait();
    printed
}

/// Reads a pipe in the background until it is closed, up to a limit.
pub fn collect(pipe: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (send, done) = channel();
    std::thread::spawn(move || {
        let mut text = Vec::new();
        let _ = pipe.take(MOST_BYTES).read_to_end(&mut text);
        let _ = send.send(text);
    });
    done
}
