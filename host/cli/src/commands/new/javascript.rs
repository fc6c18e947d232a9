//! JavaScript and TypeScript.

use hookbox::EventKind;

use super::{
    Project,
    template::{REASON, REFUSED, SDK_FOLDER, Template},
};

const SDK: &str = "@hookbox/guest";

pub struct JavaScript;
pub struct TypeScript;

impl Template for JavaScript {
    fn name(&self) -> &'static str {
        "JavaScript"
    }

    fn sdk_name(&self) -> &'static str {
        "js"
    }

    fn unit_tests(&self) -> &'static str {
        "npm test"
    }

    fn files(&self, project: &Project) -> Vec<(String, String)> {
        let test = "node --test";
        vec![
            ("package.json".into(), manifest(project, test, "")),
            (
                "hook.js".into(),
                format!(
                    "{}\n/** @type {{import(\"{SDK}\").On{}}} */\n{}",
                    imports(project),
                    project.event.pascal(),
                    handler(project, "")
                ),
            ),
            ("hook.test.js".into(), self::test(project)),
            (".gitignore".into(), "*.wasm\n.hookbox/\nnode_modules/\n".into()),
        ]
    }

    fn links(&self) -> &'static [(&'static str, &'static str)] {
        LINKS
    }
}

impl Template for TypeScript {
    fn name(&self) -> &'static str {
        "TypeScript"
    }

    fn sdk_name(&self) -> &'static str {
        "js"
    }

    fn unit_tests(&self) -> &'static str {
        "npm install --ignore-scripts && npm test"
    }

    fn files(&self, project: &Project) -> Vec<(String, String)> {
        let of = format!(": On{}", project.event.pascal());
        let hook = format!(
            "import type {{ On{} }} from \"{SDK}\";\n{}\n{}",
            project.event.pascal(),
            imports(project),
            handler(project, &of)
        );
        let test = "tsc && node --test build/";
        vec![
            (
                "package.json".into(),
                manifest(
                    project,
                    test,
                    ",\n  \"devDependencies\": { \"@types/node\": \"^20.0.0\", \"typescript\": \"^5.0.0\" }",
                ),
            ),
            ("tsconfig.json".into(), TSCONFIG.into()),
            ("hook.ts".into(), hook),
            ("hook.test.ts".into(), self::test(project)),
            (".gitignore".into(), "*.wasm\n.hookbox/\nnode_modules/\nbuild/\n".into()),
        ]
    }

    fn links(&self) -> &'static [(&'static str, &'static str)] {
        LINKS
    }
}

/// The symlinks that `npm install` creates for a `file:` dependency, so that the first build needs no installation.
const LINKS: &[(&str, &str)] = &[("node_modules/@hookbox/guest", "../../hookbox-sdk")];

const TSCONFIG: &str = r#"{
  "compilerOptions": {
    "target": "es2022",
    "module": "nodenext",
    "strict": true,
    "outDir": "build",
    "skipLibCheck": true,
    "types": ["node"]
  },
  "include": ["*.ts"]
}
"#;

fn manifest(project: &Project, test: &str, more: &str) -> String {
    format!(
        "{{
  \"name\": \"{name}\",
  \"version\": \"0.1.0\",
  \"private\": true,
  \"type\": \"module\",
  \"scripts\": {{ \"test\": \"{test}\" }},
  \"dependencies\": {{ \"{SDK}\": \"file:./{SDK_FOLDER}\" }}{more}
}}
",
        name = project.name,
    )
}

fn imports(project: &Project) -> String {
    if project.event.denies() { format!("import {{ deny }} from \"{SDK}\";\n") } else { String::new() }
}

fn handler(project: &Project, of: &str) -> String {
    let event = &project.event;
    let call = event.call.then_some("call");
    let parameters: Vec<_> = call.into_iter().chain(event.input.map(|(name, _)| name)).collect();
    let body = if event.denies() {
        format!("  if (call.input?.command?.includes({REFUSED:?})) return deny({REASON:?});\n")
    } else {
        "  // Nothing returned is a pass.\n".to_owned()
    };
    // TypeScript reports unused parameters, unless their names start with `_`.
    let parameters: Vec<_> =
        parameters.iter().map(|name| if event.denies() { (*name).to_owned() } else { format!("_{name}") }).collect();
    format!("export const on{}{of} = ({}) => {{\n{body}}};\n", event.pascal(), parameters.join(", "))
}

/// Sample data of an event, with its required fields.
fn required(kind: EventKind) -> &'static str {
    match kind {
        EventKind::PostToolUse => "{ value: { stdout: \"README.md\" } }",
        EventKind::PostToolUseFailure => "{ error: \"no such file\" }",
        EventKind::UserPromptSubmit => "{ prompt: \"list the files\" }",
        EventKind::CanUseTool => "{ affectedPaths: [\"README.md\"] }",
        EventKind::BeforeLlm => "{ model: \"a-model\", messages: [], tools: [], options: {} }",
        EventKind::AfterLlm => "{ model: \"a-model\", response: {} }",
        EventKind::AgentEvent => "{ kind: \"turn_start\", payload: {} }",
        _ => "{}",
    }
}

fn test(project: &Project) -> String {
    let name = project.event.pascal();
    let (imports, body) = if project.event.denies() {
        let call =
            |command: &str| format!("on{name}({{ name: \"Bash\", input: {{ command: \"{command}\" }} }}, context())");
        (
            format!("import {{ deny }} from \"{SDK}\";\n"),
            format!(
                "  assert.deepEqual({}, deny({REASON:?}));\n  assert.equal({}, undefined);\n",
                call("rm -rf /"),
                call("ls")
            ),
        )
    } else {
        let call = project.event.call.then_some("toolCall(\"Bash\", { command: \"ls\" })");
        let arguments: Vec<_> = call.into_iter().chain([required(project.event.kind), "context()"]).collect();
        (String::new(), format!("  assert.equal(on{name}({}), undefined);\n", arguments.join(", ")))
    };
    let call = if project.event.call && !project.event.denies() { ", toolCall" } else { "" };
    let context = format!("import {{ context{call} }} from \"{SDK}/testing\";\n");
    format!(
        "import assert from \"node:assert/strict\";
import {{ test }} from \"node:test\";

{imports}{context}
import {{ on{name} }} from \"./hook.js\";

test(\"on{name}\", () => {{
{body}}});
"
    )
}
