//! The hook's own `config` object from the configuration file. Always granted.

use serde::de::DeserializeOwned;

use super::host;
use crate::{Fault, Json, Result};

/// Reads the object as a type of the hook. It is `{}` if the configuration has none, so give fields a default where
/// possible.
///
/// ```
/// use hookbox_guest::prelude::*;
///
/// #[derive(serde::Deserialize)]
/// #[serde(default, deny_unknown_fields)]
/// struct Config {
///     max: i64,
/// }
///
/// impl Default for Config {
///     fn default() -> Self {
///         Self { max: 50 }
///     }
/// }
///
/// # hookbox_guest::testing::host().config(json!({"max": 3}));
/// let config: Config = config::get()?;
/// # assert_eq!(config.max, 3);
/// # Ok::<(), Fault>(())
/// ```
pub fn get<T: DeserializeOwned>() -> Result<T> {
    serde_json::from_str(&host::config::get()).map_err(|error| Fault::Failed(format!("configuration: {error}")))
}

/// Returns the object as it was written.
pub fn json() -> Json {
    Json::from_text(host::config::get())
}
