//! `hookbox completions`

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::{Cli, exit::Exit, print};

/// Print a completion script for a shell.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  hookbox completions bash > ~/.local/share/bash-completion/completions/hookbox")]
pub struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    #[expect(clippy::unnecessary_wraps, reason = "all subcommands run alike")]
    pub fn run(self) -> anyhow::Result<Exit> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "hookbox", &mut script);
        print::text(String::from_utf8_lossy(&script).trim_end());
        Ok(Exit::Ok)
    }
}
