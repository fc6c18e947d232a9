//! The source of components.

use std::path::Path;

use async_trait::async_trait;
use hookbox_sandbox::LoadError;

use crate::artifact::Locked;

/// A component that a hook names.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Wanted<'a> {
    /// The value of `component` in the configuration.
    pub name: &'a str,
    /// The path that it would have as a file. For a reference, the path of the lock.
    pub file: &'a Path,
    /// For a reference (`oci://…`), its entry in the lock, with digest, version and publisher. The entry is current and
    /// approved. The fetched bytes are verified afterwards.
    pub locked: Option<&'a Locked>,
}

/// Returns the bytes of a component by its name in a configuration.
///
/// ```
/// use std::{collections::HashMap, io};
/// use hookbox::{ComponentSource, LoadError, Runtime, Wanted, async_trait};
///
/// /// Components that were uploaded, by name.
/// struct Uploaded(HashMap<String, Vec<u8>>);
///
/// #[async_trait]
/// impl ComponentSource for Uploaded {
///     async fn fetch(&self, wanted: &Wanted<'_>) -> Result<Vec<u8>, LoadError> {
///         let unknown = || LoadError::Read { path: wanted.name.into(), error: io::ErrorKind::NotFound.into() };
///         self.0.get(wanted.name).cloned().ok_or_else(unknown)
///     }
/// }
///
/// let runtime = Runtime::builder().components(Uploaded(HashMap::new())).build()?;
/// # Ok::<_, hookbox::BuildError>(())
/// ```
#[async_trait]
pub trait ComponentSource: Send + Sync {
    /// Fetches the bytes of a component. The future is dropped at the end of the client's timeout.
    ///
    /// # Errors
    /// Usually [`LoadError::Read`].
    async fn fetch(&self, wanted: &Wanted<'_>) -> Result<Vec<u8>, LoadError>;
}
