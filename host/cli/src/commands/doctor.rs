//! `hookbox doctor`: finds out why a hook does not run, and what it could not block.

mod canary;
mod entry;
mod examine;
mod findings;
mod rejected;
mod switches;
mod tools;
mod trust;
pub mod vouched;

use clap::Args;
use serde_json::{Value, json};

pub use self::findings::Findings;
use crate::{
    clients::{self, Client, Scope, coverage::Coverage},
    exit::Exit,
    print,
};

/// Check that clients call hookbox, and list what no hook can stop there.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  hookbox doctor claude")]
pub struct Doctor {
    /// Only this client; all that are on this machine when left out
    #[arg(value_name = "CLIENT", value_parser = super::install::client)]
    client: Option<&'static Client>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The scopes of a client's settings, from the first to the last that doctor reports.
const SCOPES: [Scope; 3] = [Scope::Project, Scope::Local, Scope::User];

impl Doctor {
    /// An examination of one client.
    pub fn of(client: &'static Client) -> Self {
        Self { client: Some(client), json: false }
    }

    pub fn run(self) -> anyhow::Result<Exit> {
        if self.json {
            print::json_only();
        }
        let (exit, found) = self.examine()?;
        print::result(&found);
        Ok(exit)
    }

    /// Examines the clients, and prints the findings for people. Returns them for programs.
    pub fn examine(self) -> anyhow::Result<(Exit, Value)> {
        let folder = std::env::current_dir()?;
        let coverage = Coverage::read()?;
        let (mut problems, mut unseen) = (0, 0);
        let mut shown = Vec::new();
        for client in clients::ALL {
            if self.client.is_some_and(|only| only.name != client.name) {
                continue;
            }
            let project = client.project(&folder);
            let mut files = SCOPES.into_iter().filter_map(|scope| client.file(scope, &project));
            let has_settings = files.any(|file| file.symlink_metadata().is_ok());
            if self.client.is_none() && client.program().is_none() && !has_settings {
                continue;
            }
            let mut findings = Findings::new(client, project, print::is_json());
            findings.examine(&coverage, self.client.is_some(), &folder);
            problems += findings.problems;
            unseen += findings.unseen;
            shown.push(findings.json());
        }
        let exit = if problems == 0 { Exit::Ok } else { Exit::Config };
        if shown.is_empty() {
            print::out("no supported client is installed on this machine");
        }
        let plural = |count, word: &str| if count == 1 { format!("1 {word}") } else { format!("{count} {word}s") };
        let problems_found = plural(problems, "problem");
        if unseen == 0 {
            print::out(problems_found);
        } else {
            let events = plural(unseen, "event");
            print::out(format_args!(
                "{problems_found}; {events} never came from this project: try one that your hooks deny"
            ));
        }
        Ok((exit, json!({ "clients": shown, "problems": problems, "neverSeen": unseen })))
    }
}
