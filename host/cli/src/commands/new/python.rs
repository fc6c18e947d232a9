//! Python.

use hookbox::EventKind;

use super::{
    Project,
    template::{REASON, REFUSED, SDK_FOLDER, Template},
};

pub struct Python;

impl Template for Python {
    fn name(&self) -> &'static str {
        "Python"
    }

    fn taken(&self) -> &'static str {
        include_str!("python/taken.txt")
    }

    fn sdk_name(&self) -> &'static str {
        "python"
    }

    fn unit_tests(&self) -> &'static str {
        "PYTHONPATH=hookbox-sdk/src python3 -m unittest"
    }

    fn files(&self, project: &Project) -> Vec<(String, String)> {
        let module = project.name.replace('-', "_");
        let manifest = format!(
            "[project]
name = \"{}\"
version = \"0.1.0\"
requires-python = \">=3.11\"
dependencies = [\"hookbox-guest\"]

[tool.pytest.ini_options]
pythonpath = [\"{SDK_FOLDER}/src\"]
",
            project.name
        );
        vec![
            ("pyproject.toml".into(), manifest),
            (format!("{module}.py"), hook(project)),
            (format!("test_{module}.py"), test(project, &module)),
            (".gitignore".into(), "*.wasm\n.hookbox/\n__pycache__/\n".into()),
        ]
    }
}

fn hook(project: &Project) -> String {
    let event = &project.event;
    let call = event.call.then_some("call: ToolCall".to_owned());
    let input = event.input.map(|(name, of)| match of {
        "Event" => format!("{name}: {}", input_type(project)),
        of => format!("{name}: {}", input_name(of)),
    });
    let parameters: Vec<_> = call.into_iter().chain(input).collect();
    let decorator = format!("on_{}", event.snake());
    let (words, body) = if event.denies() {
        let body = format!(
            "    command = call.input.get(\"command\")\n    if isinstance(command, str) and {REFUSED:?} in command:\n        return deny({REASON:?})\n    return None\n"
        );
        (vec!["ToolCall", "deny"], body)
    } else {
        (if event.call { vec!["ToolCall"] } else { Vec::new() }, "    return None\n".to_owned())
    };
    let mut words: Vec<String> = words.into_iter().map(str::to_owned).collect();
    words
        .extend(event.input.map(|(_, of)| if of == "Event" { input_type(project) } else { input_name(of).to_owned() }));
    words.push(decorator.clone());
    words.sort_by_key(|word| (word.starts_with(char::is_lowercase), word.clone()));
    format!(
        "\"\"\"A hook for {name}.\"\"\"

from hookbox import {words}


@{decorator}
def handle({parameters}):
{body}",
        name = event.pascal(),
        words = words.join(", "),
        parameters = parameters.join(", "),
    )
}

/// The type of an event, such as `StopEvent`. `AgentEvent` keeps its name.
fn input_type(project: &Project) -> String {
    let name = project.event.pascal();
    if name.ends_with("Event") { name.to_owned() } else { format!("{name}Event") }
}

/// The type of the data beside a tool call.
fn input_name(of: &str) -> &str {
    if of == "Failure" { "ToolFailure" } else { of }
}

/// The required fields of an event.
fn required(kind: EventKind) -> &'static str {
    match kind {
        EventKind::PostToolUseFailure => "error=\"no such file\"",
        EventKind::UserPromptSubmit => "prompt=\"list the files\"",
        EventKind::BeforeLlm | EventKind::AfterLlm => "model=\"a-model\"",
        EventKind::AgentEvent => "kind=\"turn_start\"",
        _ => "",
    }
}

fn test(project: &Project, module: &str) -> String {
    let (imports, body) = if project.event.denies() {
        (
            "from hookbox import ToolCall, deny\n".to_owned(),
            format!(
                "        for command, expected in {{\"rm -rf /\": deny({REASON:?}), \"ls\": None}}.items():
            call = ToolCall(name=\"Bash\", input={{\"command\": command}})
            self.assertEqual(handle(call), expected)
"
            ),
        )
    } else {
        let call = project.event.call.then_some(("ToolCall", "name=\"Bash\", input={\"command\": \"ls\"}".to_owned()));
        let input =
            project.event.input.map(|(_, of)| if of == "Event" { input_type(project) } else { input_name(of).into() });
        let input = input.as_deref().map(|of| (of, required(project.event.kind).to_owned()));
        let arguments: Vec<_> = call.into_iter().chain(input).collect();
        let mut words: Vec<_> = arguments.iter().map(|(of, _)| *of).collect();
        words.sort_unstable();
        let arguments: Vec<_> = arguments.iter().map(|(of, fields)| format!("{of}({fields})")).collect();
        (
            format!("from hookbox import {}\n", words.join(", ")),
            format!("        self.assertIsNone(handle({}))\n", arguments.join(", ")),
        )
    };
    format!(
        "import unittest

{imports}
from {module} import handle


class TestHandle(unittest.TestCase):
    def test_handle(self) -> None:
{body}"
    )
}
