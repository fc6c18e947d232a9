//! Where components come from.

use std::path::Path;

use async_trait::async_trait;
use hookbox_sandbox::LoadError;

/// Finds the bytes of a component by the name that a configuration gives it.
///
/// ```
/// use std::{collections::HashMap, io, path::Path};
/// use hookbox::{ComponentSource, LoadError, Runtime, async_trait};
///
/// /// Components that were uploaded, by name.
/// struct Uploaded(HashMap<String, Vec<u8>>);
///
/// #[async_trait]
/// impl ComponentSource for Uploaded {
///     async fn fetch(&self, name: &str, _: &Path) -> Result<Vec<u8>, LoadError> {
///         let unknown = || LoadError::Read { path: name.into(), error: io::ErrorKind::NotFound.into() };
///         self.0.get(name).cloned().ok_or_else(unknown)
///     }
/// }
///
/// let runtime = Runtime::builder().components(Uploaded(HashMap::new())).build()?;
/// # Ok::<_, hookbox::BuildError>(())
/// ```
#[async_trait]
pub trait ComponentSource: Send + Sync {
    /// The bytes. `name` is `component` as it is written; `file` is where that would be as a file.
    ///
    /// # Errors
    /// [`LoadError::Read`], as a rule.
    async fn fetch(&self, name: &str, file: &Path) -> Result<Vec<u8>, LoadError>;
}
