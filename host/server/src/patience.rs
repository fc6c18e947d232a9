//! A stream that fails when its peer reads nothing for too long. Otherwise a client that sends requests and reads no responses would keep
//! its connection and its answer for ever.

use std::{
    io::{self, IoSlice},
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Instant, Sleep},
};

/// The time without progress after which a write fails.
const UNREAD: Duration = Duration::from_secs(30);

/// A stream with a time limit for writes without progress.
#[derive(Debug)]
pub struct Patience<S> {
    stream: S,
    limit: Duration,
    /// Runs while a write waits for the peer.
    waits: Option<Pin<Box<Sleep>>>,
}

impl<S> Patience<S> {
    /// Wraps a stream.
    pub const fn new(stream: S) -> Self {
        Self { stream, limit: UNREAD, waits: None }
    }

    /// Passes a result on. Fails instead of waiting longer than the limit.
    fn bounded<T>(&mut self, context: &mut Context<'_>, done: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if done.is_ready() {
            self.waits = None;
            return done;
        }
        let waits = self.waits.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(Instant::now() + self.limit)));
        match waits.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Patience<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Patience<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let done = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.bounded(context, done)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let done = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.bounded(context, done)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let done = Pin::new(&mut self.stream).poll_flush(context);
        self.bounded(context, done)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let done = Pin::new(&mut self.stream).poll_shutdown(context);
        self.bounded(context, done)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::{io::ErrorKind, time::Duration};

    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::Patience;

    #[tokio::test]
    async fn only_peers_that_read_nothing_are_disconnected() {
        let (near, mut far) = tokio::io::duplex(4);
        let mut stream = Patience { limit: Duration::from_millis(200), ..Patience::new(near) };
        let reading = async {
            let mut read = [0; 4];
            for _ in 0..8 {
                tokio::time::sleep(Duration::from_millis(50)).await;
                far.read_exact(&mut read).await.unwrap();
            }
        };
        let (written, ()) = tokio::join!(stream.write_all(&[1; 36]), reading);
        written.unwrap();
        assert_eq!(stream.write_all(&[1; 8]).await.unwrap_err().kind(), ErrorKind::TimedOut);
    }
}
