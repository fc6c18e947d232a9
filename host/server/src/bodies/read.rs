//! Reads request bodies within the budget.

use axum::body::{Body, Bytes};
use http_body_util::BodyExt;
use hyper::body::Body as _;
use tokio::time::Instant;

use super::permit::{Bodies, BodyPermit};
use crate::{idle::Admitted, problem::Problem};

/// The bytes of a body or an answer that are not counted.
pub const FREE: usize = 16 << 10;

/// The limits of one body.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// The maximum size of the body, in KiB.
    pub max_kib: u32,
    /// The budget of its tenant, in bytes. A single body may exceed it.
    pub tenant: usize,
    /// The deadline for the whole body.
    pub by: Instant,
}

/// A body as far as it was read, the reason if it is incomplete, and its part of the budget.
#[derive(Debug)]
pub struct Read {
    /// Its bytes.
    pub wire: Bytes,
    /// The reason if the body is incomplete.
    pub problem: Option<Problem>,
    /// Must be kept as long as the bytes.
    pub held: BodyPermit,
}

impl Bodies {
    /// Reads the body of an admitted request.
    pub async fn read(&self, tenant: &str, body: Body, bounds: Bounds, connection: Option<&Admitted>) -> Read {
        let mut reading = Reading {
            body,
            limit: usize::try_from(bounds.max_kib).unwrap_or(usize::MAX).saturating_mul(1024),
            bounds,
            read: Vec::new(),
            held: self.of(tenant),
        };
        let hurried = async {
            match connection {
                Some(connection) => connection.hurried().await,
                None => std::future::pending().await,
            }
        };
        let problem = tokio::select! {
            biased;
            done = reading.all() => done.err(),
            () = hurried => Some(Problem::Busy("the body arrives too slowly while other requests need its memory")),
        };
        if problem.is_none()
            && let Some(connection) = connection
        {
            connection.is_read();
        }
        Read { wire: reading.read.into(), problem, held: reading.held }
    }
}

struct Reading {
    body: Body,
    limit: usize,
    bounds: Bounds,
    read: Vec<u8>,
    held: BodyPermit,
}

impl Reading {
    async fn all(&mut self) -> Result<(), Problem> {
        let Bounds { by, .. } = self.bounds;
        // The `Content-Length`, if there is one.
        let declared = self.body.size_hint().exact().map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
        let mut promised = declared.map_or(0, |bytes| bytes.min(self.limit));
        if promised > FREE && !self.held.take(promised, self.bounds.tenant) {
            self.some(FREE).await?;
            let full = Problem::Busy("other bodies of this tenant use all its memory for bodies");
            tokio::time::timeout_at(by, self.held.wait(promised, self.bounds.tenant)).await.map_err(|_| full)?;
        }
        loop {
            let Some(frame) = self.frame().await? else { return Ok(()) };
            let needed = self.read.len().saturating_add(frame.len());
            if needed > self.limit {
                let fits = frame.get(..self.limit.saturating_sub(self.read.len())).unwrap_or_default();
                self.read.extend_from_slice(fits);
                return Err(Problem::TooLarge(self.bounds.max_kib));
            }
            // A body of unknown length doubles its part each time.
            if needed > FREE.max(promised) {
                promised = needed.saturating_mul(2).min(self.limit);
                if !self.held.take(promised, self.bounds.tenant) {
                    return Err(Problem::Busy("request bodies use all the memory for them"));
                }
            }
            self.add(&frame, promised);
        }
    }

    /// Reads until there are this many bytes, or the body ends.
    async fn some(&mut self, bytes: usize) -> Result<(), Problem> {
        while self.read.len() < bytes {
            let Some(frame) = self.frame().await? else { break };
            self.add(&frame, bytes);
        }
        Ok(())
    }

    /// Appends a frame. Never allocates more than the promised memory, and does not copy everything for each frame.
    fn add(&mut self, frame: &Bytes, promised: usize) {
        let needed = self.read.len().saturating_add(frame.len());
        if needed > self.read.capacity() {
            let capacity = self.read.capacity().saturating_mul(2).min(promised).max(needed);
            self.read.reserve_exact(capacity.saturating_sub(self.read.len()));
        }
        self.read.extend_from_slice(frame);
    }

    async fn frame(&mut self) -> Result<Option<Bytes>, Problem> {
        match tokio::time::timeout_at(self.bounds.by, self.body.frame()).await {
            Ok(None) => Ok(None),
            Ok(Some(Ok(frame))) => Ok(Some(frame.into_data().unwrap_or_default())),
            Ok(Some(Err(error))) => Err(Problem::Request(format!("the body broke off: {error}"))),
            Err(_) => Err(Problem::Slow),
        }
    }
}
