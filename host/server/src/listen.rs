//! Listeners and connections: their number, timeouts and end.

use std::{
    fs, io,
    os::unix::fs::{FileTypeExt, PermissionsExt},
    path::{Path, PathBuf},
    pin::pin,
    sync::Arc,
    time::Duration,
};

use axum::Router;
use hyper::{
    Request,
    body::Incoming,
    service::{Service, service_fn},
};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpSocket, UnixListener},
    sync::{Semaphore, watch},
};

use crate::{
    app::Phase,
    hosts::Verified,
    idle::{CloseResult, GRACE, Idle, Source, TrackedConnection},
    patience::Patience,
    settings::Address,
    tls::Tls,
};

/// The length of the listen backlog.
const BACKLOG: u32 = 4096;
/// The timeout for a request head, and for an idle connection.
const HEAD: Duration = Duration::from_secs(10);
/// The timeout of a TLS handshake.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// The maximum size of a request head, in bytes.
const HEAD_BYTES: usize = 32 << 10;
/// The maximum number of header fields.
const HEAD_FIELDS: usize = 100;
/// The number of files besides connections: components, stores, processes and their pipes.
const OTHER_FILES: u64 = 1024;
/// The maximum number of new connections that wait for room. Further ones stay in the backlog.
const WAITING: usize = 256;
/// The time that a connection has to close when it makes room.
const LEAVING: Duration = Duration::from_secs(1);
/// The pause after a failed `accept`, for example because file descriptors are exhausted.
const PAUSE: Duration = Duration::from_millis(100);

/// A listening socket.
pub enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener, PathBuf),
}

impl Listener {
    /// Binds an address. Needs a tokio runtime. Replaces a stale Unix socket.
    ///
    /// # Errors
    /// The errors of the operating system.
    pub fn bind(address: &Address) -> io::Result<Self> {
        match address {
            Address::Tcp(address) => {
                let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
                socket.set_reuseaddr(true)?;
                socket.bind(*address)?;
                Ok(Self::Tcp(socket.listen(BACKLOG)?))
            }
            Address::Unix(path) => {
                let stale = fs::symlink_metadata(path).is_ok_and(|meta| meta.file_type().is_socket());
                if stale && std::os::unix::net::UnixStream::connect(path).is_err() {
                    fs::remove_file(path)?;
                }
                let listener = UnixListener::bind(path)?;
                // The owner of the folder may grant access to others.
                fs::set_permissions(path, fs::Permissions::from_mode(0o660))?;
                Ok(Self::Unix(listener, path.clone()))
            }
        }
    }

    /// The address, with the actual port.
    ///
    /// # Errors
    /// The errors of the operating system.
    pub fn address(&self) -> io::Result<Address> {
        Ok(match self {
            Self::Tcp(listener) => Address::Tcp(listener.local_addr()?),
            Self::Unix(_, path) => Address::Unix(path.clone()),
        })
    }
}

impl Listener {
    /// Returns true if it is reachable only from this machine.
    pub fn is_local(&self) -> bool {
        self.address().is_ok_and(|address| address.is_local())
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
    // The file may be removed already, or belong to another process.
    let _ = fs::remove_file(path);
}

/// Raises the limit of open files for this many connections, as far as the operating system allows.
pub fn make_room(connections: u32) {
    let wanted = u64::from(connections) + OTHER_FILES;
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let most = maximum.map_or(wanted, |maximum| wanted.min(maximum));
    if current.is_some_and(|current| current < most) {
        // On error, the old limit remains.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(most), maximum });
    }
    if most < wanted {
        tracing::warn!("{connections} connections need {wanted} files, and this process may have {most}");
    }
}

/// The shared state of all connections.
#[derive(Clone)]
pub struct Connections {
    most: u32,
    /// The permits for connections.
    room: Arc<Semaphore>,
    /// The permits for connections that wait for room. They need a file descriptor too.
    waiting: Arc<Semaphore>,
    idle: Arc<Idle>,
    /// The phase of the daemon. After `Serving`, no connections are accepted.
    closing: watch::Receiver<Phase>,
}

impl Connections {
    /// Allows this many connections until the daemon drains.
    pub fn new(most: u32, closing: watch::Receiver<Phase>) -> Self {
        let (room, waiting) = (Arc::new(Semaphore::new(most as usize)), Arc::new(Semaphore::new(WAITING)));
        Self { most, room, waiting, idle: Arc::new(Idle::new(most as usize, GRACE)), closing }
    }

    /// Accepts connections until the daemon drains. Without room for a new one, an old one that may be closed makes
    /// room. Otherwise the new one is closed immediately.
    pub async fn serve(mut self, listener: Listener, tls: Option<Arc<Tls>>, router: Router) {
        loop {
            // Connections that were asked to make room close soon, if at all.
            let waits = tokio::time::timeout(LEAVING, Arc::clone(&self.waiting).acquire_owned()).await;
            let taken = tokio::select! {
                () = self.closed() => return,
                taken = accept(&listener) => taken,
            };
            let (stream, source) = match taken {
                Ok(taken) => taken,
                Err(error) => {
                    tracing::warn!("cannot accept a connection: {error}");
                    tokio::time::sleep(PAUSE).await;
                    continue;
                }
            };
            let room = Arc::clone(&self.room);
            let (place, asked) = loop {
                if let Ok(place) = Arc::clone(&room).try_acquire_owned() {
                    break (Some(place), CloseResult::None);
                }
                let asked = if waits.is_ok() { self.idle.ask_one_to_leave() } else { CloseResult::None };
                if asked != CloseResult::Later {
                    break (None, asked);
                }
                // New connections keep their grace period. Meanwhile, further ones wait in the backlog.
                tokio::time::sleep(PAUSE / 10).await;
            };
            match (&place, asked) {
                (Some(_), _) => {}
                (None, CloseResult::One) => metrics::counter!("hookbox_connections_made_room_total").increment(1),
                (None, _) => {
                    metrics::counter!("hookbox_connections_refused_total").increment(1);
                    continue;
                }
            }
            let line = Arc::new(TrackedConnection::new(&self.idle, source));
            let (this, tls, router) = (self.clone(), tls.clone(), router.clone());
            tokio::spawn(async move {
                let waiting = async {
                    match place {
                        Some(place) => Some(place),
                        // A connection was asked to leave and closes soon. The semaphore is never closed.
                        None => room.acquire_owned().await.ok(),
                    }
                };
                let place = tokio::select! {
                    biased;
                    place = waiting => place,
                    // It leaves, to make room for those behind it.
                    () = line.asked_to_leave() => None,
                };
                drop(waits);
                if place.is_some() {
                    this.connection(stream, tls, router, line).await;
                }
            });
        }
    }

    /// Waits until no more connections are accepted.
    async fn closed(&mut self) {
        // This cannot fail, because the sender lives as long as this task.
        let _ = self.closing.wait_for(|phase| *phase > Phase::Serving).await;
    }

    /// Waits until all accepted connections have ended.
    pub async fn ended(&self) {
        // This cannot fail, because the semaphore is never closed.
        let _ = self.room.acquire_many(self.most).await;
    }

    async fn connection(
        mut self,
        stream: impl Stream + 'static,
        tls: Option<Arc<Tls>>,
        router: Router,
        line: Arc<TrackedConnection>,
    ) {
        let open = metrics::gauge!("hookbox_connections");
        open.increment(1);
        // Below the encryption: there a write waits for the client.
        let stream = Patience::new(stream);
        match tls {
            None => self.http(stream, router, &line, None).await,
            Some(tls) => {
                let handshake = tokio::time::timeout(HANDSHAKE, tls.acceptor().accept(stream));
                let stream = tokio::select! {
                    stream = handshake => stream,
                    () = line.asked_to_leave() => Ok(Err(io::ErrorKind::TimedOut.into())),
                };
                match stream {
                    Ok(Ok(stream)) => {
                        let verified = stream.get_ref().1.server_name().map(|name| Verified(name.to_owned()));
                        self.http(stream, router, &line, verified).await;
                    }
                    // A client that does not finish the handshake gets no response.
                    Ok(Err(_)) => {}
                    Err(_) => given_up("handshake"),
                }
            }
        }
        open.decrement(1);
    }

    async fn http(
        &mut self,
        stream: impl Stream + 'static,
        router: Router,
        line: &Arc<TrackedConnection>,
        verified: Option<Verified>,
    ) {
        let (service, own) = (TowerToHyperService::new(router), Arc::clone(line));
        let service = service_fn(move |mut request: Request<Incoming>| {
            // For the handlers, which mark the connection's state.
            request.extensions_mut().insert(Arc::clone(&own));
            verified.clone().map(|name| request.extensions_mut().insert(name));
            service.call(request)
        });
        let connection = hyper::server::conn::http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD)
            .max_buf_size(HEAD_BYTES)
            .max_headers(HEAD_FIELDS)
            .serve_connection(TokioIo::new(stream), service);
        let mut connection = pin!(connection);
        let ended = tokio::select! {
            ended = connection.as_mut() => ended,
            () = self.closed() => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
            // A connection without a token is closed at once.
            () = line.asked_to_leave() => {
                if line.is_strange() {
                    return;
                }
                connection.as_mut().graceful_shutdown();
                loop {
                    match tokio::time::timeout(LEAVING, connection.as_mut()).await {
                        Ok(ended) => break ended,
                        // An incomplete head is not a request.
                        Err(_) if line.is_idle() => return,
                        Err(_) => {}
                    }
                }
            }
        };
        // The client notices errors of its connection itself.
        if let Err(error) = ended {
            limit_of(&error).into_iter().for_each(given_up);
            tracing::debug!("a connection ended: {error}");
        }
    }
}

/// Counts a connection that was closed because its client was too slow, or sent too large a head.
fn given_up(reason: &'static str) {
    metrics::counter!("hookbox_connections_given_up_total", "reason" => reason).increment(1);
}

/// The limit that a connection exceeded.
fn limit_of(error: &hyper::Error) -> Option<&'static str> {
    let unread = || {
        let cause = std::error::Error::source(error)?.downcast_ref::<io::Error>()?;
        (cause.kind() == io::ErrorKind::TimedOut).then_some("unread")
    };
    if error.is_timeout() || error.is_parse_too_large() { Some("head") } else { unread() }
}

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

async fn accept(listener: &Listener) -> io::Result<(Box<dyn Stream>, Source)> {
    Ok(match listener {
        Listener::Tcp(listener) => {
            let (stream, address) = listener.accept().await?;
            // Responses are small, and the client waits for them.
            stream.set_nodelay(true)?;
            (Box::new(stream), Source::of(address.ip()))
        }
        Listener::Unix(listener, _) => (Box::new(listener.accept().await?.0), Source::Local),
    })
}
