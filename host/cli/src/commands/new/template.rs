//! What a language's project is made of.

use super::Project;
use crate::sdk;

/// Where the SDK stands in a project, until it comes from the language's registry.
pub const SDK_FOLDER: &str = "hookbox-sdk";

/// What the hook of the template refuses, and what it says then: the same in every language.
pub const REFUSED: &str = "rm -rf";
pub const REASON: &str = "`rm -rf` is not allowed here";

/// One language.
pub trait Template {
    /// What people call it.
    fn name(&self) -> &'static str;

    /// Names that mean something else to it, with blanks between.
    fn taken(&self) -> &'static str {
        ""
    }

    /// The folder of its SDK in `sdk-guest/`.
    fn sdk_name(&self) -> &'static str;

    /// What else its SDK needs to stand in a project: files that take the place of some of it, by path.
    fn sdk_changes(&self) -> Vec<(String, String)> {
        Vec::new()
    }

    /// The project's own files.
    fn files(&self, project: &Project) -> Vec<(String, String)>;

    /// How its author runs its unit tests.
    fn unit_tests(&self) -> &'static str;

    /// Links that a package client would make: where they stand, and where they lead.
    fn links(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// The SDK, as it stands in a project.
    fn sdk(&self) -> Box<dyn Iterator<Item = (String, String)>> {
        let changes = self.sdk_changes();
        let language = self.sdk_name();
        let changed: Vec<_> = changes.iter().map(|(path, _)| path.clone()).collect();
        let same = sdk::sources(language).filter(move |(path, _)| !changed.iter().any(|changed| changed == path));
        Box::new(same.map(|(path, text)| (path.to_owned(), text.to_owned())).chain(changes))
    }
}

/// What a newcomer to the project reads first. `named` is the name of its event, where the client does not send it.
pub fn readme(project: &Project, template: &(impl Template + ?Sized), named: Option<&str>) -> String {
    let Project { name, event } = project;
    let named = named.map(|name| format!("--event {name} ")).unwrap_or_default();
    format!(
        "# {name}

A hook in {language}, called at `{event}`.

```console
$ hookbox build                 # makes {name}.wasm
$ hookbox test                  # runs the cases of tests/cases.yaml
$ {unit_tests:<29} # runs its unit tests
$ hookbox run --config hooks.json {named}< event.json
```

`hooks.json` is a configuration to try it with; `{sdk}/` is the SDK, until it comes from the language's registry.

`authority` in `hooks.json` is what the hook may decide: `\"gate\"` may deny, ask and add context. A hook that rewrites or allows
fails until its `authority` says so; `hookbox test` and `hookbox check` print the JSON to add.
",
        language = template.name(),
        event = event.kind.interface(),
        unit_tests = template.unit_tests(),
        sdk = SDK_FOLDER,
    )
}
