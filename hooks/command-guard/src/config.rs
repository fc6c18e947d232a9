//! The hook's configuration: `"config"` beside its `"component"`.

use serde::Deserialize;

/// Configuration of the command guard. A kind of command that is not named is [`Level::Graded`].
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Deleting, overwriting and moving away files and folders
    pub files: Level,
    /// Writing to disks, making file systems, changing partitions
    pub devices: Level,
    /// Losing commits or uncommitted changes, rewriting what others have
    pub git: Level,
    /// Publishing packages, removing those of the system
    pub packages: Level,
    /// Shutting down, killing everything, removing users, firewalls and services
    pub system: Level,
    /// Deleting databases, clusters, containers' volumes and cloud resources
    pub services: Level,
    /// Running what was just downloaded
    pub downloads: Level,
    /// Commands that cannot be known before they run
    pub unseen: Level,
    /// Names of folders that may be deleted with all that is in them, wherever they are in the project
    pub disposable: Vec<String>,
    /// Commands that pass as they are written, whole
    pub allow: Vec<String>,
}

/// Decision on the commands of a kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// The worst are denied, the rest is put to the user
    #[default]
    Graded,
    /// All are denied
    Deny,
    /// All are put to the user
    Ask,
    /// None is held back
    Pass,
}

/// Folders that tools make again.
const DISPOSABLE: [&str; 26] = [
    "node_modules",
    "target",
    "dist",
    "build",
    "out",
    "coverage",
    "tmp",
    "obj",
    ".next",
    ".nuxt",
    ".cache",
    ".parcel-cache",
    ".turbo",
    ".svelte-kit",
    ".angular",
    "__pycache__",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".tox",
    ".nox",
    ".venv",
    "venv",
    ".gradle",
    ".terraform",
    ".eggs",
];

impl Default for Config {
    fn default() -> Self {
        Self {
            files: Level::default(),
            devices: Level::default(),
            git: Level::default(),
            packages: Level::default(),
            system: Level::default(),
            services: Level::default(),
            downloads: Level::default(),
            unseen: Level::default(),
            disposable: DISPOSABLE.map(str::to_owned).to_vec(),
            allow: Vec::new(),
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "it is a test")]
mod tests {
    use super::*;

    /// `UPDATE_SCHEMA=1` writes it.
    #[test]
    fn the_schema_is_that_of_the_types() {
        let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../host/catalogue/hooks/command-guard.schema.json");
        let schema = format!("{:#}\n", serde_json::to_value(schemars::schema_for!(Config)).unwrap());
        if std::env::var_os("UPDATE_SCHEMA").is_some() {
            std::fs::write(&file, &schema).unwrap();
        }
        assert_eq!(std::fs::read_to_string(file).unwrap_or_default(), schema, "UPDATE_SCHEMA=1 writes it");
    }
}
