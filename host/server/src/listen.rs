//! Connections: how many, how slow, and how they end.

use std::{
    fs, io,
    os::unix::fs::{FileTypeExt, PermissionsExt},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use axum::Router;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::{GracefulShutdown, Watcher},
    service::TowerToHyperService,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, UnixListener},
    sync::{OwnedSemaphorePermit, Semaphore, watch},
};

use crate::{app::Phase, settings::Address, tls::Tls};

/// A head that takes longer, and a connection on which nothing happens so long, is closed.
const HEAD: Duration = Duration::from_secs(10);
/// So long a TLS handshake may take.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// Bytes of a head at most.
const HEAD_BYTES: usize = 32 << 10;
/// Fields of a head at most.
const HEAD_FIELDS: usize = 100;
/// Before the next attempt when a connection could not be taken, for example for want of file descriptors.
const PAUSE: Duration = Duration::from_millis(100);

/// Something that is listened on.
pub enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener, PathBuf),
}

impl Listener {
    /// Binds an address. A socket that nobody listens on any more is replaced.
    ///
    /// # Errors
    /// Those of the operating system.
    pub async fn bind(address: &Address) -> io::Result<Self> {
        match address {
            Address::Tcp(address) => Ok(Self::Tcp(TcpListener::bind(address).await?)),
            Address::Unix(path) => {
                let stale = fs::symlink_metadata(path).is_ok_and(|meta| meta.file_type().is_socket());
                if stale && std::os::unix::net::UnixStream::connect(path).is_err() {
                    fs::remove_file(path)?;
                }
                let listener = UnixListener::bind(path)?;
                // Who may connect is for the folder's owner to widen.
                fs::set_permissions(path, fs::Permissions::from_mode(0o660))?;
                Ok(Self::Unix(listener, path.clone()))
            }
        }
    }

    /// Where it listens, with the port it got.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn address(&self) -> io::Result<Address> {
        Ok(match self {
            Self::Tcp(listener) => Address::Tcp(listener.local_addr()?),
            Self::Unix(_, path) => Address::Unix(path.clone()),
        })
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Self::Unix(_, path) = self {
            remove(path);
        }
    }
}

fn remove(path: &Path) {
    // It may be gone, or never have been ours.
    let _ = fs::remove_file(path);
}

/// What all connections of the daemon have in common.
#[derive(Clone)]
pub struct Connections {
    /// Room for them.
    pub room: Arc<Semaphore>,
    /// Those that are open, to be waited for.
    pub open: Arc<GracefulShutdown>,
    /// Whether more are taken.
    pub closing: watch::Receiver<Phase>,
}

impl Connections {
    /// Takes connections until it is told to close. One for which there is no room is closed at once.
    pub async fn serve(mut self, listener: Listener, tls: Option<Arc<Tls>>, router: Router) {
        loop {
            let taken = tokio::select! {
                _ = self.closing.wait_for(|phase| *phase > Phase::Serving) => return,
                taken = accept(&listener) => taken,
            };
            let stream = match taken {
                Ok(stream) => stream,
                Err(error) => {
                    tracing::warn!("a connection could not be taken: {error}");
                    tokio::time::sleep(PAUSE).await;
                    continue;
                }
            };
            let Ok(room) = Arc::clone(&self.room).try_acquire_owned() else {
                metrics::counter!("hookbox_connections_refused_total").increment(1);
                continue;
            };
            let (tls, router, watcher) = (tls.clone(), router.clone(), self.open.watcher());
            tokio::spawn(async move {
                match tls {
                    None => connection(stream, router, watcher, room).await,
                    Some(tls) => {
                        // Whoever does not finish the handshake is not told.
                        if let Ok(Ok(stream)) = tokio::time::timeout(HANDSHAKE, tls.acceptor().accept(stream)).await {
                            connection(stream, router, watcher, room).await;
                        }
                    }
                }
            });
        }
    }
}

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

async fn accept(listener: &Listener) -> io::Result<Box<dyn Stream>> {
    Ok(match listener {
        Listener::Tcp(listener) => {
            let (stream, _) = listener.accept().await?;
            // Answers are small and somebody waits for them.
            stream.set_nodelay(true)?;
            Box::new(stream)
        }
        Listener::Unix(listener, _) => Box::new(listener.accept().await?.0),
    })
}

async fn connection(stream: impl Stream + 'static, router: Router, watcher: Watcher, room: OwnedSemaphorePermit) {
    let open = metrics::gauge!("hookbox_connections");
    open.increment(1);
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(HEAD_BYTES)
        .max_headers(HEAD_FIELDS)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    // What goes wrong on a connection, its client knows.
    if let Err(error) = watcher.watch(connection).await {
        tracing::debug!("a connection ended: {error}");
    }
    open.decrement(1);
    drop(room);
}
