//! The source of components.

use std::path::Path;

use async_trait::async_trait;
use hookbox_sandbox::LoadError;

use crate::artifact::Locked;

/// A component that a hook names.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Wanted<'a> {
    /// `component`, as it is written in the configuration.
    pub name: &'a str,
    /// Where that would be as a file; the lock, for a reference.
    pub file: &'a Path,
    /// The entry of the lock, for a reference (`oci://…`): its digest, version and publisher. It is current and approved. The
    /// bytes are verified after they were fetched.
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
    /// Finds the bytes of a component. The future is dropped when the client's time ends.
    ///
    /// # Errors
    /// [`LoadError::Read`], as a rule.
    async fn fetch(&self, wanted: &Wanted<'_>) -> Result<Vec<u8>, LoadError>;
}
