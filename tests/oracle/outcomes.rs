//! Random hook outcomes, and functions that all oracles share.

use serde_json::{Map, Value};

/// The outcome of one hook.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// The hook printed this object.
    Printed(Value),
    /// The hook blocked with exit code 2 and this text on stderr.
    Blocked(&'static str),
    /// The hook failed, with this failure policy: `ignore`, `deny` or `ask`.
    Failed(&'static str),
}

/// Placeholder for hookbox's message on a failed hook. decisions.md#failures: "with a reason that names the hook and
/// the cause".
pub const FAILED: &str = "(failed)";

/// Placeholder for a reason whose wording the pages leave to hookbox.
pub const OURS: &str = "(ours)";

/// Returns true if a verdict is the expected one. [`FAILED`] and [`OURS`] match any text.
pub fn agrees(expected: &Value, found: &Value) -> bool {
    match (expected, found) {
        (Value::Object(expected), Value::Object(found)) => {
            expected.len() == found.len()
                && expected.iter().all(|(key, value)| found.get(key).is_some_and(|found| agrees(value, found)))
        }
        (Value::String(expected), Value::String(found)) => {
            let (expected, found): (Vec<_>, Vec<_>) = (expected.split('\n').collect(), found.split('\n').collect());
            expected.len() == found.len() && expected.iter().zip(found).all(|(expected, found)| line(expected, found))
        }
        _ => expected == found,
    }
}

fn line(expected: &str, found: &str) -> bool {
    match expected {
        FAILED => ["h", "trap", "out of luck"].iter().all(|named| found.contains(named)),
        OURS => !found.trim().is_empty(),
        _ => expected == found,
    }
}

/// SplitMix64 generator: the same outcomes in every run.
pub struct Dice(pub u64);

impl Dice {
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % n as u64).unwrap()
    }
    pub fn one<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}

/// The fields that hooks print: JSON pointer, valid values, invalid values. `$event` stands for the event's name.
pub type Fields = [(&'static str, &'static [&'static str], &'static [&'static str])];

/// The fields of one event, parsed.
pub struct Table(Vec<(Vec<&'static str>, Vec<Value>, Vec<Value>)>);

impl Table {
    pub fn new(event: &str, fields: &Fields) -> Self {
        let values = |texts: &[&str]| -> Vec<Value> {
            texts.iter().map(|text| serde_json::from_str(&text.replace("$event", event)).unwrap()).collect()
        };
        let path = |pointer: &'static str| pointer.split('/').skip(1).collect();
        Self(fields.iter().map(|(at, good, bad)| (path(at), values(good), values(bad))).collect())
    }

    /// Makes a random outcome, usually an object. Each field has a chance of one in three, and is sometimes null or invalid.
    pub fn outcome(&self, dice: &mut Dice, failures: &[&'static str]) -> Outcome {
        match dice.below(12) {
            0 => Outcome::Blocked(["stderr one", "stderr two"][dice.below(2)]),
            1 => Outcome::Failed(failures[dice.below(failures.len())]),
            _ => Outcome::Printed(self.object(dice)),
        }
    }

    fn object(&self, dice: &mut Dice) -> Value {
        let mut object = Value::Object(Map::new());
        let bad_one = dice.below(self.0.len() * 8);
        for (index, (path, good, bad)) in self.0.iter().enumerate() {
            let value = if index == bad_one && !bad.is_empty() {
                dice.one(bad).clone()
            } else if dice.below(3) == 0 {
                if dice.below(12) == 0 { Value::Null } else { dice.one(good).clone() }
            } else {
                continue;
            };
            put(&mut object, path, value);
        }
        object
    }
}

fn put(into: &mut Value, path: &[&str], value: Value) {
    // An invalid value may stand where an object belongs. The values below it are then left out.
    let (Value::Object(object), Some((head, rest))) = (into, path.split_first()) else { return };
    if rest.is_empty() {
        object.insert((*head).to_owned(), value);
    } else {
        put(object.entry(*head).or_insert_with(|| Value::Object(Map::new())), rest, value);
    }
}

/// Returns the value at a pointer, or null if it is missing.
pub fn at(value: &Value, pointer: &str) -> Value {
    value.pointer(pointer).cloned().unwrap_or_default()
}

/// Returns true if the value at each pointer is missing, null or of the type.
pub fn all(value: &Value, pointers: &[&str], is: fn(&Value) -> bool) -> bool {
    pointers.iter().map(|p| at(value, p)).all(|v| v.is_null() || is(&v))
}

/// Returns a denial in the form of a permission request, as a word and its reason. `None`: the reason is not a string.
///
/// decisions.md#outputs: "A deny or ask in the form or position of another event is understood on every event".
pub fn denied_elsewhere(inner: &Value) -> Option<(&'static str, Value)> {
    if at(inner, "/decision/behavior") != "deny" {
        return Some(("", Value::Null));
    }
    let message = at(inner, "/decision/message");
    (message.is_null() || message.is_string()).then_some(("deny", message))
}

/// Joins texts with a newline and skips nulls. Returns null if there are no texts.
pub fn joined(texts: impl IntoIterator<Item = Value>) -> Value {
    let texts: Vec<String> = texts.into_iter().filter_map(|t| t.as_str().map(str::to_owned)).collect();
    if texts.is_empty() { Value::Null } else { texts.join("\n").into() }
}

/// Removes nulls from an object, and the objects of `inner` that are then empty.
pub fn tidy(mut object: Map<String, Value>, inner: &[&str]) -> Map<String, Value> {
    for (key, value) in &mut object {
        if let (true, Value::Object(below)) = (inner.contains(&key.as_str()), &mut *value) {
            let below = tidy(std::mem::take(below), inner);
            *value = if below.is_empty() { Value::Null } else { below.into() };
        }
    }
    object.retain(|_, value| !value.is_null());
    object
}

/// The output of one hook under a dialect whose hooks vote. Null is a missing value.
#[derive(Debug, Default)]
pub struct Said {
    pub decision: &'static str,
    pub reason: Value,
    pub updated: Value,
    pub context: Value,
    pub message: Value,
    pub halts: bool,
    pub halt_reason: Value,
    pub suppresses: bool,
    pub interrupts: bool,
    /// claude: `updatedPermissions`.
    pub permissions: Value,
    /// blade: `env`.
    pub env: Map<String, Value>,
    /// True if the hook decided by `permissionDecision`.
    pub in_form: bool,
    /// Unknown fields, at the top and inside `hookSpecificOutput`.
    pub beside: Map<String, Value>,
    pub inside: Map<String, Value>,
}

impl Said {
    /// Reads the fields that all these dialects have, and the unknown ones. `None`: a field has the wrong type.
    pub fn common(event: &str, printed: &Value, known: &[&str]) -> Option<Self> {
        let inner = at(printed, "/hookSpecificOutput");
        let well = all(printed, &["/continue", "/suppressOutput"], Value::is_boolean)
            && all(printed, &["/stopReason", "/systemMessage", "/reason"], Value::is_string)
            && all(printed, &["/hookSpecificOutput"], Value::is_object)
            && all(&inner, &["/additionalContext"], Value::is_string)
            && [Value::Null, event.into()].contains(&at(&inner, "/hookEventName"));
        let halts = at(printed, "/continue") == false;
        well.then(|| Self {
            halts,
            halt_reason: if halts { at(printed, "/stopReason") } else { Value::Null },
            suppresses: at(printed, "/suppressOutput") == true,
            message: at(printed, "/systemMessage"),
            context: at(&inner, "/additionalContext"),
            beside: unknown(printed, known),
            inside: unknown(&inner, known),
            ..Self::default()
        })
    }
}

/// Returns the output that an outcome counts as. `printed` reads an object, and returns `None` for a failed hook.
pub fn read(outcome: &Outcome, blockable: bool, printed: impl Fn(&Value) -> Option<Said>) -> Said {
    match outcome {
        Outcome::Printed(wire) => printed(wire).unwrap_or_default(),
        Outcome::Blocked(reason) => Said { decision: "deny", reason: (*reason).into(), ..Said::default() },
        Outcome::Failed(decision) if *decision != "ignore" && blockable => {
            Said { decision, reason: FAILED.into(), ..Said::default() }
        }
        Outcome::Failed(_) => Said::default(),
    }
}

/// Degrades an output to the nearest safer thing that the event can express. A denial that it cannot express becomes
/// context. Context without a field becomes a message to the user.
pub fn fit(mut said: Said, words: &[&str], context: bool) -> Said {
    let decision = match said.decision {
        decision if words.contains(&decision) => decision,
        "defer" if words.contains(&"ask") => "ask",
        "defer" | "ask" if words.contains(&"deny") => "deny",
        _ => "",
    };
    if decision.is_empty() && !["", "allow"].contains(&said.decision) {
        said.context = joined([said.context, said.reason.take()]);
    }
    said.decision = decision;
    if !context {
        said.message = joined([said.message, said.context.take()]);
    }
    said
}

/// Merges the outputs except for decisions: the top-level fields, and those of `hookSpecificOutput`.
pub fn effects(hooks: &[Said]) -> (Map<String, Value>, Map<String, Value>) {
    let (mut top, mut inside) = (Map::new(), Map::new());
    for hook in hooks {
        top.extend(hook.beside.clone());
        inside.extend(hook.inside.clone());
    }
    if hooks.iter().any(|h| h.halts) {
        top.insert("continue".into(), false.into());
        let reason = hooks.iter().map(|h| h.halt_reason.clone()).find(|r| !r.is_null());
        top.insert("stopReason".into(), reason.unwrap_or_default());
    }
    if hooks.iter().any(|h| h.suppresses) {
        top.insert("suppressOutput".into(), true.into());
    }
    top.insert("systemMessage".into(), joined(hooks.iter().map(|h| h.message.clone())));
    inside.insert("additionalContext".into(), joined(hooks.iter().map(|h| h.context.clone())));
    let env: Map<_, _> = hooks.iter().flat_map(|h| h.env.clone()).collect();
    inside.insert("env".into(), if env.is_empty() { Value::Null } else { env.into() });
    (top, inside)
}

/// Writes the whole output.
pub fn output(event: &str, mut top: Map<String, Value>, inside: Map<String, Value>) -> Value {
    let inside = tidy(inside, &["decision"]);
    if !inside.is_empty() {
        let named: Map<_, _> = [("hookEventName".into(), event.into())].into_iter().chain(inside).collect();
        top.insert("hookSpecificOutput".into(), named.into());
    }
    tidy(top, &[]).into()
}

/// Returns the fields of an object that are not in the list and not null.
pub fn unknown(object: &Value, known: &[&str]) -> Map<String, Value> {
    let fields = object.as_object().cloned().unwrap_or_default();
    fields.into_iter().filter(|(key, value)| !value.is_null() && !known.contains(&key.as_str())).collect()
}

/// Returns the decision under a pointer in claude's words; empty if it is missing. `None`: the word is unknown.
pub fn word(of: &Value, pointer: &str, words: &[&'static str]) -> Option<&'static str> {
    let found = at(of, pointer);
    if found.is_null() {
        return Some("");
    }
    match *words.iter().find(|word| found == **word)? {
        "block" => Some("deny"),
        "approve" => Some("allow"),
        word => Some(word),
    }
}

/// Returns the decision that comes first in `order`, with its first reason.
pub fn strictest(order: &[&'static str], said: &[(&'static str, Value)]) -> (&'static str, Value) {
    let decision = *order.iter().find(|decision| said.iter().any(|(r, _)| r == *decision)).unwrap_or(&"");
    let reason = said.iter().filter(|(r, _)| *r == decision && !decision.is_empty()).map(|(_, reason)| reason.clone());
    (decision, reason.clone().find(|r| !r.is_null()).unwrap_or_default())
}
