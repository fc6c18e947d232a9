//! `hookbox-compiler`: compiles one component from stdin to stdout under limits, for the packages that carry it (ADR 0008).

use std::{
    io::{self, Write},
    process::ExitCode,
};

/// `EX_USAGE` of `sysexits.h`.
const USAGE: u8 = 64;

fn main() -> ExitCode {
    hookbox::sandbox::compiler::serve_if_asked().unwrap_or_else(|| {
        let _ = writeln!(io::stderr(), "hookbox-compiler is started by the hookbox library; do not start it directly");
        USAGE.into()
    })
}
