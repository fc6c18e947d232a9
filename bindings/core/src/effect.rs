//! The effect of a response in a program that performs the action itself, such as an SDK that guards its tools.

use hookbox::{DecisionKind, Response};
use serde::Serialize;
use serde_json::Value;

use crate::error::{Code, Error};

/// The default reason of a refusal.
const DENIED: &str = "denied by a hook";

/// The effect of a response on an action. Both fields are empty if the action may continue unchanged.
///
/// A program that cannot replace the value obeys `refusal` alone. One that can uses `replacement` if there is one, and otherwise
/// obeys `refusal`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Effect {
    /// The value that hooks put in place of the event's own: the input of a tool, its result, a prompt. `None` if they refuse the
    /// action or want a user to be asked.
    pub replacement: Option<Replacement>,
    /// The reason not to perform the action with the event's own value, for a program that cannot ask a user.
    pub refusal: Option<String>,
}

/// A value in place of the event's own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Replacement {
    /// The value; `null` withholds a result.
    pub value: Value,
}

impl Effect {
    /// Reads the effect from a response.
    pub fn of(response: &Response) -> Self {
        let Some(verdict) = response.verdict().filter(|_| response.error.is_none()) else {
            let refusal = response.blocks.then(|| response.undelivered.clone().unwrap_or_else(|| DENIED.to_owned()));
            return Self { replacement: None, refusal };
        };
        let output = verdict.output();
        let reason = verdict.reason().filter(|reason| !reason.is_empty());
        if response.blocks {
            return Self::refused(reason.unwrap_or(DENIED).to_owned());
        }
        if output.decision_kind() >= Some(DecisionKind::Ask) {
            let reason = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
            return Self::refused(format!("this call needs a person's approval, which is not possible here{reason}"));
        }
        if output.updated_tool.is_some() {
            return Self::refused("a hook replaces this call by another one, which is not supported here".to_owned());
        }
        match &output.updated {
            Some(value) => Self {
                replacement: Some(Replacement { value: value.clone() }),
                refusal: Some("a hook rewrites this call, which is not supported here".to_owned()),
            },
            None => Self::default(),
        }
    }

    fn refused(reason: String) -> Self {
        Self { replacement: None, refusal: Some(reason) }
    }
}

/// A response and its effect as one JSON object.
///
/// # Errors
/// [`Code::System`]
pub fn to_json(response: &Response) -> Result<String, Error> {
    written(&WithEffect { response, effect: Effect::of(response) })
}

/// A response and its effect as two lines of JSON: the object of [`to_json`] without its report, and the report. A program that does not
/// read the report need not parse it, which takes longer than all the rest.
///
/// # Errors
/// [`Code::System`]
pub fn to_lines(mut response: Response) -> Result<String, Error> {
    let effect = Effect::of(&response);
    let report = response.take_report();
    let first = written(&WithEffect { response: &response, effect })?;
    Ok(first + "\n" + &written(&report)?)
}

#[derive(Serialize)]
struct WithEffect<'a> {
    #[serde(flatten)]
    response: &'a Response,
    #[serde(flatten)]
    effect: Effect,
}

fn written(value: &impl Serialize) -> Result<String, Error> {
    serde_json::to_string(value).map_err(|error| Error::new(Code::System, format!("cannot write JSON: {error}")))
}
