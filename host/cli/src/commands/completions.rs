//! `hookbox completions`

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::{Cli, exit::Exit};

/// Print a completion script for a shell.
#[derive(Debug, Args)]
pub struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    #[expect(clippy::unnecessary_wraps, reason = "all subcommands run alike")]
    pub fn run(self) -> anyhow::Result<Exit> {
        clap_complete::generate(self.shell, &mut Cli::command(), "hookbox", &mut std::io::stdout());
        Ok(Exit::Ok)
    }
}
