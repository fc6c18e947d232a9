//! Properties that hold for any bytes in every dialect. The fuzz targets and `tests/total.rs` call these functions.

use hookbox_protocol::{
    Dialect, HookOutput,
    degrade::degrade,
    dialect::{self, EventSpec},
    json::parse_object,
};

use crate::authority_laws;

/// Chooses the dialect by the first byte.
fn choose(data: &[u8]) -> Option<(&'static dyn Dialect, &[u8])> {
    let (first, rest) = data.split_first()?;
    Some((dialect::ALL[usize::from(*first) % dialect::ALL.len()], rest))
}

fn specs(dialect: &dyn Dialect) -> impl Iterator<Item = &'static EventSpec> {
    dialect.specs().iter().chain([dialect.other_spec()])
}

/// Checks that any bytes are an event or an error, and that an event survives encoding and decoding.
pub fn decode(data: &[u8]) {
    let Some((dialect, wire)) = choose(data) else { return };
    let names = specs(dialect).map(|spec| Some(spec.name)).chain([None, Some("BrandNewEvent")]);
    for name in names {
        let Ok(event) = dialect.decode_event(wire, name) else { continue };
        let written = dialect.encode_event(&event);
        let read = dialect.decode_event(written.to_string().as_bytes(), Some(&event.name));
        let read = read.unwrap_or_else(|e| panic!("{} {}: {e}\n{written}", dialect.name(), event.name));
        assert_eq!(dialect.encode_event(&read), written, "{} {}", dialect.name(), event.name);
    }
    let _ = dialect.fail_closed(wire, None, "reason");
}

/// Checks that any lines are outputs or errors, and that the event's row can express their merge.
pub fn merge(data: &[u8]) {
    let Some((dialect, lines)) = choose(data) else { return };
    for spec in specs(dialect) {
        let (event, mut outputs) = (crate::sent(dialect, spec), Vec::new());
        let mut seen = event.clone();
        for line in lines.split(|byte| *byte == b'\n') {
            let Ok((mut output, _)) = parse_object(line).and_then(|wire| dialect.decode_output(&seen, &wire)) else {
                continue;
            };
            degrade(spec, &mut output);
            dialect.rewrite(&mut seen, &output);
            let last = dialect.stops(&seen, &output);
            outputs.push(output);
            if last {
                break;
            }
        }
        let mut outcome = dialect.merge(&event, &outputs).output;
        let before = outcome.clone();
        assert!(degrade(spec, &mut outcome).is_empty(), "{} {} cannot say {before:?}", dialect.name(), spec.name);
    }
}

/// Checks that any set of hooks obeys the laws of authority.
#[allow(dead_code)] // the tests call the laws one by one
pub fn authority(data: &[u8]) {
    let hooks = authority_laws::hooks(data);
    authority_laws::rewrites_stay_within_authority(&hooks);
    authority_laws::allows_stay_within_authority(&hooks);
    authority_laws::text_stays_within_authority(&hooks);
}

/// Checks that any output is encoded as the dialect requires: without null, and so that it can be decoded again.
/// Returns the number of encoded outputs.
pub fn encode(data: &[u8]) -> usize {
    let Some((dialect, line)) = choose(data) else { return 0 };
    let mut reached = 0;
    for spec in specs(dialect) {
        let event = crate::sent(dialect, spec);
        let Ok((mut output, _)) = parse_object(line).and_then(|wire| dialect.decode_output(&event, &wire)) else {
            continue;
        };
        degrade(spec, &mut output);
        let outcome: HookOutput = dialect.merge(&event, &[output]).output;
        let Some(written) = dialect.encode_outcome(&event, &outcome) else { continue };
        reached += 1;
        let place = || format!("{} {} {written}", dialect.name(), spec.name);
        if let Some(text) = written.as_str() {
            let read = dialect.decode_text(&event, text).unwrap_or_else(|| panic!("not understood: {}", place()));
            assert!(read.decision.is_none() && !text.trim_start().starts_with('{'), "{}", place());
            continue;
        }
        let fields = written.as_object().unwrap_or_else(|| panic!("not an object: {}", place()));
        assert!(fields.values().all(|value| !value.is_null()), "{}", place());
        let read = dialect.decode_output(&event, fields).unwrap_or_else(|e| panic!("{e}: {}", place())).0;
        assert_eq!(read.decision_kind(), again(dialect, spec, &read), "{}", place());
    }
    reached
}

/// Returns the decision after another round of merging, encoding and decoding.
fn again(dialect: &dyn Dialect, spec: &EventSpec, output: &HookOutput) -> Option<hookbox_protocol::DecisionKind> {
    let event = crate::sent(dialect, spec);
    let outcome = dialect.merge(&event, std::slice::from_ref(output)).output;
    let written = dialect.encode_outcome(&event, &outcome)?;
    dialect.decode_output(&event, written.as_object()?).unwrap().0.decision_kind()
}

/// Checks that any bytes are a component or an error before an engine reads them.
#[cfg(feature = "guest")]
pub fn component(data: &[u8]) {
    let _ = hookbox_sandbox::component::check_size(data, 64);
    let _ = hookbox_sandbox::component::inspect(data);
}

/// Checks that any bytes are a configuration or errors with their places, under every dialect. A valid configuration
/// must answer an event.
#[cfg(feature = "config")]
pub fn configuration(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let file = std::path::Path::new("/project/hooks.json");
    for dialect in dialect::ALL.iter().map(|dialect| Some(dialect.name())).chain([None]) {
        match hookbox::Config::parse(text, file, dialect) {
            Ok(loaded) => assert!(loaded.warnings.iter().all(|found| !found.is_error())),
            Err(errors) => assert!(errors.diagnostics.iter().any(hookbox::config::Diagnostic::is_error)),
        }
    }
}
