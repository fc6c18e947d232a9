//! Streams verdicts as server-sent events. A client resumes a broken stream with `Last-Event-ID`.

use std::{sync::Arc, time::Duration};

use axum::body::{Body, Bytes};
use futures_util::stream;
use serde_json::json;
use tokio::{
    sync::watch,
    time::{Instant, sleep, timeout},
};

use super::{health, viewer::Viewer};
use crate::{
    app::{App, Phase},
    clock::unix_ms,
    console::{
        StreamPermit,
        feed::{Entry, Rows},
    },
    token::Token,
};

/// The maximum number of rows per message.
const ROWS: usize = 500;
/// The minimum time between messages, so that rows are sent together.
const PACE: Duration = Duration::from_millis(100);
/// The time without rows after which a comment is sent, so that both ends notice a broken connection.
const QUIET: Duration = Duration::from_secs(10);
/// The interval of checking the token.
const AGAIN: Duration = Duration::from_secs(2);

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
    _permit: StreamPermit,
}

/// The stream of the verdicts that a viewer may see, after the one with this id.
pub fn body(app: Arc<App>, viewer: Viewer, token: Token, last: Option<&str>, permit: StreamPermit) -> Option<Body> {
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
        _permit: permit,
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
