//! The merge vectors, which are normative. Each of them runs through every front end of [`FRONT_ENDS`].
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use std::{
    collections::BTreeSet,
    path::Path,
    process::Command,
    sync::{
        LazyLock, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use hookbox::{HookSet, Request, dialect, verdict::Status};
use hookbox_testing::{
    process::fed,
    spec::Pages,
    vectors::{self, Vector},
};
use serde_json::Value;

/// The result of a vector in a front end.
struct Made {
    wire: Option<Value>,
    notes: BTreeSet<String>,
    clause: String,
    feedback: Option<String>,
}

static PAGES: LazyLock<Pages> = LazyLock::new(Pages::read);

type FrontEnd = (&'static str, fn(&Path, &Vector) -> Made);

const FRONT_ENDS: &[FrontEnd] = &[("library", library), ("command line", command_line)];

fn library(config: &Path, vector: &Vector) -> Made {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let host = HookSet::standalone().config_file(config).unwrap_or_else(|e| panic!("{e}")).build().await.unwrap();
        let wire = vector.event.to_string();
        let response = host.decide(Request::new(wire.as_bytes()).event_name(vector.named.as_deref())).await;
        assert_eq!(response.error, None);
        let verdict = response.verdict().unwrap();
        let mut notes: BTreeSet<String> = verdict.outcome.notes.iter().map(|(_, n)| n.kind.word().to_owned()).collect();
        for hook in &verdict.hooks {
            if let Status::Ran(ran) = &hook.status {
                notes.extend(ran.notes.iter().map(|n| n.kind.word().to_owned()));
                notes.extend(ran.result.is_err().then(|| "failed".to_owned()));
            }
        }
        let feedback = response.stderr.clone();
        assert_eq!(response.exit_code, if feedback.is_some() { 2 } else { 0 });
        let wire = if feedback.is_some() {
            assert_eq!(response.stdout, "", "the client reads no JSON beside that exit code");
            verdict.wire.clone()
        } else {
            (!response.stdout.is_empty()).then(|| read_stdout(response.stdout.clone().into_bytes()))
        };
        Made { wire, notes, clause: verdict.outcome.clause.to_owned(), feedback }
    })
}

fn command_line(config: &Path, vector: &Vector) -> Made {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hookbox"));
    command.args(["run", "--diagnostics", "json", "--config"]).arg(config);
    // State of this run must not remain after the test.
    command.env("XDG_STATE_HOME", config.parent().unwrap());
    command.args(vector.named.iter().flat_map(|name| ["--event", name]));
    // Without a newline at the end, as some clients send it.
    let output = fed(&mut command, vector.event.to_string().as_bytes());
    let stderr = String::from_utf8(output.stderr).unwrap();
    if vector.feedback.is_some() {
        // decisions.md#blade-config: "`hookbox run` does the same, with that stderr alone".
        assert_eq!((output.status.code(), output.stdout.is_empty()), (Some(2), true), "{stderr}");
        let Vector { expect, notes, clause, .. } = vector;
        let feedback = Some(stderr.strip_suffix('\n').unwrap_or(&stderr).to_owned());
        return Made { wire: Some(expect.clone()), notes: notes.clone(), clause: clause.clone(), feedback };
    }
    // decisions.md#what-every-dialect-shares: "a verdict decided by hooks is always JSON on stdout with exit 0".
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    let (mut notes, mut clause) = (BTreeSet::new(), String::new());
    for line in stderr.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        let found = line["notes"].as_array().into_iter().flatten();
        notes.extend(found.map(|note| note["kind"].as_str().unwrap().to_owned()));
        notes.extend((line["verdict"] == "failed").then(|| "failed".to_owned()));
        clause.extend(line["clause"].as_str());
    }
    let wire = (!output.stdout.is_empty()).then(|| read_stdout(output.stdout));
    Made { wire, notes, clause, feedback: None }
}

/// Reads stdout as JSON, or else as plain text without the newline of the last line.
fn read_stdout(stdout: Vec<u8>) -> Value {
    serde_json::from_slice(&stdout).unwrap_or_else(|_| {
        let text = String::from_utf8(stdout).unwrap();
        text.strip_suffix('\n').unwrap_or(&text).into()
    })
}

#[test]
fn every_vector_through_every_front_end() {
    let files = vectors::all();
    let work: Vec<_> = files
        .iter()
        .flat_map(|file| file.vectors.iter().map(move |vector| (file, vector)))
        .flat_map(|(file, vector)| FRONT_ENDS.iter().map(move |front| (file, vector, front)))
        .collect();
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some((file, vector, front)) = work.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(why) = check(&file.dialect, vector, front) {
                        let place = format!("{} «{}» through the {}", file.path.display(), vector.name, front.0);
                        failures.lock().unwrap().push(format!("{place}\n  clause: {}\n  {why}", vector.clause));
                    }
                }
            });
        }
    });
    let mut failures = failures.into_inner().unwrap();
    failures.sort();
    assert!(failures.is_empty(), "{} of {}\n{}", failures.len(), work.len(), failures.join("\n"));
}

fn check(dialect: &str, vector: &Vector, front: &FrontEnd) -> Result<(), String> {
    let dir = tempfile::tempdir().unwrap();
    let config = vector.lay_out(dialect, dir.path());
    let made = std::panic::catch_unwind(|| front.1(&config, vector)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        text.or_else(|| panic.downcast_ref::<&str>().map(|t| (*t).to_owned())).unwrap_or_default()
    })?;
    let expected = Some(&vector.expect).filter(|expect| !expect.is_null());
    if !fits(expected, made.wire.as_ref()) {
        let show = |wire: Option<&Value>| wire.map_or("nothing".into(), Value::to_string);
        return Err(format!("expected {}\n  found    {}", show(expected), show(made.wire.as_ref())));
    }
    if vector.feedback != made.feedback {
        return Err(format!("the model should get {:?}, and gets {:?}", vector.feedback, made.feedback));
    }
    // A client that reads stderr gets nothing at all.
    let silent = made.wire.is_none() && made.clause.is_empty();
    let clause = if silent { &vector.clause } else { &made.clause };
    PAGES.check(clause).map_err(|why| format!("the clause of the verdict: {why}"))?;
    if vector.notes != made.notes {
        return Err(format!("the notes should be {:?}, and are {:?}", vector.notes, made.notes));
    }
    let (expected, ran) = (vector.should_run(), vectors::ran(dir.path(), vector.hooks.len()));
    if expected != ran {
        return Err(format!("hooks {expected:?} should have run, hooks {ran:?} did"));
    }
    Ok(())
}

/// Returns true if the value is the expected one. The text `*` stands for any text that is not empty, such as a
/// failure's reason.
fn fits(expected: Option<&Value>, found: Option<&Value>) -> bool {
    match (expected, found) {
        (Some(Value::String(any)), Some(Value::String(text))) if any == "*" => !text.is_empty(),
        (Some(Value::Object(expected)), Some(Value::Object(found))) => {
            expected.len() == found.len() && expected.iter().all(|(key, value)| fits(Some(value), found.get(key)))
        }
        _ => expected == found,
    }
}

#[test]
fn every_event_of_every_dialect_has_a_vector() {
    let files = vectors::all();
    let mut missing = Vec::new();
    for dialect in dialect::ALL.iter().filter(|dialect| !dialect.name().contains('@')) {
        for spec in dialect.specs() {
            let named = |vector: &Vector| {
                let event = dialect.decode_event(vector.event.to_string().as_bytes(), vector.named.as_deref());
                event.is_ok_and(|event| dialect.spec_of(&event).name == spec.name)
            };
            let mut of_dialect = files.iter().filter(|file| file.dialect == dialect.name());
            if !of_dialect.any(|file| file.vectors.iter().any(named)) {
                missing.push(format!("{} {}", dialect.name(), spec.name));
            }
        }
    }
    assert!(missing.is_empty(), "no vector for: {}", missing.join(", "));
}

#[test]
fn vector_names_are_unique_and_empty_verdicts_name_hooks() {
    for file in vectors::all() {
        let mut names = BTreeSet::new();
        for vector in &file.vectors {
            let place = format!("{} «{}»", file.path.display(), vector.name);
            assert!(names.insert(&vector.name), "{place}: two vectors are called so");
            // An empty wire is also the result without any hooks.
            assert!(!vector.expect.is_null() || vector.ran.is_some(), "{place}: `ran` says who ran");
        }
    }
}
