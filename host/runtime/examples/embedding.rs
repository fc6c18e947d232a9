//! Decides on one event of a tenant, as a platform does that runs hooks of many tenants.
use std::{error::Error, io::Write, time::Duration};

use hookbox::{Ceiling, HookSet, Request, Runtime, SqliteStore, Tenant, config::Config};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    // One runtime per process. Components are compiled in child processes of the program `hookbox` on the PATH.
    let path = "state.db";
    let runtime = Runtime::builder().compiler("hookbox").state(SqliteStore::open(path)?).max_instances(64).build()?;

    // One hook set per tenant. Its hooks may deny, ask and add context. The ceiling grants no permissions.
    let ceiling = Ceiling::new();
    let acme = HookSet::load(&runtime, Tenant::new("acme").ceiling(ceiling), Config::from_file("acme.json")?).await?;

    let event_json = r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"rm -rf /"}}"#;
    // Never an error: the configuration settles invalid events and failed hooks.
    let response = acme.decide(Request::new(event_json.as_bytes())).await;
    let mut stdout = std::io::stdout();
    writeln!(stdout, "{}", response.stdout)?;
    for hook in response.report().iter().flat_map(|report| &report.hooks) {
        writeln!(stdout, "{}: {}", hook.hook, hook.verdict)?;
    }

    // Hook processes have this long to exit.
    acme.close(Duration::from_secs(2)).await;
    Ok(())
}
