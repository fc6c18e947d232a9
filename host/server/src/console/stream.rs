//! Streams verdicts as server-sent events. A client resumes a broken stream with `Last-Event-ID`.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::body::{Body, Bytes};
use futures_util::stream;
use serde_json::json;
use tokio::{
    sync::watch,
    time::{Instant, sleep, timeout},
};

use super::{
    feed::{Entry, Rows},
    health,
    history::unix_ms,
    viewer::Viewer,
};
use crate::{
    app::{App, Phase},
    token::Token,
};

/// The maximum number of streams.
const ALL: usize = 64;
/// The maximum number of streams of one tenant's owners.
const PER_TENANT: usize = 8;
/// The maximum number of rows per message.
const ROWS: usize = 500;
/// The minimum time between messages, so that rows are sent together.
const PACE: Duration = Duration::from_millis(100);
/// The time without rows after which a comment is sent, so that both ends notice a broken connection.
const QUIET: Duration = Duration::from_secs(10);
/// The interval of checking the token.
const AGAIN: Duration = Duration::from_secs(2);

/// The number of open streams by tenant. Operators' streams have an empty name.
#[derive(Debug, Default)]
pub struct Streams(Arc<Mutex<HashMap<String, usize>>>);

/// The permit of one stream.
#[derive(Debug)]
pub struct StreamPermit {
    all: Arc<Mutex<HashMap<String, usize>>>,
    owner: String,
}

impl Streams {
    /// Takes a place. Returns `None` if all places are taken.
    pub fn enter(&self, viewer: &Viewer) -> Option<StreamPermit> {
        let owner = viewer.owner().unwrap_or_default().to_owned();
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (used, own) = (all.values().sum::<usize>(), all.get(&owner).copied().unwrap_or_default());
        // Half of the permits are reserved for operators.
        let full = if owner.is_empty() { used >= ALL } else { own >= PER_TENANT || used >= ALL / 2 };
        if full {
            return None;
        }
        *all.entry(owner.clone()).or_default() += 1;
        Some(StreamPermit { all: Arc::clone(&self.0), owner })
    }

    /// The number of open streams.
    pub fn open(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).values().sum()
    }
}

impl Drop for StreamPermit {
    fn drop(&mut self) {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = all.get_mut(&self.owner) {
            *own -= 1;
            if *own == 0 {
                all.remove(&self.owner);
            }
        }
    }
}

/// One stream.
struct Reader {
    app: Arc<App>,
    viewer: Viewer,
    token: Token,
    /// The number of the last verdict that was considered.
    number: u64,
    /// True if the first message was sent.
    greeted: bool,
    resumed: bool,
    /// The time from which the next rows may be sent.
    due: Instant,
    checked: Instant,
    changes: watch::Receiver<u64>,
    phase: watch::Receiver<Phase>,
    _place: StreamPermit,
}

/// The stream of the verdicts that a viewer may see, after the one with this id.
pub fn body(app: Arc<App>, viewer: Viewer, token: Token, last: Option<&str>, place: StreamPermit) -> Option<Body> {
    let console = app.console.as_ref()?;
    let number = last.and_then(|id| console.feed.number(id));
    let (changes, phase, now) = (console.feed.changes(), app.phase.subscribe(), Instant::now());
    let reader = Reader {
        viewer,
        token,
        number: number.unwrap_or_default(),
        greeted: false,
        resumed: number.is_some(),
        due: now,
        checked: now,
        changes,
        phase,
        _place: place,
        app,
    };
    let messages = stream::unfold(reader, |mut reader| async move {
        let message = reader.next().await?;
        Some((Ok::<_, std::convert::Infallible>(Bytes::from(message)), reader))
    });
    Some(Body::from_stream(messages))
}

impl Reader {
    /// The next message. `None` at the end.
    async fn next(&mut self) -> Option<String> {
        if !self.greeted {
            self.greeted = true;
            let feed = &self.app.console.as_ref()?.feed;
            let hello = json!({
                "daemon": health::daemon(&self.app), "resumed": self.resumed, "dropped": feed.dropped(),
                "now": unix_ms(),
            });
            return Some(format!("retry: 1000\nevent: hello\ndata: {hello}\n\n"));
        }
        let mut phase = self.phase.clone();
        tokio::select! {
            message = self.rows() => message,
            _ = phase.wait_for(|phase| *phase > Phase::Serving) => None,
        }
    }

    async fn rows(&mut self) -> Option<String> {
        let quiet = Instant::now() + QUIET;
        loop {
            tokio::time::sleep_until(self.due).await;
            if self.checked.elapsed() > AGAIN {
                // A revoked token ends the stream.
                self.viewer = Viewer::with(&self.app, &self.token).ok()?;
                self.checked = Instant::now();
            }
            self.changes.borrow_and_update();
            let feed = &self.app.console.as_ref()?.feed;
            let Rows { last, entries: rows, lost } =
                feed.since(self.number, ROWS, |tenant| self.viewer.may_see(tenant));
            let lost = if self.number > 0 && self.viewer.is_operator() { lost } else { 0 };
            self.number = last;
            if !rows.is_empty() {
                self.due = if rows.len() < ROWS { Instant::now() + PACE } else { Instant::now() };
                return Some(message(&feed.id(last), &rows, lost));
            }
            if Instant::now() >= quiet {
                return Some(":\n\n".into());
            }
            // Waits for more rows, but no longer than until the next check of the token.
            let more = timeout(AGAIN, self.changes.changed()).await;
            if matches!(more, Ok(Err(_))) {
                sleep(QUIET).await;
            }
        }
    }
}

fn message(id: &str, rows: &[Arc<Entry>], lost: u64) -> String {
    let rows: Vec<&str> = rows.iter().map(|entry| entry.row.as_str()).collect();
    format!("id: {id}\nevent: verdicts\ndata: {{\"lost\":{lost},\"verdicts\":[{}]}}\n\n", rows.join(","))
}

#[cfg(test)]
mod tests {
    use super::{ALL, PER_TENANT, Streams};
    use crate::console::viewer::Viewer;

    #[test]
    fn streams_are_bounded_and_operators_find_room() {
        let streams = Streams::default();
        let owner = |name: &str| Viewer::Owner(vec![name.into()]);
        let mut places: Vec<_> = (0..PER_TENANT).filter_map(|_| streams.enter(&owner("acme"))).collect();
        assert!(streams.enter(&owner("acme")).is_none());
        places.extend((0..ALL).filter_map(|n| streams.enter(&owner(&format!("t{n}")))));
        assert_eq!(streams.open(), ALL / 2);
        places.extend((0..ALL).filter_map(|_| streams.enter(&Viewer::Operator)));
        assert_eq!(streams.open(), ALL);
        drop(places);
        assert!(streams.enter(&owner("acme")).is_some());
    }
}
