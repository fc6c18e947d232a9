//! The paths of tenants.

use axum::extract::{Path, rejection::PathRejection};

/// The detail of a 404 for a path.
pub(super) const UNKNOWN: &str = "unknown path: POST to /v1/TENANT/DIALECT";

/// The tenant and the dialect in the path. An error if it is not UTF-8.
pub(super) type Names = Result<Path<(String, String)>, PathRejection>;
