//! Every merge agrees with a simple second implementation of its specification on 100,000 random hook outcomes.
#![allow(
    clippy::doc_markdown,
    clippy::struct_excessive_bools,
    missing_docs,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod blade;
mod blade_callback;
mod blade_observed;
mod claude;
mod codebuddy;
mod codex;
mod copilot;
mod gemini;
mod opencode;
mod outcomes;
mod picoclaw;
mod suites;

use hookbox_protocol::{
    Cause, Dialect, Event, Failure, FailurePolicy, HookOutput,
    command::CommandOutput,
    degrade,
    dialect::{self, Flow},
    failure,
};
use outcomes::{Dice, Outcome, Table, agrees};
use serde_json::Value;
use suites::{
    BLADE, BLADE_CALLBACK, BLADE_OBSERVED, CLAUDE, CODEBUDDY, CODEX, COPILOT, GEMINI, OPENCODE, PICOCLAW, Suite,
};

/// Returns the output of one hook, as the pipeline would make it.
fn output(dialect: &dyn Dialect, event: &Event, outcome: &Outcome) -> HookOutput {
    let spec = dialect.spec_by_name(&event.name).unwrap_or(dialect.other_spec());
    let failed_output = |policy| failure::failed_output(spec, "h", &Failure::new(Cause::Trap, "out of luck"), policy).0;
    let default = |cause| failed_output(dialect.default_policy(event.kind(), cause));
    let mut output = match outcome {
        Outcome::Blocked(reason) => {
            let ended = CommandOutput { code: Some(2), stdout: b"", stderr: reason.as_bytes() };
            dialect.read_command(event, &ended).map_or_else(|failure| default(failure.cause), |(output, _)| output)
        }
        Outcome::Failed("deny") => failed_output(FailurePolicy::Deny),
        Outcome::Failed("ask") => failed_output(FailurePolicy::Ask),
        Outcome::Failed(_) => default(Cause::Trap),
        Outcome::Printed(wire) => match dialect.decode_output(event, wire.as_object().unwrap()) {
            Ok((output, _)) => output,
            Err(_) => default(Cause::BadOutput),
        },
    };
    degrade::degrade(spec, &mut output);
    output
}

fn outcome(dialect: &dyn Dialect, event: &Event, outcomes: &[Outcome]) -> Value {
    let (mut seen, mut outputs) = (event.clone(), Vec::new());
    for outcome in outcomes {
        let output = output(dialect, &seen, outcome);
        if dialect.flow() == Flow::Chained {
            dialect.rewrite(&mut seen, &output);
        }
        let last = dialect.stops(&seen, &output);
        outputs.push(output);
        if last {
            break;
        }
    }
    dialect.encode_outcome(event, &dialect.merge(event, &outputs).output).unwrap_or_default()
}

impl Suite {
    fn agrees_with(&self, oracle: impl Fn(&Event, &[Outcome]) -> Value) {
        let dialect = dialect::by_name(self.dialect).expect("a dialect");
        let decode = |wire: &&str| dialect.decode_event(wire.as_bytes(), None).expect("an event");
        let events = self.events.iter().map(decode).map(|event| (Table::new(&event.name, self.fields), event));
        let events: Vec<(Table, Event)> = events.collect();
        let mut missing = self.landmarks.to_vec();
        let (mut dice, mut left) = (Dice(1), self.outcomes);
        while left > 0 {
            let (table, event) = dice.one(&events);
            // `canUseTool` is one handler beside `hooks`: `docs/configuration.md`.
            let hooks = dice.below(if event.name == "canUseTool" { 2 } else { 5 });
            let outcomes: Vec<Outcome> = (0..hooks).map(|_| table.outcome(&mut dice, self.failures)).collect();
            left = left.saturating_sub(hooks);
            let (expected, found) = (oracle(event, &outcomes), outcome(dialect, event, &outcomes));
            let case = || format!("{} {}\n{outcomes:#?}", self.dialect, event.name);
            assert!(agrees(&expected, &found), "\n{}\nmerge  {found}\noracle {expected}", case());
            if !missing.is_empty() {
                let text = expected.to_string();
                missing.retain(|landmark| !text.contains(landmark));
            }
        }
        assert!(missing.is_empty(), "{}: no verdict has {missing:?}", self.dialect);
    }
}

/// The known fields of an oracle occur in its pages. decisions.md#outputs: "Unknown fields are passed on".
#[test]
fn the_fields_that_an_oracle_knows_stand_in_its_pages() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/spec");
    for (pages, known) in [
        (&["claude", "claude-events-now"][..], claude::KNOWN),
        // The client obeys Claude Code's form besides its own: decisions.md#the-real-codebuddy.
        (&["codebuddy", "claude"], codebuddy::KNOWN),
        (&["blade"], blade::KNOWN),
        (&["blade", "blade-observed"], blade_observed::KNOWN),
        (&["gemini"], gemini::KNOWN),
        (&["opencode", "claude", "claude-events-now"], opencode::KNOWN),
    ] {
        let read = |page: &&str| std::fs::read_to_string(folder.join(format!("{page}.md"))).unwrap();
        let text: String = pages.iter().chain(&["decisions"]).map(read).collect();
        for field in known {
            let quoted = [format!("`{field}"), format!(".{field}`"), format!("\"{field}\"")];
            assert!(quoted.iter().any(|quoted| text.contains(quoted)), "{pages:?} do not have {field}");
        }
    }
}

#[test]
fn claude_follows_its_specification() {
    CLAUDE.agrees_with(|event, outcomes| claude::verdict(false, &event.name, outcomes));
}

#[test]
fn claude_observed_follows_the_client() {
    let suite = Suite {
        dialect: "claude@observed",
        outcomes: 20_000,
        landmarks: &[r#""permissionDecision":"defer""#],
        ..CLAUDE
    };
    suite.agrees_with(|event, outcomes| claude::verdict(true, &event.name, outcomes));
}

#[test]
fn blade_callback_follows_its_specification() {
    BLADE_CALLBACK.agrees_with(|event, outcomes| blade_callback::verdict(false, &event.raw, outcomes));
}

#[test]
fn blade_callback_observed_follows_the_sdk() {
    let suite = Suite {
        dialect: "blade-callback@observed",
        outcomes: 50_000,
        landmarks: &[
            r#""modifiedInput":{"userPrompt":"p1"}"#,
            r#""action":"skip","reason":"(ours)""#,
            r#""message":"(ours)""#,
        ],
        ..BLADE_CALLBACK
    };
    suite.agrees_with(|event, outcomes| blade_callback::verdict(true, &event.raw, outcomes));
}

#[test]
fn picoclaw_follows_its_specification() {
    PICOCLAW.agrees_with(|event, outcomes| picoclaw::verdict(&event.raw, outcomes));
}

#[test]
fn codebuddy_follows_its_specification() {
    CODEBUDDY.agrees_with(|event, outcomes| codebuddy::verdict(false, &event.name, outcomes));
}

#[test]
fn codebuddy_observed_follows_the_client() {
    let suite = Suite {
        dialect: "codebuddy@observed",
        outcomes: 20_000,
        landmarks: &[r#""permissionDecision":"ask""#, r#""permissionDecision":"allow""#],
        ..CODEBUDDY
    };
    suite.agrees_with(|event, outcomes| codebuddy::verdict(true, &event.name, outcomes));
}

#[test]
fn blade_follows_its_specification() {
    BLADE.agrees_with(|event, outcomes| blade::verdict(&event.name, outcomes));
}

#[test]
fn copilot_follows_its_specification() {
    COPILOT.agrees_with(|event, outcomes| copilot::verdict(&event.name, outcomes));
}

#[test]
fn opencode_follows_its_specification() {
    OPENCODE.agrees_with(|event, outcomes| opencode::verdict(&event.name, outcomes));
}

#[test]
fn blade_observed_follows_the_programs() {
    BLADE_OBSERVED.agrees_with(|event, outcomes| blade_observed::verdict(&event.raw, outcomes));
}

#[test]
fn codex_follows_its_specification() {
    CODEX.agrees_with(|event, outcomes| codex::verdict(&event.raw, outcomes));
}

#[test]
fn gemini_follows_its_specification() {
    GEMINI.agrees_with(|event, outcomes| gemini::verdict(&event.raw, outcomes));
}
