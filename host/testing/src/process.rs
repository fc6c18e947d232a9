//! Running `hookbox` as a client does.

use std::{
    io::Write,
    path::PathBuf,
    process::{Command, Output, Stdio},
};

/// The command line that was built with this test, which has to be one of its own package.
pub fn hookbox() -> PathBuf {
    let test = std::env::current_exe().expect("this test");
    test.ancestors().nth(2).expect("target/debug").join("hookbox")
}

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
