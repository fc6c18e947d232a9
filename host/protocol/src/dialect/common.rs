//! Shared code of the dialects: reading an output object field by field, and the fields that all dialects with JSON
//! output have.

mod alias;
mod form;
pub(crate) mod known_keys;

use serde_json::{Value, json};

pub(crate) use alias::{Alias, add_aliases, drop_added, drop_aliases, take_aliases};
pub(crate) use form::{
    MARK, PERMISSION, ask_only_where_shown, mark_form, put_decision, put_permission, shows_form, take_permission,
    take_permission_denial, take_top_denial,
};

use crate::{
    event::{
        Event, Raw, decode_members, encode_fields,
        fields::FieldType,
        wire::{Wire, parse_wire},
    },
    json::{DecodeError, Json, Members, Object, token},
    output::{DECIDING, Decision, Halt, HookOutput, Note, Scope, is_unknown, join},
    protocol::{Dialect, EventSpec},
};

/// Reads the known fields of an output object. The remaining fields are kept as `extra`.
///
/// `null` counts as missing, because hooks in Python print it for fields that they leave out.
pub(crate) struct FieldReader {
    at: String,
    object: Object,
}

impl FieldReader {
    pub(crate) fn new(at: impl Into<String>, object: &Object) -> Self {
        Self { at: at.into(), object: object.clone() }
    }

    /// Takes a field of a given type.
    pub(crate) fn take<T: FieldType>(&mut self, key: &str) -> Result<Option<T>, DecodeError> {
        let Some(value) = self.object.shift_remove(key).filter(|v| !v.is_null()) else { return Ok(None) };
        T::deserialize(&value).map(Some).map_err(|_| DecodeError::wrong_type(self.pointer(key), T::EXPECTED, &value))
    }

    /// Takes a field that must be an object.
    pub(crate) fn take_object(&mut self, key: &str) -> Result<Option<Object>, DecodeError> {
        match self.object.shift_remove(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Object(object)) => Ok(Some(object)),
            Some(other) => Err(DecodeError::wrong_type(self.pointer(key), "an object", &other)),
        }
    }

    /// Takes a field that must be one of these words. Returns the value for the word.
    pub(crate) fn take_word<T: Clone>(&mut self, key: &str, words: &[(&str, T)]) -> Result<Option<T>, DecodeError> {
        let Some(word) = self.take::<String>(key)? else { return Ok(None) };
        let found = words.iter().find(|(known, _)| *known == word).map(|(_, value)| value.clone());
        found.map(Some).ok_or_else(|| DecodeError::Unknown {
            pointer: self.pointer(key),
            what: "decision",
            found: crate::json::shorten(&word, 60),
            known: words.iter().map(|(known, _)| format!("`{known}`")).collect::<Vec<_>>().join(", "),
        })
    }

    /// Returns true if a field is still there and is an object.
    pub(crate) fn is_object(&self, key: &str) -> bool {
        self.object.get(key).is_some_and(Value::is_object)
    }

    /// Removes the remaining fields that the contract knows, in any spelling, and reports those that are not null as
    /// fields without effect. `describe` makes the note's text from a key.
    pub(crate) fn drop_known(&mut self, known: &[&str], notes: &mut Vec<Note>, describe: impl Fn(&str) -> String) {
        self.object.retain(|key, value| {
            let keep = is_unknown(key, known);
            if !keep && !value.is_null() {
                notes.push(without_effect(known, key, value, describe(key)));
            }
            keep
        });
    }

    /// The fields that were not taken yet.
    pub(crate) fn left(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.object.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// Returns true if a field is still there and is not null.
    pub(crate) fn contains(&self, key: &str) -> bool {
        self.object.get(key).is_some_and(|v| !v.is_null())
    }

    pub(crate) fn pointer(&self, key: &str) -> String {
        format!("{}/{}", self.at, token(key))
    }

    /// Returns the remaining fields without nulls.
    pub(crate) fn rest(mut self) -> Object {
        self.object.retain(|_, value| !value.is_null());
        self.object
    }
}

/// Decodes an event with all its fields at the top of one JSON object. Its name is under `name_key`.
pub(crate) fn decode_flat_event(
    dialect: &dyn Dialect,
    name_key: &str,
    context_names: &[(&str, &str)],
    wire: &[u8],
    name: Option<&str>,
) -> Result<Event, DecodeError> {
    decode_flat_wire(dialect, name_key, context_names, parse_wire(wire)?, name)
}

/// [`decode_flat_event`] for a text that is already parsed.
pub(crate) fn decode_flat_wire(
    dialect: &dyn Dialect,
    name_key: &str,
    context_names: &[(&str, &str)],
    mut wire: Wire,
    name: Option<&str>,
) -> Result<Event, DecodeError> {
    let raw = wire.raw();
    let mut event = decode_fields_of_flat(dialect, name_key, context_names, wire.members, raw, name)?;
    event.notes.splice(..0, wire.notes);
    Ok(event)
}

/// [`decode_flat_wire`] for an object that is only a part of the text.
pub(crate) fn decode_fields_of_flat(
    dialect: &dyn Dialect,
    name_key: &str,
    context_names: &[(&str, &str)],
    mut fields: Members,
    raw: Raw,
    name: Option<&str>,
) -> Result<Event, DecodeError> {
    let stated = fields.take(name_key);
    check_name(dialect, stated.as_ref().and_then(|stated| stated.as_str()), name_key, name)?;
    let name = named(stated, name_key, name)?;
    let spec = dialect.spec_by_name(&name).unwrap_or(dialect.other_spec());
    decode_members(spec, name, context_names, "", fields, raw)
}

/// Returns the name of an event that carries it under `name_key`, unless the caller gives the name.
pub(crate) fn event_name(object: &Members, name_key: &str, given: Option<&str>) -> Result<String, DecodeError> {
    named(object.find(name_key).cloned(), name_key, given)
}

/// Rejects an event whose own name contradicts the given one. Two names of the same event kind agree.
///
/// decisions.md#who-is-calling: "A name that contradicts the event's own makes the event unreadable".
pub(crate) fn check_name(
    dialect: &dyn Dialect,
    stated: Option<&str>,
    name_key: &str,
    given: Option<&str>,
) -> Result<(), DecodeError> {
    let (Some(given), Some(stated)) = (given, stated) else { return Ok(()) };
    if dialect.is_one_event(given, stated) {
        return Ok(());
    }
    Err(DecodeError::Type {
        pointer: format!("/{name_key}"),
        expected: format!("`{}`, the event that was named", crate::json::shorten(given, 60)),
        found: format!("`{}`", crate::json::shorten(stated, 60)),
    })
}

fn named(stated: Option<Json>, name_key: &str, given: Option<&str>) -> Result<String, DecodeError> {
    match (given, stated) {
        (Some(name), _) => Ok(name.to_owned()),
        (None, Some(stated)) => stated.into_string().map_err(|other| {
            DecodeError::wrong_type(format!("/{name_key}"), "the event's name, a string", other.value())
        }),
        (None, None) => Err(DecodeError::Missing {
            pointer: format!("/{name_key}"),
            why: "without the event's name no hook can be chosen (or give --event NAME)".into(),
        }),
    }
}

/// Encodes an event, the inverse of [`decode_flat_event`].
pub(crate) fn encode_flat_event(
    spec: &EventSpec,
    name_key: &str,
    context_names: &[(&str, &str)],
    event: &Event,
) -> Value {
    encode_flat_object(spec, name_key, context_names, event).into()
}

/// [`encode_flat_event`] with an object as the result.
pub(crate) fn encode_flat_object(
    spec: &EventSpec,
    name_key: &str,
    context_names: &[(&str, &str)],
    event: &Event,
) -> Object {
    let mut wire = Object::new();
    wire.insert(name_key.to_owned(), event.name.clone().into());
    wire.extend(encode_fields(spec, context_names, event));
    wire
}

/// Takes the output fields that claude, codebuddy and blade share: `continue`, `stopReason`, `suppressOutput`,
/// `systemMessage`.
pub(crate) fn take_common(top: &mut FieldReader, output: &mut HookOutput) -> Result<(), DecodeError> {
    let keep_going = top.take::<bool>("continue")?;
    let reason = top.take::<String>("stopReason")?;
    if keep_going == Some(false) {
        output.halt = Some(Halt { scope: Scope::Turn, reason });
    }
    output.suppress_output = top.take::<bool>("suppressOutput")?.unwrap_or_default();
    output.system_message = top.take::<String>("systemMessage")?;
    Ok(())
}

/// Takes `hookSpecificOutput`.
///
/// decisions.md#outputs: "`hookSpecificOutput.hookEventName` that names another event makes the output invalid. When it
/// is missing, the output is accepted with a warning: dropping a deny would be worse."
pub(crate) fn take_specific(
    top: &mut FieldReader,
    event: &Event,
    notes: &mut Vec<Note>,
) -> Result<Option<FieldReader>, DecodeError> {
    let Some(specific) = top.take_object("hookSpecificOutput")? else { return Ok(None) };
    let mut specific = FieldReader::new("/hookSpecificOutput", &specific);
    match specific.take::<String>("hookEventName")? {
        Some(name) if name == event.name => {}
        Some(name) => {
            return Err(DecodeError::Type {
                pointer: "/hookSpecificOutput/hookEventName".into(),
                expected: format!("`{}`, the event at hand", event.name),
                found: format!("`{}`", crate::json::shorten(&name, 60)),
            });
        }
        None => notes.push(Note::warning("hookSpecificOutput has no hookEventName; a real client would reject it")),
    }
    Ok(Some(specific))
}

/// Writes the fields of [`take_common`]. Defaults are not written.
pub(crate) fn put_common(output: &HookOutput, wire: &mut Object) {
    if let Some(halt) = &output.halt {
        wire.insert("continue".into(), false.into());
        put_text(wire, "stopReason", halt.reason.as_ref());
    }
    if output.suppress_output {
        wire.insert("suppressOutput".into(), true.into());
    }
    put_text(wire, "systemMessage", output.system_message.as_ref());
}

/// Writes a text if there is one. A client may reject a whole output because of one null.
pub(crate) fn put_text(wire: &mut Object, key: &str, text: Option<&String>) {
    if let Some(text) = text {
        wire.insert(key.into(), text.clone().into());
    }
}

/// The new result of a tool as the text that replaces it. Strings are unchanged; other values are written as JSON.
pub(crate) fn new_result(result: &Value) -> String {
    result.as_str().map_or_else(|| result.to_string(), str::to_owned)
}

/// Adds a decision of an output that can decide in several fields.
///
/// decisions.md#outputs: "An output can contain several decisions: the strictest one counts, with the reason beside
/// it."
pub(crate) fn decide(output: &mut HookOutput, decision: Option<Decision>, reason: Option<String>) {
    let kind = decision.as_ref().map(Decision::kind);
    if kind > output.decision_kind() {
        (output.decision, output.reason) = (decision, reason);
    } else if kind.is_some() && kind == output.decision_kind() {
        output.reason = output.reason.take().or(reason);
    }
}

/// Removes known fields that have no effect here and reports them. decisions.md#outputs: "A field that the event does
/// not have, or not in this position, has no effect and is reported."
pub(crate) fn report_misplaced(fields: &mut FieldReader, known: &[&str], notes: &mut Vec<Note>) {
    let at = fields.at.clone();
    fields.drop_known(known, notes, |key| format!("{at}/{} has no effect on this event or in this place", token(key)));
}

/// The note on a known field without effect. It is a misfit in another spelling than the known one, and as a deciding
/// field that does not let the event go on.
///
/// decisions.md#outputs: "Where failures block, an output that does not fit the dialect blocks too".
pub(crate) fn without_effect(known: &[&str], key: &str, value: &Value, text: String) -> Note {
    const GO_ON: [&str; 4] = ["allow", "approve", "continue", "modify"];
    let word = value.get("behavior").unwrap_or(value);
    let goes_on = word == &Value::Bool(true) || word.as_str().is_some_and(|word| GO_ON.contains(&word));
    let note = Note::dropped(text);
    if known.contains(&key) && (goes_on || !DECIDING.contains(&key)) { note } else { note.of_misfit() }
}

/// Writes `hookSpecificOutput` with the event's name, if it has other fields.
pub(crate) fn put_specific(event: &Event, wire: &mut Object, fields: Object) {
    if !fields.is_empty() {
        let mut specific = Object::new();
        specific.insert("hookEventName".into(), event.name.clone().into());
        specific.extend(fields);
        wire.insert("hookSpecificOutput".into(), json!(specific));
    }
}

/// Merges the parts that all dialects merge in the same way: joined texts, halts (the widest scope and the first
/// reason), suppression, session environment and unknown fields.
pub(crate) fn merge_effects(outputs: &[HookOutput]) -> HookOutput {
    let mut outcome = HookOutput {
        context: join(outputs.iter().map(|a| &a.context)),
        system_message: join(outputs.iter().map(|a| &a.system_message)),
        feedback: join(outputs.iter().map(|a| &a.feedback)),
        suppress_output: outputs.iter().any(|a| a.suppress_output),
        ..HookOutput::default()
    };
    let furthest = outputs.iter().filter_map(|a| a.halt.as_ref()).map(|halt| halt.scope).max();
    if let Some(scope) = furthest {
        // decisions.md#claude: "`continue:false` from any hook gives `continue:false`, with the first `stopReason`."
        let reason = outputs.iter().filter_map(|a| a.halt.as_ref()).find_map(|halt| halt.reason.clone());
        outcome.halt = Some(Halt { scope, reason });
    }
    for output in outputs {
        // decisions.md#blade-config: "`env` maps are merged, and the last value of a key wins."
        outcome.env.extend(output.env.clone());
        merge_extra(&mut outcome.extra, &output.extra);
    }
    outcome
}

/// Merges unknown fields; later values win. `hookSpecificOutput` is merged field by field.
fn merge_extra(to: &mut Object, from: &Object) {
    for (key, value) in from {
        match (to.get_mut(key), value) {
            (Some(Value::Object(old)), Value::Object(new)) if key == "hookSpecificOutput" => old.extend(new.clone()),
            _ => {
                to.insert(key.clone(), value.clone());
            }
        }
    }
}

/// Returns the JSON pointer of the first key that an object has and its rewrite lacks. A client that merges rewrites
/// into the original would keep that key.
pub(crate) fn taken_away(original: &Value, rewrite: &Value) -> Option<String> {
    let original = original.as_object()?;
    let Some(rewrite) = rewrite.as_object() else { return Some("everything".into()) };
    original.iter().find_map(|(key, old)| match rewrite.get(key) {
        None => Some(format!("/{}", token(key))),
        Some(new) if new.is_object() => taken_away(old, new).map(|below| format!("/{}{below}", token(key))),
        Some(_) => None,
    })
}

/// Keeps the unknown fields of a hook's output. `specific` has those of `hookSpecificOutput`.
pub(crate) fn keep_extra(output: &mut HookOutput, top: FieldReader, specific: Option<FieldReader>) {
    output.extra = top.rest();
    let specific = specific.map(FieldReader::rest).unwrap_or_default();
    if !specific.is_empty() {
        output.extra.insert("hookSpecificOutput".into(), Value::Object(specific));
    }
}

/// Returns the unknown fields of `hookSpecificOutput`.
pub(crate) fn specific_extra(output: &HookOutput) -> Object {
    output.extra.get("hookSpecificOutput").and_then(Value::as_object).cloned().unwrap_or_default()
}

/// Writes the unknown top-level fields.
pub(crate) fn put_extra(output: &HookOutput, wire: &mut Object) {
    for (key, value) in output.extra.iter().filter(|(key, _)| *key != "hookSpecificOutput") {
        wire.entry(key.clone()).or_insert_with(|| value.clone());
    }
}
