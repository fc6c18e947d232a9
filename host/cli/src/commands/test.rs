//! `hookbox test`: runs a hook's cases in the real sandbox.

pub mod case;
pub mod compare;
mod difference;
mod expect;
mod junit;
mod run;
mod state;
mod stub;
mod update;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use clap::Args;
use hookbox::Runtime;
use serde_json::{Map, Value, json};
use tokio::{sync::Semaphore, task::JoinHandle};

use self::{
    case::{Case, File},
    run::{CaseResult, run},
    state::CaseStates,
};
use crate::{change, exit::Exit, print, terminal::Tone, user_file};

/// Run a hook's cases: events and the expected verdicts.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  hookbox test --only \"denies rm\"")]
pub struct Test {
    /// The hook's folder, with `tests/*.yaml` and `hooks.json`
    #[arg(value_name = "FOLDER", default_value = ".")]
    folder: PathBuf,
    /// A file of cases, when they are elsewhere (may be given several times)
    #[arg(long, value_name = "FILE")]
    cases: Vec<PathBuf>,
    /// The configuration, when it is elsewhere
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Only cases whose name has this in it
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Write what is found into the cases, as what they expect from now on
    #[arg(long)]
    update: bool,
    /// Also write the results for a machine, as JUnit does
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Print the results as JSON
    #[arg(long)]
    json: bool,
}

/// A case and its result.
struct Tested<'a> {
    file: &'a File,
    case: Arc<Case>,
    went: CaseResult,
}

/// A running case.
type Running<'a> = (&'a File, Arc<Case>, JoinHandle<anyhow::Result<CaseResult>>);

impl Test {
    pub fn run(self) -> anyhow::Result<Exit> {
        if self.json {
            print::json_only();
        }
        let config = self.config.clone().unwrap_or_else(|| self.folder.join("hooks.json"));
        let Some(shipped_text) = change::read(&config)? else {
            return Err(Exit::Usage.advised(
                format!("{} does not exist", config.display()),
                &["run this in a hook's folder, give the folder or `--config FILE`, or start with `hookbox new`"],
            ));
        };
        let shipped: Map<String, Value> = serde_json::from_str(&shipped_text)
            .map_err(|error| Exit::Config.error(format!("{}: {error}", config.display())))?;
        let files = self.files()?.iter().map(|path| File::read(path)).collect::<anyhow::Result<Vec<_>>>()?;

        let workers = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        // As under `run`: naming a file with `--config` means that the caller trusts it.
        let looks = self.config.is_none().then(|| hookbox::sha256(shipped_text.as_bytes()));
        let tested = workers.block_on(self.all(&files, &shipped, &config, looks.as_deref()));
        workers.shutdown_background();
        let tested = tested?;

        if self.update {
            update::write(&files, &tested)?;
        }
        if let Some(path) = &self.junit {
            user_file::replace(path, junit::report(&tested).as_bytes())?;
        }
        let failed = tested.iter().filter(|tested| !tested.holds(self.update)).count();
        if self.json {
            let cases: Vec<Value> = tested.iter().map(|tested| tested.json(self.update)).collect();
            print::json(&json!({ "total": tested.len(), "failed": failed, "cases": cases }));
        } else {
            let cases = if tested.len() == 1 { "1 case".to_owned() } else { format!("{} cases", tested.len()) };
            print::out(format_args!("{cases}, {failed} failed"));
        }
        Ok(if failed == 0 { Exit::Ok } else { Exit::Failed })
    }

    /// The files of cases, sorted by name.
    fn files(&self) -> anyhow::Result<Vec<PathBuf>> {
        if !self.cases.is_empty() {
            return Ok(self.cases.clone());
        }
        let files = case::files(&self.folder)?;
        if files.is_empty() {
            let folder = self.folder.join("tests");
            return Err(Exit::Usage.error(format!("{} has no cases: no file ends in .yaml", folder.display())));
        }
        Ok(files)
    }

    /// Runs the cases, as many concurrently as there are processors. Prints the results in order.
    async fn all<'a>(
        &self,
        files: &'a [File],
        shipped: &Map<String, Value>,
        config: &Path,
        looks: Option<&str>,
    ) -> anyhow::Result<Vec<Tested<'a>>> {
        let stories = CaseStates::new()?;
        let runtime = Runtime::builder().compiler(super::compiler()).state(stories.clone()).build()?;
        let places = std::thread::available_parallelism().map_or(1, usize::from);
        let places = Arc::new(Semaphore::new(places));
        let wanted = |case: &&Arc<Case>| self.only.as_ref().is_none_or(|only| case.name.contains(only.as_str()));
        let mut running: Vec<Running<'_>> = Vec::new();
        for file in files {
            for case in file.cases.iter().filter(wanted) {
                let number = running.len();
                let settings = case.configuration(shipped);
                let (case_, config) = (Arc::clone(case), config.to_owned());
                let looks = looks.map(str::to_owned);
                let (runtime, stories, places) = (runtime.clone(), stories.clone(), Arc::clone(&places));
                let task = tokio::spawn(async move {
                    let _place = places.acquire_owned().await?;
                    run(&runtime, &stories, number, &case_, (&settings, &config), looks.as_deref()).await
                });
                running.push((file, Arc::clone(case), task));
            }
        }
        let mut tested = Vec::new();
        for (file, case, task) in running {
            let went = task.await?.inspect_err(|_| {
                print::err(format_args!("{}: {}", file.place(&case), print::plain(&case.name)));
            })?;
            let one = Tested { file, case, went };
            if !self.json {
                one.print(self.update);
            }
            tested.push(one);
        }
        Ok(tested)
    }
}

impl Tested<'_> {
    /// Returns true if the result is as expected, or `--update` adopts every difference.
    fn holds(&self, update: bool) -> bool {
        self.went.steps.iter().flat_map(|step| &step.differences).all(|found| update && found.part.is_some())
    }

    fn print(&self, update: bool) {
        if self.holds(update) {
            return print::marked(Tone::Good, "ok", format_args!("      {}", self.case.name));
        }
        print::marked(Tone::Bad, "FAILED", format_args!("  {}   {}", self.case.name, self.file.place(&self.case)));
        self.lines().iter().for_each(print::out);
    }

    fn json(&self, update: bool) -> Value {
        let lines: Vec<String> = self.lines().iter().map(|line| line.trim_end().to_owned()).collect();
        json!({
            "name": self.case.name, "place": self.file.place(&self.case), "passed": self.holds(update),
            "seconds": self.went.time.as_secs_f64(), "differences": lines,
        })
    }

    /// The differences, followed by the output and log of each hook.
    fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (number, step) in self.went.steps.iter().enumerate() {
            if step.differences.is_empty() {
                continue;
            }
            if self.went.steps.len() > 1 {
                lines.push(format!("   event {}", number + 1));
            }
            let found = step.differences.iter().flat_map(|difference| &difference.lines);
            lines.extend(found.chain(&step.hooks).map(|line| format!("   {line}")));
        }
        lines
    }
}
