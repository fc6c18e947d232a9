//! Serves one connection: TLS, HTTP, and its end.

use std::{io, pin::pin, sync::Arc, time::Duration};

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
use tokio::sync::watch;

use super::listener::Stream;
use crate::{app::Phase, hosts::Verified, idle::TrackedConnection, patience::Patience, tls::Tls};

/// The timeout for a request head, and for an idle connection.
const HEAD: Duration = Duration::from_secs(10);
/// The timeout of a TLS handshake.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// The maximum size of a request head, in bytes.
const HEAD_BYTES: usize = 32 << 10;
/// The maximum number of header fields.
const HEAD_FIELDS: usize = 100;
/// The time that a connection has to close when it makes room.
pub(super) const LEAVING: Duration = Duration::from_secs(1);

/// A connection of a client.
pub(super) struct Connection {
    pub(super) router: Router,
    pub(super) tracked: Arc<TrackedConnection>,
    /// The phase of the daemon.
    pub(super) phase: watch::Receiver<Phase>,
}

impl Connection {
    /// Serves the connection until it ends.
    pub(super) async fn serve(mut self, stream: impl Stream + 'static, tls: Option<Arc<Tls>>) {
        let open = metrics::gauge!("hookbox_connections");
        open.increment(1);
        // Below the encryption: there a write waits for the client.
        let stream = Patience::new(stream);
        match tls {
            None => self.http(stream, None).await,
            Some(tls) => {
                let handshake = tokio::time::timeout(HANDSHAKE, tls.acceptor().accept(stream));
                let stream = tokio::select! {
                    stream = handshake => stream,
                    () = self.tracked.asked_to_leave() => Ok(Err(io::ErrorKind::TimedOut.into())),
                };
                match stream {
                    Ok(Ok(stream)) => {
                        let verified = stream.get_ref().1.server_name().map(|name| Verified(name.to_owned()));
                        self.http(stream, verified).await;
                    }
                    // A client that does not finish the handshake gets no response.
                    Ok(Err(_)) => {}
                    Err(_) => given_up("handshake"),
                }
            }
        }
        open.decrement(1);
    }

    async fn http(&mut self, stream: impl Stream + 'static, verified: Option<Verified>) {
        let (service, own) = (TowerToHyperService::new(self.router.clone()), Arc::clone(&self.tracked));
        let (tracked, phase) = (&self.tracked, &mut self.phase);
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
            () = draining(phase) => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
            // A connection without a token is closed at once.
            () = tracked.asked_to_leave() => {
                if tracked.is_strange() {
                    return;
                }
                connection.as_mut().graceful_shutdown();
                loop {
                    match tokio::time::timeout(LEAVING, connection.as_mut()).await {
                        Ok(ended) => break ended,
                        // An incomplete head is not a request.
                        Err(_) if tracked.is_idle() => return,
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

/// Waits until the daemon drains.
pub(super) async fn draining(phase: &mut watch::Receiver<Phase>) {
    // This cannot fail, because the sender lives as long as the daemon.
    let _ = phase.wait_for(|phase| *phase > Phase::Serving).await;
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
