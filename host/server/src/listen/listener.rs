//! Listening sockets.

use std::{
    fs, io,
    os::unix::fs::{FileTypeExt, PermissionsExt},
    path::PathBuf,
};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpSocket, UnixListener},
};

use crate::{idle::Source, settings::Address};

/// The length of the listen backlog.
const BACKLOG: u32 = 4096;
/// The number of files besides connections: components, stores, processes and their pipes.
const OTHER_FILES: u64 = 1024;

/// A connection to a client.
pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

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

    /// Returns true if it is reachable only from this machine.
    pub fn is_local(&self) -> bool {
        self.address().is_ok_and(|address| address.is_local())
    }

    /// Accepts one connection.
    pub(super) async fn accept(&self) -> io::Result<(Box<dyn Stream>, Source)> {
        Ok(match self {
            Self::Tcp(listener) => {
                let (stream, address) = listener.accept().await?;
                // Responses are small, and the client waits for them.
                stream.set_nodelay(true)?;
                (Box::new(stream), Source::of(address.ip()))
            }
            Self::Unix(listener, _) => (Box::new(listener.accept().await?.0), Source::Local),
        })
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Self::Unix(_, path) = self {
            // The file may be removed already, or belong to another process.
            let _ = fs::remove_file(path);
        }
    }
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
