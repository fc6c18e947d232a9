//! The `hookbox` command. Each subcommand has its own file. This file maps results to exit codes.

mod change;
mod child;
mod clients;
mod commands;
mod diagnostics;
mod excerpt;
mod exit;
mod heartbeat;
mod locks;
mod log;
mod print;
mod registries;
mod report;
mod sdk;
mod stops;
mod terminal;
mod trust;
mod user_file;
mod warned;

use std::{panic::catch_unwind, process::ExitCode, thread};

use clap::{Parser, error::ErrorKind};
use rustix::process::{Resource, getrlimit};

use crate::{commands::Command, exit::Exit};

/// Run AI agent hooks as sandboxed WebAssembly components, under nine hook protocols.
#[derive(Debug, Parser)]
#[command(name = "hookbox", version, max_term_width = 100, after_help = commands::help::after(), disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// The required stack size. The client may have started this process with a smaller limit.
const STACK: usize = 8 << 20;

fn main() -> ExitCode {
    let is_short = getrlimit(Resource::Stack).current.is_some_and(|bytes| bytes < STACK as u64);
    match is_short.then(|| thread::Builder::new().stack_size(STACK).spawn(hookbox)) {
        Some(Ok(thread)) => thread.join().unwrap_or_else(|_| panicked().into()),
        _ => hookbox(),
    }
}

fn hookbox() -> ExitCode {
    if let Some(ended) = hookbox::sandbox::compiler::serve_if_asked() {
        return ended;
    }
    // The message of a panic may contain untrusted text.
    std::panic::set_hook(Box::new(|panic| print::err(format_args!("hookbox: a bug: {panic}"))));
    if words().get(1).is_some_and(|command| command == "run" || command == "stdio") {
        print::never_wait();
    }
    let exit = catch_unwind(|| {
        commands::outlive_full_files();
        command()
    });
    let exit = exit.unwrap_or_else(|_| panicked());
    print::flush();
    exit.into()
}

/// The exit status after a panic: 2 if failures block.
fn panicked() -> Exit {
    if commands::is_to_fail_closed(&words()) { Exit::Code(2) } else { Exit::Software }
}

fn words() -> Vec<String> {
    std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect()
}

fn command() -> Exit {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // clap's own code for a usage error is 2, which means "block" to a client.
            let shown = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
            let text = error.render().to_string();
            // Printed through this program's escaping, because the text may quote the arguments.
            text.lines().for_each(|line| if shown { print::out(line) } else { print::err(line) });
            let closed = !shown && commands::is_to_fail_closed(&words());
            return if closed {
                Exit::Code(2)
            } else if shown {
                Exit::Ok
            } else {
                Exit::Usage
            };
        }
    };
    cli.command.run().unwrap_or_else(|error| {
        let exit = Exit::of(&error);
        report::error(&error);
        exit
    })
}
