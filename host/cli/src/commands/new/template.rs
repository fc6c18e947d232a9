//! The parts of a project that depend on its language.

use super::Project;
use crate::sdk;

/// The folder of the SDK in a project, until it comes from the language's registry.
pub const SDK_FOLDER: &str = "hookbox-sdk";

/// The command that the template's hook denies, and the reason: the same in every language.
pub const REFUSED: &str = "rm -rf";
pub const REASON: &str = "`rm -rf` is not allowed here";

/// The template of one language.
pub trait Template {
    /// The name of the language.
    fn name(&self) -> &'static str;

    /// Reserved names in this language, separated by blanks.
    fn taken(&self) -> &'static str {
        ""
    }

    /// The folder of its SDK in `sdk-guest/`.
    fn sdk_name(&self) -> &'static str;

    /// Files that replace files of the SDK in a project, by path.
    fn sdk_changes(&self) -> Vec<(String, String)> {
        Vec::new()
    }

    /// The project's own files.
    fn files(&self, project: &Project) -> Vec<(String, String)>;

    /// The command that runs its unit tests.
    fn unit_tests(&self) -> &'static str;

    /// Symlinks that a package manager would create: path and target of each.
    fn links(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// The files of the SDK in a project.
    fn sdk(&self) -> Box<dyn Iterator<Item = (String, String)>> {
        let changes = self.sdk_changes();
        let language = self.sdk_name();
        let changed: Vec<_> = changes.iter().map(|(path, _)| path.clone()).collect();
        let same = sdk::sources(language).filter(move |(path, _)| !changed.iter().any(|changed| changed == path));
        Box::new(same.map(|(path, text)| (path.to_owned(), text.to_owned())).chain(changes))
    }
}

/// The README of a project. `named` is the name of its event, if the client does not send it.
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
