//! Rust.

use super::{
    Project,
    template::{REASON, REFUSED, SDK_FOLDER, Template},
};

/// The SDK's manifest without the workspace of this repository. A test compares it with the original.
const MANIFEST: &str = include_str!("rust/sdk.toml");

pub struct Rust;

impl Template for Rust {
    fn name(&self) -> &'static str {
        "Rust"
    }

    fn taken(&self) -> &'static str {
        "abstract alloc as async await become box break const continue core crate do dyn else enum extern false final fn for gen \
         if impl in let loop macro match mod move mut override priv proc-macro pub ref return self static std struct super \
         test trait true try type typeof unsafe unsized use virtual wasm32-unknown-unknown where while yield"
    }

    fn sdk_name(&self) -> &'static str {
        "rust"
    }

    fn sdk_changes(&self) -> Vec<(String, String)> {
        vec![("Cargo.toml".into(), MANIFEST.into())]
    }

    fn unit_tests(&self) -> &'static str {
        "cargo test"
    }

    fn files(&self, project: &Project) -> Vec<(String, String)> {
        let manifest = format!(
            "[package]
name = \"{}\"
version = \"0.1.0\"
edition = \"2024\"

[lib]
# cdylib is the hook, rlib lets its unit tests run natively.
crate-type = [\"cdylib\", \"rlib\"]

[dependencies]
hookbox-guest = {{ path = \"{SDK_FOLDER}\" }}

[workspace]
",
            project.name
        );
        vec![
            ("Cargo.toml".into(), manifest),
            ("src/lib.rs".into(), hook(project)),
            (".gitignore".into(), "*.wasm\ntarget/\n".into()),
        ]
    }
}

fn hook(project: &Project) -> String {
    let (event, module) = (&project.event, project.event.snake());
    let name = event.pascal();
    let own = |of: &str| if event.denies() { of.to_owned() } else { format!("{module}::{of}") };
    let mut parameters = vec!["_: &EventContext".to_owned()];
    if event.call {
        parameters.push(if event.denies() { "call: &ToolCall".into() } else { "_: &ToolCall".into() });
    }
    parameters.extend(event.input.map(|(_, of)| format!("_: &{}", own(of))));
    let returns = if event.answers { own("Output") } else { "()".into() };
    let body = match (event.answers, event.denies()) {
        (false, _) => "        Ok(())\n".to_owned(),
        (true, false) => "        Ok(pass())\n".to_owned(),
        (true, true) => format!(
            "        match call.input.str(\"/command\") {{
            Some(command) if command.contains({REFUSED:?}) => Ok(deny({REASON:?})),
            _ => Ok(pass()),
        }}
"
        ),
    };
    let test = if event.denies() {
        format!(
            "
#[cfg(test)]
mod tests {{
    use hookbox_guest::prelude::*;

    use super::Hook;

    #[test]
    fn it_denies_destructive_commands() {{
        for (command, expected) in [
            (\"rm -rf /\", deny({REASON:?})),
            (\"ls\", pass()),
        ] {{
            let call = ToolCall::new(\"Bash\", json!({{ \"command\": command }}));
            assert_eq!(Hook::handle(&EventContext::default(), &call), Ok(expected));
        }}
    }}
}}
"
        )
    } else {
        String::new()
    };
    format!(
        "//! A hook for {name}.

use hookbox_guest::prelude::*;

struct Hook;

impl {name} for Hook {{
{signature} {{
{body}    }}
}}

hookbox_guest::export!(Hook: {name});
{test}",
        signature = signature(&parameters, &returns),
    )
}

/// The signature as rustfmt formats it, with a width of 100 columns.
fn signature(parameters: &[String], returns: &str) -> String {
    let line = format!("    fn handle({}) -> Result<{returns}>", parameters.join(", "));
    if line.len() + " {".len() <= 100 {
        return line;
    }
    let parameters = parameters.join(",\n        ");
    format!("    fn handle(\n        {parameters},\n    ) -> Result<{returns}>")
}
