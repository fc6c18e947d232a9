//! Runs `hookbox` as a client does.

use std::{
    io::Write,
    path::PathBuf,
    process::{Command, Output, Stdio},
};

/// Returns the `hookbox` that was built together with this test. The test must be in the same package.
pub fn hookbox() -> PathBuf {
    let test = std::env::current_exe().expect("this test");
    test.ancestors().nth(2).expect("target/debug").join("hookbox")
}

/// Runs a command with this stdin. If it ends before it has read everything, its status says why.
pub fn fed(command: &mut Command, stdin: &[u8]) -> Output {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    std::thread::scope(|scope| {
        // Write on another thread, so that no full pipe blocks both sides.
        scope.spawn(move || drop(pipe.write_all(stdin)));
        child.wait_with_output().unwrap()
    })
}
