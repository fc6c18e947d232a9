//! The hook's configuration: `"config"` beside its `"component"`.

use serde::Deserialize;

/// Configuration of the file guard. Patterns are those of `.gitignore`: `.env` is a name anywhere, `.git/**` a folder anywhere,
/// `/etc/**` is from the root, `~/.ssh/**` from the home of any user. Letter case does not matter.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Files that are neither read nor written, beside those that the guard knows
    pub read: Vec<String>,
    /// Files that are not written, beside those that the guard knows
    pub write: Vec<String>,
    /// Files that are allowed, overriding all other settings
    pub allow: Vec<String>,
    /// Protects the files that the guard knows
    pub builtin: bool,
    /// Decision on the use of a protected file
    pub decision: Decision,
    /// Decision on a command that reads files whose names are known only when it runs
    pub unseen: Unseen,
}

/// Decision on the use of a protected file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// It is denied
    #[default]
    Deny,
    /// The user is asked
    Ask,
}

/// Decision on a command with unknown names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Unseen {
    /// It passes
    #[default]
    Pass,
    /// The user is asked
    Ask,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            read: Vec::new(),
            write: Vec::new(),
            allow: Vec::new(),
            builtin: true,
            decision: Decision::default(),
            unseen: Unseen::default(),
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
        let file =
            std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../host/catalogue/hooks/file-guard.schema.json");
        let schema = format!("{:#}\n", serde_json::to_value(schemars::schema_for!(Config)).unwrap());
        if std::env::var_os("UPDATE_SCHEMA").is_some() {
            std::fs::write(&file, &schema).unwrap();
        }
        assert_eq!(std::fs::read_to_string(file).unwrap_or_default(), schema, "UPDATE_SCHEMA=1 writes it");
    }
}
