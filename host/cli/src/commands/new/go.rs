//! Go.

use super::{
    Project,
    template::{REASON, REFUSED, SDK_FOLDER, Template},
};

const SDK: &str = "github.com/hookbox/hookbox/sdk-guest/go";

pub struct Go;

impl Template for Go {
    fn name(&self) -> &'static str {
        "Go"
    }

    fn taken(&self) -> &'static str {
        "internal testdata vendor"
    }

    fn sdk_name(&self) -> &'static str {
        "go"
    }

    fn unit_tests(&self) -> &'static str {
        "go test"
    }

    fn files(&self, project: &Project) -> Vec<(String, String)> {
        let manifest = format!(
            "module example.com/{}\n\ngo 1.24\n\nrequire {SDK} v0.1.0\n\nreplace {SDK} => ./{SDK_FOLDER}\n",
            project.name
        );
        vec![
            ("go.mod".into(), manifest),
            ("main.go".into(), hook(project)),
            ("main_test.go".into(), test(project)),
            (".gitignore".into(), "*.wasm\n.hookbox/\n".into()),
        ]
    }
}

fn hook(project: &Project) -> String {
    let (event, package) = (&project.event, project.event.flat());
    let mut parameters = vec!["_ hook.EventContext".to_owned()];
    if event.call {
        parameters.push(if event.denies() { "call hook.ToolCall".into() } else { "_ hook.ToolCall".into() });
    }
    parameters.extend(event.input.map(|(_, of)| format!("_ {package}.{of}")));
    let (returns, body) = match (event.answers, event.denies()) {
        (false, _) => ("error".to_owned(), "\treturn nil\n".to_owned()),
        (true, false) => (format!("({package}.Output, error)"), format!("\treturn {package}.Pass(), nil\n")),
        (true, true) => (
            format!("({package}.Output, error)"),
            format!(
                "\tif strings.Contains(call.Input.String(\"/command\"), {REFUSED:?}) {{\n\t\treturn {package}.Deny({REASON:?}), nil\n\t}}\n\treturn {package}.Pass(), nil\n"
            ),
        ),
    };
    let strings = if event.denies() { "\t\"strings\"\n\n" } else { "" };
    format!(
        "// {title} is a hook for {name}.
package main

import (
{strings}{packages})

func init() {{ {package}.Handle(handle) }}

func main() {{}}

func handle({parameters}) {returns} {{
{body}}}
",
        title = title(&project.name),
        name = event.pascal(),
        packages = imports(&["hook", &package]),
        parameters = parameters.join(", "),
    )
}

fn test(project: &Project) -> String {
    let (event, package) = (&project.event, project.event.flat());
    let call = |command: &str| format!("hook.NewToolCall(\"Bash\", map[string]any{{\"command\": {command}}})");
    let mut arguments = vec!["hook.EventContext{}".to_owned()];
    if event.call {
        arguments.push(call(if event.denies() { "command" } else { "\"ls\"" }));
    }
    arguments.extend(event.input.map(|(_, of)| format!("{package}.{of}{{}}")));
    let arguments = arguments.join(", ");
    let body = match (event.answers, event.denies()) {
        (false, _) => format!("\tif err := handle({arguments}); err != nil {{\n\t\tt.Fatal(err)\n\t}}\n"),
        (true, false) => {
            format!("\toutput, err := handle({arguments})\n\thooktest.Equal(t, output, err, {package}.Pass())\n")
        }
        (true, true) => format!(
            "\tfor command, expected := range map[string]{package}.Output{{\n\t\t\"rm -rf /\": {package}.Deny({REASON:?}),\n\t\t\"ls\":       {package}.Pass(),\n\t}} {{\n\t\toutput, err := handle({arguments})\n\t\thooktest.Equal(t, output, err, expected)\n\t}}\n"
        ),
    };
    let hooktest = event.answers.then_some("hooktest");
    let packages: Vec<_> = ["hook", &package].into_iter().chain(hooktest).collect();
    let packages = imports(&packages);
    format!(
        "package main

import (
\t\"testing\"

{packages})

func TestHandle(t *testing.T) {{
{body}}}
"
    )
}

/// Import lines for packages of the SDK, in the order of gofmt.
fn imports(packages: &[&str]) -> String {
    let mut packages = packages.to_vec();
    packages.sort_unstable();
    let lines: Vec<_> = packages.iter().map(|package| format!("\t\"{SDK}/{package}\"\n")).collect();
    lines.concat()
}

fn title(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
