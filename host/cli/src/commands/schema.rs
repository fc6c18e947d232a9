//! `hookbox schema`

use clap::Args;

use crate::{exit::Exit, print};

/// Print the JSON Schema of the configuration file.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  hookbox schema > hookbox.schema.json")]
pub struct Schema {}

impl Schema {
    #[expect(clippy::unnecessary_wraps, clippy::unused_self, reason = "all subcommands run alike")]
    pub fn run(self) -> anyhow::Result<Exit> {
        print::text(format_args!("{:#}", hookbox::config::schema()));
        Ok(Exit::Ok)
    }
}
