//! The hook's configuration: `"config"` beside its `"component"`.

use serde::Deserialize;

/// Configuration of the secret redactor
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Treatment of a tool's output that has a secret
    pub outputs: Found,
    /// Treatment of a prompt that has a secret
    pub prompts: Found,
    /// Takes values for secrets by their names and their entropy, such as `api_key = "…"`; without it only what has a known
    /// form is
    pub assignments: bool,
    /// Names of variables and members whose values are always secrets
    pub names: Vec<String>,
    /// Beginnings of words that are always secrets, such as `acme_`
    pub prefixes: Vec<String>,
    /// Texts that are no secrets
    pub allow: Vec<String>,
}

/// Treatment of a text with a secret.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Found {
    /// The secret is replaced by its kind
    #[default]
    Mask,
    /// The whole text is withheld
    Withhold,
    /// It is left as it is
    Pass,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            outputs: Found::default(),
            prompts: Found::default(),
            assignments: true,
            names: Vec::new(),
            prefixes: Vec::new(),
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
            .join("../../host/catalogue/hooks/secret-redactor.schema.json");
        let schema = format!("{:#}\n", serde_json::to_value(schemars::schema_for!(Config)).unwrap());
        if std::env::var_os("UPDATE_SCHEMA").is_some() {
            std::fs::write(&file, &schema).unwrap();
        }
        assert_eq!(std::fs::read_to_string(file).unwrap_or_default(), schema, "UPDATE_SCHEMA=1 writes it");
    }
}
