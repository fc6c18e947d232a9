//! `hookbox run --connect`: the daemon judges. No engine is loaded here, no configuration read.

use std::{path::PathBuf, time::Duration};

use anyhow::Context;
use clap::Args;
use hookbox::{EVENT_LIMIT, Fault, Judged, config, time_for_hooks};
use reqwest::{
    Client, Response, StatusCode, Url,
    header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue},
    redirect::Policy,
};
use serde_json::Value;

use super::{EventText, Outcome, Source, block_on};
use crate::{exit::Exit, heartbeat, stops};

/// The environment variable that has the tenant's token: not on the command line, which everybody on the machine sees.
const TOKEN: &str = "HOOKBOX_TOKEN";
/// What only a daemon's verdict has: whatever else answers there (a proxy, a login page) says nothing about the event.
const VERDICT: &str = "hookbox-verdict";
/// How much of an answer that is not a verdict is told.
const TOLD: usize = 500;

/// Which daemon judges.
#[derive(Debug, Args)]
pub struct Daemon {
    /// Let the daemon there judge: `http://HOST:PORT`, `https://…` or `unix:PATH`; the tenant's token is in
    /// `HOOKBOX_TOKEN`. When it is away, the file of `--config` judges, or else it counts as a failure
    #[arg(long, value_name = "ADDRESS", requires = "tenant")]
    connect: Option<String>,
    /// Whose hooks the daemon is asked for
    #[arg(long, value_name = "NAME", requires = "connect")]
    tenant: Option<String>,
    /// Seconds that the daemon has
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0, requires = "connect")]
    wait: f64,
}

impl Daemon {
    /// What the daemon says; `None` where there is none to ask.
    pub fn ask(&self, source: &Source, event: &EventText, client: Option<Duration>) -> Option<anyhow::Result<Vec<u8>>> {
        let (address, tenant) = (self.connect.as_deref()?, self.tenant.as_deref()?);
        let asked = block_on(self.post(address, tenant, source, event, client));
        Some(asked.with_context(|| format!("the daemon at {address} gives no verdict")))
    }

    /// How long the daemon has: never as long as the client waits, and where a file stands in for it, half of that.
    fn wait(&self, source: &Source, event: &EventText, client: Option<Duration>) -> anyhow::Result<Duration> {
        let wait = Duration::try_from_secs_f64(self.wait).context("`--wait` is a number of seconds")?;
        let theirs = || {
            let dialect = hookbox::dialect::by_name(dialect(source))?;
            Some(dialect.client_timeout(dialect.glimpse_spec(&event.read, source.event.as_deref())?))
        };
        let ours = client.or_else(theirs).map_or(wait, time_for_hooks);
        Ok(wait.min(if source.config.is_some() { ours / 2 } else { ours }))
    }

    async fn post(
        &self,
        address: &str,
        tenant: &str,
        source: &Source,
        event: &EventText,
        client: Option<Duration>,
    ) -> anyhow::Result<Vec<u8>> {
        let token = std::env::var(TOKEN).map_err(|_| Exit::Usage.error(format!("`{TOKEN}` has no token")))?;
        let wait = self.wait(source, event, client)?;
        // What else it names is not the daemon that was named.
        let builder = Client::builder().no_proxy().redirect(Policy::none()).timeout(wait);
        let (client, base) = match address.strip_prefix("unix:") {
            // The name is never looked up.
            Some(path) => (builder.unix_socket(PathBuf::from(path)), "http://hookbox"),
            None => (builder, address),
        };
        let mut url = Url::parse(base).context("it is not an address: `http://HOST:PORT` or `unix:PATH`")?;
        let dialect = dialect(source);
        let path = url.path_segments_mut();
        path.map_err(|()| Exit::Usage.error("it is not an address"))?.pop_if_empty().extend(["v1", tenant, dialect]);
        if let Some(name) = &source.event {
            url.query_pairs_mut().append_pair("event", name);
        }
        let request =
            client.build()?.post(url).bearer_auth(token).header("hookbox-timeout", wait.as_secs_f64().to_string());
        let response = request.body(event.whole()?.to_vec()).send().await?;
        let (status, headers) = (response.status(), response.headers().clone());
        let body = whole(response).await?;
        let mut verdicts = headers.get_all(VERDICT).iter();
        if let (StatusCode::OK, Some(verdict)) = (status, verdicts.next()) {
            let more = verdicts.next().is_some();
            checked(source, event, &headers, verdict, &body)
                .and_then(|()| if more { Err("it has two `Hookbox-Verdict`".to_owned()) } else { Ok(()) })
                .map_err(|why| Exit::Software.error(format!("its answer is not a verdict: {why}")))?;
            return Ok(body);
        }
        let text = hookbox::shorten(&String::from_utf8_lossy(&body), TOLD);
        let what = if status == StatusCode::OK { "which is not a verdict, " } else { "" };
        Err(Exit::Software.error(format!("it answers {status}, {what}and says: {text}")))
    }
}

/// Checks that header and body of an answer say the same, in a form that was asked for.
fn checked(
    source: &Source,
    event: &EventText,
    headers: &HeaderMap,
    verdict: &HeaderValue,
    body: &[u8],
) -> Result<(), String> {
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).trim().to_ascii_lowercase();
    if let Some(encoding) = headers.get_all(CONTENT_ENCODING).iter().map(text).find(|encoding| encoding != "identity") {
        return Err(format!("it has `Content-Encoding: {}`, which was not asked for", hookbox::shorten(&encoding, 40)));
    }
    let name = dialect(source);
    let known = hookbox::dialect::by_name(name).ok_or_else(|| format!("the dialect `{name}` is not known"))?;
    let is_text = headers.get(CONTENT_TYPE).map(text).is_some_and(|kind| kind.starts_with("text/plain"));
    hookbox_server::agree(known, &event.read, source.event.as_deref(), &text(verdict), body, is_text)
}

/// What it answers, which is no larger than an event can be.
async fn whole(mut response: Response) -> anyhow::Result<Vec<u8>> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        body.extend_from_slice(&chunk);
        anyhow::ensure!(body.len() <= EVENT_LIMIT, "it answers with more than {} MiB", EVENT_LIMIT >> 20);
    }
    Ok(body)
}

/// Whose words the daemon is asked for.
fn dialect(source: &Source) -> &str {
    source.named().unwrap_or(config::DEFAULT_DIALECT)
}

/// How often the daemon's answer has kept the agent going, where that is too often.
pub fn stops_beyond(source: &Source, event: &EventText, answer: &[u8]) -> Option<u32> {
    stops::answer_beyond(dialect(source), source.event.as_deref(), answer, &event.read)
}

/// Whether the daemon's answer keeps something from going on as it would have; also one that nobody can read.
pub fn holds(source: &Source, event: &EventText, answer: &[u8]) -> bool {
    let said = || {
        let dialect = hookbox::dialect::by_name(dialect(source))?;
        let event = dialect.decode_event(&event.read, source.event.as_deref()).ok()?;
        let object = hookbox_protocol::json::parse_object(answer).ok()?;
        Some(dialect.decode_output(&event, object.get("result").and_then(Value::as_object).unwrap_or(&object)).ok()?.0)
    };
    !answer.is_empty() && said().is_none_or(|output| output.restricts())
}

/// Notes that the event came, as far as it can be told which.
pub fn touch(source: &Source, event: &EventText) {
    let known = hookbox::dialect::by_name(dialect(source));
    let spec = known.and_then(|dialect| Some((dialect, dialect.glimpse_spec(&event.read, source.event.as_deref())?)));
    if let Some((dialect, spec)) = spec {
        heartbeat::touch(dialect.name(), spec.name);
    }
}

/// What becomes of the event without a daemon.
pub fn away(source: &Source, closed: bool, event: &EventText, error: anyhow::Error) -> Outcome {
    let dialect = hookbox::dialect::by_name(dialect(source));
    let asked = event.asked().named(source.event.as_deref());
    let why = crate::report::one_line(&error);
    Outcome::failed(Judged::without_hooks(&asked, dialect, closed, Fault::Internal, &why), Some(error))
}
