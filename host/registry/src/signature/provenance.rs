//! The provenance of a build (SLSA 1) that a verified signature covers.

use serde::Deserialize;

use super::bundle::{PROVENANCE, parsed};

/// The origin of a component, as the builder that signed it says.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Provenance {
    /// The builder.
    pub builder: String,
    /// The source: a repository, with the commit if it is known.
    pub source: Option<String>,
    /// The file of the workflow that built it.
    pub workflow: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Statement {
    predicate_type: String,
    predicate: Predicate,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Predicate {
    build_definition: Definition,
    run_details: Details,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Definition {
    #[serde(default)]
    external_parameters: Parameters,
    #[serde(default)]
    resolved_dependencies: Vec<Dependency>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Parameters {
    workflow: Option<Workflow>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Workflow {
    repository: Option<String>,
    path: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Dependency {
    uri: Option<String>,
    digest: Commit,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Commit {
    git_commit: Option<String>,
}

#[derive(Deserialize)]
struct Details {
    builder: Builder,
}

#[derive(Deserialize)]
struct Builder {
    id: String,
}

impl Provenance {
    /// The provenance in a statement whose signature was verified. `None` if it is another statement.
    pub(super) fn of(statement: &[u8]) -> Option<Self> {
        let statement: Statement = parsed(statement).ok()?;
        if statement.predicate_type != PROVENANCE {
            return None;
        }
        let short = |text: &str| hookbox::shorten(text, 300);
        let Predicate { build_definition, run_details } = statement.predicate;
        let workflow = build_definition.external_parameters.workflow.unwrap_or_default();
        let source = build_definition.resolved_dependencies.iter().find(|entry| entry.digest.git_commit.is_some());
        let commit = source.and_then(|entry| entry.digest.git_commit.as_deref());
        let repository = workflow.repository.as_deref().or_else(|| source.and_then(|entry| entry.uri.as_deref()));
        let source = repository.map(|repository| match commit {
            Some(commit) => format!("{} at {}", short(repository), short(commit)),
            None => short(repository),
        });
        Some(Self { builder: short(&run_details.builder.id), source, workflow: workflow.path.as_deref().map(short) })
    }
}
