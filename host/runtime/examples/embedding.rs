//! Decides on an event of a tenant, as a platform does that runs the hooks of many.
use std::{error::Error, io::Write, time::Duration};

use hookbox::{Ceiling, HookSet, Request, Runtime, SqliteStore, Tenant, config::Config};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    // One per process. Components are compiled in processes of the program `hookbox`, which is on the PATH.
    let path = "state.db";
    let runtime = Runtime::builder().compiler("hookbox").state(SqliteStore::open(path)?).max_instances(64).build()?;

    // One per tenant: its hooks may deny, ask and add context, and no permission that its file asks for is granted.
    let ceiling = Ceiling::new();
    let acme = HookSet::load(&runtime, Tenant::new("acme").ceiling(ceiling), Config::from_file("acme.json")?).await?;

    let event_json = r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"rm -rf /"}}"#;
    // Never an error: an event that cannot be read and hooks that fail are settled as the configuration says.
    let response = acme.decide(Request::new(event_json.as_bytes())).await;
    let mut stdout = std::io::stdout();
    writeln!(stdout, "{}", response.stdout)?;
    for hook in response.report().iter().flat_map(|report| &report.hooks) {
        writeln!(stdout, "{}: {}", hook.hook, hook.verdict)?;
    }

    // Hook processes get this long to end.
    acme.close(Duration::from_secs(2)).await;
    Ok(())
}
