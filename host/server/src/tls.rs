//! TLS with rustls. The certificate can be replaced at run time.

use std::{
    path::PathBuf,
    sync::{Arc, PoisonError, RwLock},
};

use thiserror::Error;
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        self, ServerConfig,
        crypto::ring,
        pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    },
};
use x509_cert::{Certificate, der::Decode};

use crate::{
    files::{FilePath, Stamp, stamp},
    settings::TlsFiles,
};

/// The maximum size of a certificate chain or key file, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// An invalid certificate.
#[derive(Debug, Error)]
#[error("{}: {message}", file.display())]
pub struct TlsError {
    file: PathBuf,
    message: String,
}

/// The current certificate.
pub struct Tls {
    files: TlsFiles,
    current: RwLock<(Serving, [Stamp; 2])>,
}

/// A loaded certificate.
struct Serving {
    acceptor: TlsAcceptor,
    /// The end of its validity, as Unix time in ms.
    ends: Option<i64>,
}

impl Tls {
    /// Loads the certificate.
    ///
    /// # Errors
    /// [`TlsError`]
    pub fn new(files: TlsFiles) -> Result<Self, TlsError> {
        let stamps = stamps(&files);
        let current = RwLock::new((load(&files)?, stamps));
        Ok(Self { files, current })
    }

    /// The acceptor for new connections.
    pub fn acceptor(&self) -> TlsAcceptor {
        self.current.read().unwrap_or_else(PoisonError::into_inner).0.acceptor.clone()
    }

    /// The end of the certificate's validity, as Unix time in ms.
    pub fn ends(&self) -> Option<i64> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).0.ends
    }

    /// Loads a changed certificate. If it is invalid, logs the error and keeps the previous one.
    pub fn look(&self) {
        let now = stamps(&self.files);
        if self.current.read().unwrap_or_else(PoisonError::into_inner).1 == now {
            return;
        }
        // The lock is not held while the files are read, so that connections can be accepted.
        let replaced = load(&self.files);
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        current.1 = now;
        match replaced {
            Ok(serving) => {
                tracing::info!("the certificate is replaced");
                current.0 = serving;
            }
            Err(error) => tracing::error!("the new certificate is not used: {error}"),
        }
    }
}

fn stamps(files: &TlsFiles) -> [Stamp; 2] {
    [stamp(&files.certificate), stamp(&files.key)]
}

fn load(files: &TlsFiles) -> Result<Serving, TlsError> {
    let wrong = |file: &PathBuf, message: String| TlsError { file: file.clone(), message };
    let read = |file: &PathBuf| {
        FilePath::anywhere(file).read(MAX_BYTES).map_err(|error| wrong(file, format!("cannot be read: {error}")))
    };
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&read(&files.certificate)?).collect();
    let chain = chain.map_err(|error| wrong(&files.certificate, error.to_string()))?;
    let ends = chain.first().and_then(ends);
    let key = PrivateKeyDer::from_pem_slice(&read(&files.key)?);
    let key = key.map_err(|error| wrong(&files.key, error.to_string()))?;
    // The same provider as in reqwest, so that there is only one.
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map(rustls::ConfigBuilder::<ServerConfig, _>::with_no_client_auth)
        .and_then(|builder| builder.with_single_cert(chain, key))
        .map_err(|error: rustls::Error| wrong(&files.certificate, error.to_string()))?;
    Ok(Serving { acceptor: TlsAcceptor::from(Arc::new(config)), ends })
}

/// The end of a certificate's validity, as Unix time in ms.
fn ends(certificate: &CertificateDer<'_>) -> Option<i64> {
    let certificate = Certificate::from_der(certificate).ok()?;
    let end = certificate.tbs_certificate.validity.not_after.to_unix_duration();
    i64::try_from(end.as_millis()).ok()
}
