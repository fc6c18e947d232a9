//! A tool of the hook's own: the model is told of it before each request, and the hook answers in its place. Nothing needs
//! to be registered with the client.

mod chart;

use hookbox_guest::prelude::*;

const TOOL: &str = "bar_chart";

struct PluginTool;

impl BeforeLlm for PluginTool {
    fn handle(_: &EventContext, request: &before_llm::Event) -> Result<before_llm::Output> {
        let mut tools = request.tools.value().as_array().cloned().unwrap_or_default();
        if tools.iter().any(|tool| tool.pointer("/function/name") == Some(&json!(TOOL))) {
            return Ok(pass());
        }
        tools.push(definition());
        Ok(pass().rewrite(json!({ "tools": tools })))
    }
}

impl PreToolUse for PluginTool {
    fn handle(_: &EventContext, call: &ToolCall) -> Result<Output> {
        if call.name != TOOL {
            return Ok(pass());
        }
        Ok(match numbers(call.input.value()) {
            Ok(values) => {
                let media = json!({ "media": [chart::data_url(&values)], "artifact_tags": ["[artifact:chart.svg]"] });
                let told = format!("A chart of {} values was shown to the user.", values.len());
                respond(pre_tool_use::Response::new(told).for_user("Here is the chart.").extra(media))
            }
            // The model can do better next time.
            Err(why) => respond(pre_tool_use::Response::new(why).error()),
        })
    }
}

hookbox_guest::export!(PluginTool: BeforeLlm, PreToolUse);

/// What the model is told of the tool.
fn definition() -> Value {
    json!({
        "type": "function",
        "function": {
            "name": TOOL,
            "description": "Shows the user a bar chart.",
            "parameters": {
                "type": "object",
                "properties": {
                    "values": { "type": "array", "items": { "type": "number", "minimum": 0 }, "minItems": 1, "maxItems": 50 },
                },
                "required": ["values"],
            },
        },
    })
}

fn numbers(arguments: &Value) -> Result<Vec<f64>, String> {
    let wrong = || "`values` must be an array of 1 to 50 numbers, none below 0".to_owned();
    let values = arguments.get("values").and_then(Value::as_array).filter(|values| (1..=50).contains(&values.len()));
    let number = |value: &Value| value.as_f64().filter(|number| *number >= 0.0).ok_or_else(wrong);
    values.ok_or_else(wrong)?.iter().map(number).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;

    fn asked(tools: Value) -> Result<before_llm::Output> {
        let request = before_llm::Event { tools: tools.into(), ..before_llm::Event::default() };
        <PluginTool as BeforeLlm>::handle(&EventContext::default(), &request)
    }

    #[test]
    fn the_model_is_told_of_the_tool_once() {
        let other = json!({ "type": "function", "function": { "name": "exec" } });
        let both = json!([other, definition()]);
        assert_eq!(asked(json!([other])), Ok(pass().rewrite(json!({ "tools": both }))));
        assert_eq!(asked(both), Ok(pass()));
        assert_eq!(asked(Value::Null), Ok(pass().rewrite(json!({ "tools": [definition()] }))));
    }

    #[test]
    fn what_cannot_be_drawn_is_an_error_for_the_model() {
        for values in [json!(null), json!([]), json!(["1"]), json!([-1]), json!(vec![1; 51])] {
            let call = ToolCall::new(TOOL, json!({ "values": values }));
            let output = <PluginTool as PreToolUse>::handle(&EventContext::default(), &call);
            let wrong = "`values` must be an array of 1 to 50 numbers, none below 0";
            assert_eq!(output, Ok(respond(pre_tool_use::Response::new(wrong).error())), "{values}");
        }
    }
}
