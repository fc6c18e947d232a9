//! `hookbox hooks`

use clap::Args;
use hookbox_catalogue::{ALL, Bundled};
use serde_json::{Value, json};

use crate::{exit::Exit, print};

/// List the bundled hooks.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  hookbox hooks --json")]
pub struct Hooks {
    /// As JSON, with the schema of each configuration
    #[arg(long)]
    json: bool,
}

impl Hooks {
    #[expect(clippy::unnecessary_wraps, reason = "all subcommands run alike")]
    pub fn run(self) -> anyhow::Result<Exit> {
        if self.json {
            print::json_only();
            let hooks: Vec<Value> = ALL.iter().map(described).collect();
            print::json(&json!({ "hooks": hooks }));
            return Ok(Exit::Ok);
        }
        for bundled in ALL {
            let events = bundled.events.iter().map(|(event, _)| *event).collect::<Vec<_>>().join(", ");
            print::out(format_args!("{}   {}", bundled.name, bundled.summary));
            print::out(format_args!("  events      {events}"));
            print::out(format_args!("  authority   {}", bundled.authority));
            print::out("  grants      none");
        }
        print::out("to use one:   hookbox add NAME");
        Ok(Exit::Ok)
    }
}

fn described(bundled: &Bundled) -> Value {
    let parsed = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
    json!({
        "name": bundled.name,
        "component": format!("{}{}", hookbox_catalogue::PREFIX, bundled.name),
        "summary": bundled.summary,
        "events": bundled.events.iter().map(|(event, _)| *event).collect::<Vec<_>>(),
        "authority": parsed(bundled.authority),
        "permissions": {},
        "bytes": bundled.component().len(),
        "configSchema": parsed(bundled.schema),
    })
}
