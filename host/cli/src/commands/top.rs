//! `hookbox top`: the console's numbers in a terminal.

mod screen;
mod table;

use std::{path::PathBuf, time::Duration};

use anyhow::Context;
use clap::Args;
use reqwest::{Client, StatusCode, Url, redirect::Policy};
use serde_json::{Value, json};
use tokio::{
    signal::unix::{SignalKind, signal},
    time::{MissedTickBehavior, interval},
};

use self::{screen::Screen, table::View};
use super::{block_on, seconds};
use crate::{exit::Exit, print};

/// The environment variable that has the token: a command line is seen by everybody on the machine.
const TOKEN: &str = "HOOKBOX_TOKEN";
/// Time for an answer.
const WAIT: Duration = Duration::from_secs(5);
/// The windows, in the order in which `w` goes through them.
const WINDOWS: [&str; 3] = ["15m", "24h", "7d"];
/// The largest answer, in bytes.
const LARGEST: usize = 32 << 20;

/// Watch a daemon in a terminal: its tenants, its hooks, and what needs attention. `q` or Ctrl-C ends it, `w` changes the window.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  hookbox top --connect http://127.0.0.1:8750")]
pub struct Top {
    /// The daemon: `http://HOST:PORT`, `https://…` or `unix:PATH`. A token of an operator or a tenant is in `HOOKBOX_TOKEN`
    #[arg(long, value_name = "ADDRESS", default_value = "http://127.0.0.1:8750")]
    connect: String,
    /// Seconds between two looks
    #[arg(long, value_name = "SECONDS", default_value = "2", value_parser = seconds)]
    every: Duration,
    /// Print the numbers once, as text, and end. So it is too where stdout is not a terminal
    #[arg(long)]
    once: bool,
    /// Print the numbers once, as JSON
    #[arg(long)]
    json: bool,
}

/// The daemon's data for one look.
struct Look {
    now: Value,
    attention: Value,
    hooks: Value,
}

/// The connection to the daemon.
struct Daemon {
    client: Client,
    base: Url,
    token: String,
}

impl Top {
    pub fn run(self) -> anyhow::Result<Exit> {
        if self.json {
            print::json_only();
        }
        let token = std::env::var(TOKEN).map_err(|_| Exit::Usage.error(format!("`{TOKEN}` has no token")))?;
        let daemon = Daemon::at(&self.connect, token)?;
        let address = format!("the daemon at {}", self.connect);
        block_on(async {
            let first = daemon.look(WINDOWS[0]).await.with_context(|| address.clone())?;
            if self.json {
                let Look { now, attention, hooks } = first;
                print::json(&json!({ "now": now, "attention": attention, "hooks": hooks }));
                return Ok(Exit::Ok);
            }
            if self.once || !screen::is_terminal() {
                for line in table::lines(&View { look: &first, error: None, keys: false }, None) {
                    print::out(line.text.trim_end());
                }
                return Ok(Exit::Ok);
            }
            self.watch(&daemon, first).await
        })
    }

    async fn watch(&self, daemon: &Daemon, mut look: Look) -> anyhow::Result<Exit> {
        let (mut interrupt, mut term) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        let (mut hangup, mut resized) = (signal(SignalKind::hangup())?, signal(SignalKind::window_change())?);
        let mut ticks = interval(self.every.max(Duration::from_millis(100)));
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        // The first tick is immediate, so the first data is shown immediately.
        ticks.tick().await;
        let mut screen = Screen::open().context("cannot set up the terminal")?;
        let (mut window, mut error) = (0_usize, None);
        loop {
            let view = View { look: &look, error: error.as_deref(), keys: true };
            if screen::draw(&table::lines(&view, Some(screen::size()))).is_err() {
                // It is no longer visible.
                return Ok(Exit::Ok);
            }
            tokio::select! {
                _ = ticks.tick() => {}
                _ = resized.recv() => continue,
                _ = interrupt.recv() => return Ok(Exit::Ok),
                _ = term.recv() => return Ok(Exit::Ok),
                _ = hangup.recv() => return Ok(Exit::Ok),
                key = screen.key() => match key {
                    Some(b'q' | b'Q') | None => return Ok(Exit::Ok),
                    Some(b'w' | b'W') => window = (window + 1) % WINDOWS.len(),
                    Some(_) => continue,
                },
            }
            match daemon.look(WINDOWS.get(window).copied().unwrap_or_default()).await {
                Ok(new) => (look, error) = (new, None),
                Err(why) => error = Some(format!("{why:#}")),
            }
        }
    }
}

impl Daemon {
    fn at(address: &str, token: String) -> anyhow::Result<Self> {
        // The token is sent only to this daemon, not to hosts that it redirects to.
        let builder = Client::builder().no_proxy().redirect(Policy::none()).timeout(WAIT);
        let (client, base) = match address.strip_prefix("unix:") {
            // The name is never looked up.
            Some(path) => (builder.unix_socket(PathBuf::from(path)), "http://localhost"),
            None => (builder, address),
        };
        let base = Url::parse(base).ok().filter(|url| !url.cannot_be_a_base());
        let base = base.ok_or_else(|| Exit::Usage.error("`--connect` is `http://HOST:PORT` or `unix:PATH`"))?;
        Ok(Self { client: client.build()?, base, token })
    }

    async fn look(&self, window: &str) -> anyhow::Result<Look> {
        let now = self.ask("now", &[("window", window)]).await?;
        let attention = self.ask("attention", &[]).await?;
        Ok(Look { now, attention, hooks: self.ask("hooks", &[]).await? })
    }

    async fn ask(&self, path: &str, query: &[(&str, &str)]) -> anyhow::Result<Value> {
        let mut url = self.base.clone();
        url.path_segments_mut()
            .map_err(|()| Exit::Usage.error("it is not an address"))?
            .pop_if_empty()
            .extend(["ui", "api", path]);
        url.query_pairs_mut().extend_pairs(query);
        let mut answer = self.client.get(url).bearer_auth(&self.token).send().await?;
        let status = answer.status();
        let mut body = Vec::new();
        while let Some(part) = answer.chunk().await? {
            body.extend_from_slice(&part);
            if body.len() > LARGEST {
                return Err(Exit::Software.error("its response is larger than 32 MiB"));
            }
        }
        match status {
            StatusCode::OK => serde_json::from_slice(&body).context("its response is not JSON"),
            StatusCode::UNAUTHORIZED => Err(Exit::Usage.error(format!("it rejects the token in `{TOKEN}`"))),
            StatusCode::NOT_FOUND => Err(Exit::Software.error("it has no console: name `operators` in its serve.json")),
            status => Err(Exit::Software.error(format!("it responds with {status}"))),
        }
    }
}
