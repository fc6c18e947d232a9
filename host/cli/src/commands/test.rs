//! `hookbox test`: a hook's cases, in the real sandbox.

mod case;
mod difference;

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context;
use clap::Args;
use hookbox::{Config, HookSet, Runtime, Tenant, Verdict, capability::state::SqliteStore, config::ConfigErrors};
use serde_json::Value;

use self::case::Case;
use super::block_on;
use crate::{exit::Exit, print, report};

/// Run a hook's cases: events, and what they must lead to.
#[derive(Debug, Args)]
pub struct Test {
    /// The hook's folder, with `case.json` and `hooks.json`
    #[arg(value_name = "FOLDER", default_value = ".")]
    folder: PathBuf,
    /// The cases, when they are elsewhere
    #[arg(long, value_name = "FILE")]
    cases: Option<PathBuf>,
    /// The configuration, when it is elsewhere
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Only cases whose name has this in it, and those before them that share the state
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Write what is found into the cases, as what they expect from now on
    #[arg(long)]
    update: bool,
}

impl Test {
    pub fn run(self) -> anyhow::Result<Exit> {
        let path = self.cases.clone().unwrap_or_else(|| self.folder.join("case.json"));
        let config = self.config.clone().unwrap_or_else(|| self.folder.join("hooks.json"));
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let shipped = fs::read_to_string(&config).with_context(|| config.display().to_string())?;
        let shipped: Value = serde_json::from_str(&shipped).with_context(|| config.display().to_string())?;
        let cases = Case::read(&text, &path)?;

        // Of this run alone, and shared by its cases in their order.
        let state = Scratch::new()?;
        let runtime = Runtime::builder()
            .compiler(std::env::current_exe()?)
            .state(SqliteStore::new(state.0.join("state.db")))
            .build()?;
        let (mut failed, mut ran, mut found) = (0, 0, Vec::new());
        for case in &cases {
            let verdict = block_on(verdict(&runtime, &case.configuration(&shipped), &config, &case.event))?;
            found.push(verdict.wire.clone().unwrap_or_default());
            if self.only.as_ref().is_some_and(|only| !case.name.contains(only.as_str())) {
                continue;
            }
            ran += 1;
            let wrong = case.differences(&verdict);
            if wrong.is_empty() || self.update {
                print::out(format_args!("ok      {}", case.name));
            } else {
                failed += 1;
                print::out(format_args!("FAILED  {}", case.name));
                for line in wrong {
                    print::out(format_args!("   {line}"));
                }
                explain(&verdict);
            }
        }
        if self.update {
            fs::write(&path, Case::updated(&text, &found)?).with_context(|| path.display().to_string())?;
        }
        let cases = if ran == 1 { "1 case".to_owned() } else { format!("{ran} cases") };
        print::out(format_args!("{cases}, {failed} failed"));
        Ok(if failed == 0 { Exit::Ok } else { Exit::Software })
    }
}

async fn verdict(runtime: &Runtime, config: &str, file: &Path, event: &Value) -> anyhow::Result<Verdict> {
    let loaded = Config::parse(config, file, None).map_err(|errors: ConfigErrors| anyhow::Error::new(errors))?;
    let hooks = HookSet::builder(runtime, Tenant::new("test"), loaded.config).load().await?;
    Ok(hooks.dispatch(&event.to_string()).await?)
}

/// What each hook said and logged, below a case that failed.
fn explain(verdict: &Verdict) {
    for hook in &verdict.hooks {
        print::out(format!("   {}  {}", report::name(hook), report::outcome(hook)).trim_end());
        for line in report::asides(hook) {
            print::out(format_args!("      {line}"));
        }
    }
}

/// A folder of this process, gone when it ends.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> anyhow::Result<Self> {
        let folder = std::env::temp_dir().join(format!("hookbox-test-{}", std::process::id()));
        fs::create_dir(&folder).with_context(|| folder.display().to_string())?;
        Ok(Self(folder))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
