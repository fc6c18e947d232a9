//! Connections: how many, how slow, and how they end.

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
    idle::{Asked, GRACE, Idle, Line, Source},
    settings::Address,
    tls::Tls,
};

/// Connections that may come before one is taken.
const BACKLOG: u32 = 4096;
/// A head that takes longer, and a connection on which nothing happens so long, is closed.
const HEAD: Duration = Duration::from_secs(10);
/// So long a TLS handshake may take.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// Bytes of a head at most.
const HEAD_BYTES: usize = 32 << 10;
/// Fields of a head at most.
const HEAD_FIELDS: usize = 100;
/// Files beside connections: components that are read, stores, processes and what answers them.
const OTHER_FILES: u64 = 1024;
/// New connections that may wait for one that makes room. The next ones are not taken yet.
const WAITING: usize = 256;
/// So long a connection that makes room may take for it.
const LEAVING: Duration = Duration::from_secs(1);
/// Before the next attempt when a connection could not be taken, for example for want of file descriptors.
const PAUSE: Duration = Duration::from_millis(100);

/// Something that is listened on.
pub enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener, PathBuf),
}

impl Listener {
    /// Binds an address, within a tokio runtime. A socket that nobody listens on any more is replaced.
    ///
    /// # Errors
    /// Those of the operating system.
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

impl Listener {
    /// Returns true if only this machine reaches it.
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
    // It may be gone, or never have been ours.
    let _ = fs::remove_file(path);
}

/// Lets this process have as many files as so many connections need, as far as the operating system lets it.
pub fn make_room(connections: u32) {
    let wanted = u64::from(connections) + OTHER_FILES;
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let most = maximum.map_or(wanted, |maximum| wanted.min(maximum));
    if current.is_some_and(|current| current < most) {
        // What it has is what it had.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(most), maximum });
    }
    if most < wanted {
        tracing::warn!("{connections} connections need {wanted} files, and this process may have {most}");
    }
}

/// What all connections of the daemon have in common.
#[derive(Clone)]
pub struct Connections {
    most: u32,
    /// Room for them.
    room: Arc<Semaphore>,
    /// Room for those that wait for room: they have a file each, too.
    waiting: Arc<Semaphore>,
    idle: Arc<Idle>,
    /// True if more are taken.
    closing: watch::Receiver<Phase>,
}

impl Connections {
    /// So many at once, until it closes.
    pub fn new(most: u32, closing: watch::Receiver<Phase>) -> Self {
        let (room, waiting) = (Arc::new(Semaphore::new(most as usize)), Arc::new(Semaphore::new(WAITING)));
        Self { most, room, waiting, idle: Arc::new(Idle::new(most as usize, GRACE)), closing }
    }

    /// Takes connections until it is told to close. Where there is no room, one that may be closed makes some; where none may,
    /// the new one is closed at once.
    pub async fn serve(mut self, listener: Listener, tls: Option<Arc<Tls>>, router: Router) {
        loop {
            // Those that were asked to make room go soon, if they go.
            let waits = tokio::time::timeout(LEAVING, Arc::clone(&self.waiting).acquire_owned()).await;
            let taken = tokio::select! {
                () = self.closed() => return,
                taken = accept(&listener) => taken,
            };
            let (stream, source) = match taken {
                Ok(taken) => taken,
                Err(error) => {
                    tracing::warn!("a connection could not be taken: {error}");
                    tokio::time::sleep(PAUSE).await;
                    continue;
                }
            };
            let room = Arc::clone(&self.room);
            let (place, asked) = loop {
                if let Ok(place) = Arc::clone(&room).try_acquire_owned() {
                    break (Some(place), Asked::None);
                }
                let asked = if waits.is_ok() { self.idle.ask_one_to_leave() } else { Asked::None };
                if asked != Asked::Later {
                    break (None, asked);
                }
                // New ones have their time, and those behind this one wait meanwhile where they are.
                tokio::time::sleep(PAUSE / 10).await;
            };
            match (&place, asked) {
                (Some(_), _) => {}
                (None, Asked::One) => metrics::counter!("hookbox_connections_made_room_total").increment(1),
                (None, _) => {
                    metrics::counter!("hookbox_connections_refused_total").increment(1);
                    continue;
                }
            }
            let line = Arc::new(Line::new(&self.idle, source));
            let (this, tls, router) = (self.clone(), tls.clone(), router.clone());
            tokio::spawn(async move {
                let waiting = async {
                    match place {
                        Some(place) => Some(place),
                        // Whoever was asked goes soon. Nobody closes it.
                        None => room.acquire_owned().await.ok(),
                    }
                };
                let place = tokio::select! {
                    biased;
                    place = waiting => place,
                    // It goes for those behind it.
                    () = line.asked_to_leave() => None,
                };
                drop(waits);
                if place.is_some() {
                    this.connection(stream, tls, router, line).await;
                }
            });
        }
    }

    /// Waits until no more are taken.
    async fn closed(&mut self) {
        // Who tells it lives as long as we do.
        let _ = self.closing.wait_for(|phase| *phase > Phase::Serving).await;
    }

    /// Waits until all that were taken have ended.
    pub async fn ended(&self) {
        // Nobody closes it.
        let _ = self.room.acquire_many(self.most).await;
    }

    async fn connection(
        mut self,
        stream: impl Stream + 'static,
        tls: Option<Arc<Tls>>,
        router: Router,
        line: Arc<Line>,
    ) {
        let open = metrics::gauge!("hookbox_connections");
        open.increment(1);
        match tls {
            None => self.http(stream, router, &line, None).await,
            Some(tls) => {
                let handshake = tokio::time::timeout(HANDSHAKE, tls.acceptor().accept(stream));
                let stream = tokio::select! {
                    stream = handshake => stream,
                    () = line.asked_to_leave() => Ok(Err(io::ErrorKind::TimedOut.into())),
                };
                // Whoever does not finish the handshake is not told.
                if let Ok(Ok(stream)) = stream {
                    let verified = stream.get_ref().1.server_name().map(|name| Verified(name.to_owned()));
                    self.http(stream, router, &line, verified).await;
                }
            }
        }
        open.decrement(1);
    }

    async fn http(
        &mut self,
        stream: impl Stream + 'static,
        router: Router,
        line: &Arc<Line>,
        verified: Option<Verified>,
    ) {
        let (service, own) = (TowerToHyperService::new(router), Arc::clone(line));
        let service = service_fn(move |mut request: Request<Incoming>| {
            // For whoever has its answer.
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
            // A request without a token is not waited for.
            () = line.asked_to_leave() => {
                if line.is_strange() {
                    return;
                }
                connection.as_mut().graceful_shutdown();
                loop {
                    match tokio::time::timeout(LEAVING, connection.as_mut()).await {
                        Ok(ended) => break ended,
                        // Half of a head is not a request.
                        Err(_) if line.is_idle() => return,
                        Err(_) => {}
                    }
                }
            }
        };
        // What goes wrong on a connection, its client knows.
        if let Err(error) = ended {
            tracing::debug!("a connection ended: {error}");
        }
    }
}

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

async fn accept(listener: &Listener) -> io::Result<(Box<dyn Stream>, Source)> {
    Ok(match listener {
        Listener::Tcp(listener) => {
            let (stream, address) = listener.accept().await?;
            // Answers are small, and the client waits for them.
            stream.set_nodelay(true)?;
            (Box::new(stream), Source::of(address.ip()))
        }
        Listener::Unix(listener, _) => (Box::new(listener.accept().await?.0), Source::Local),
    })
}
