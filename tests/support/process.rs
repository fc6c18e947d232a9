//! Running `hookbox` as a client does.

use std::{
    io::Write,
    process::{Command, Output, Stdio},
};

/// Runs a command, with this on its stdin. One that ends before it has read everything says why with its status.
pub fn fed(command: &mut Command, stdin: &[u8]) -> Output {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    std::thread::scope(|scope| {
        // Beside, so that neither side waits for the other with a full pipe.
        scope.spawn(move || drop(pipe.write_all(stdin)));
        child.wait_with_output().unwrap()
    })
}
