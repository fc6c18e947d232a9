//! `hookbox run --connect`: the daemon decides. This process loads no engine and reads no configuration.

use std::{path::PathBuf, sync::mpsc, thread, time::Duration};

use anyhow::Context;
use clap::Args;
use hookbox::{EVENT_LIMIT, ErrorKind, Request, Response, config, time_for_hooks};
use reqwest::{
    Client, StatusCode, Url,
    header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue},
    redirect::Policy,
};

use super::{Decided, EventText, Source, block_on};
use crate::exit::Exit;

/// The environment variable with the tenant's token. Command-line arguments are visible to all users of the machine.
const TOKEN: &str = "HOOKBOX_TOKEN";
/// The header that marks a daemon's verdict. A response without it comes from another server, such as a proxy or a
/// login page.
const VERDICT: &str = "hookbox-verdict";
/// The header of a block because of a problem.
const PROBLEM: &str = "hookbox-problem";
/// The time for a response after its timeout.
const LATE: Duration = Duration::from_millis(100);
/// The maximum length of a quoted response that is not a verdict.
const MAX_TEXT: usize = 500;

/// The daemon that decides.
#[derive(Debug, Args)]
pub struct Daemon {
    /// Let the daemon there judge: `http://HOST:PORT`, `https://…` or `unix:PATH`; the tenant's token is in
    /// `HOOKBOX_TOKEN`. When it is away, the file of `--config` judges, or else it counts as a failure
    #[arg(long, value_name = "ADDRESS", requires = "tenant")]
    connect: Option<String>,
    /// The tenant whose hooks the daemon runs
    #[arg(long, value_name = "NAME", requires = "connect")]
    tenant: Option<String>,
    /// Seconds that the daemon has
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0, requires = "connect")]
    wait: f64,
}

impl Daemon {
    /// The daemon's response. `None` if no daemon is configured. With `closed`, failures block.
    pub fn ask(
        &self,
        source: &Source,
        event: &EventText,
        client: Option<Duration>,
        closed: bool,
        request: Request<'_>,
    ) -> Option<anyhow::Result<Decided>> {
        let (address, tenant) = (self.connect.as_deref()?, self.tenant.as_deref()?);
        let outgoing = self.request(address, tenant, source, event, client);
        let response = outgoing.and_then(DaemonRequest::send).and_then(|response| response.verdict(source, event));
        let known = hookbox::dialect::by_name(dialect(source));
        let decided = response.map(|answer| match answer {
            Answer::Verdict { verdict, body, is_text } => Decided {
                dialect: known,
                ..Decided::without_hooks(Response::of_words(body, is_text, verdict, closed), None)
            },
            Answer::Nameless(reason) => {
                Decided::without_hooks(Response::block(&request, known, ErrorKind::Event, &reason), None)
            }
        });
        Some(decided.with_context(|| format!("the daemon at {address} gives no verdict")))
    }

    /// The timeout of the daemon: less than the client's timeout. Half of that if a file can replace the daemon.
    fn wait(&self, source: &Source, event: &EventText, client: Option<Duration>) -> anyhow::Result<Duration> {
        let wait = Duration::try_from_secs_f64(self.wait).context("`--wait` is a number of seconds")?;
        let client_default = || {
            let dialect = hookbox::dialect::by_name(dialect(source))?;
            Some(dialect.client_timeout(dialect.glimpse_spec(&event.read, source.event.as_deref())?))
        };
        let limit = client.or_else(client_default).map_or(wait, time_for_hooks);
        Ok(wait.min(if source.config.is_some() { limit / 2 } else { limit }))
    }

    fn request(
        &self,
        address: &str,
        tenant: &str,
        source: &Source,
        event: &EventText,
        client: Option<Duration>,
    ) -> anyhow::Result<DaemonRequest> {
        let token = std::env::var(TOKEN).map_err(|_| Exit::Usage.error(format!("`{TOKEN}` has no token")))?;
        let wait = self.wait(source, event, client)?;
        let socket = address.strip_prefix("unix:").map(PathBuf::from);
        // The host name of a socket is never looked up.
        let base = if socket.is_some() { "http://hookbox" } else { address };
        let mut url = Url::parse(base).context("invalid address: expected `http://HOST:PORT` or `unix:PATH`")?;
        let dialect = dialect(source);
        let path = url.path_segments_mut();
        path.map_err(|()| Exit::Usage.error("it is not an address"))?.pop_if_empty().extend(["v1", tenant, dialect]);
        if let Some(name) = &source.event {
            url.query_pairs_mut().append_pair("event", name);
        }
        Ok(DaemonRequest { url, socket, token, wait, body: event.whole()?.to_vec() })
    }
}

/// A request to the daemon.
#[derive(Clone)]
struct DaemonRequest {
    url: Url,
    /// The Unix socket to use instead of the host.
    socket: Option<PathBuf>,
    token: String,
    wait: Duration,
    body: Vec<u8>,
}

/// A response that was read completely.
struct DaemonResponse {
    status: StatusCode,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl DaemonRequest {
    /// Sends the request on a separate thread, because a flood of interim responses keeps a thread busy past any timeout.
    fn send(self) -> anyhow::Result<DaemonResponse> {
        let (sender, receiver) = mpsc::sync_channel(1);
        let (own, limit) = (self.clone(), self.wait + LATE);
        let ask = move || drop(sender.send(block_on(own.exchange())));
        if thread::Builder::new().name("daemon".into()).spawn(ask).is_err() {
            // Without a thread to spare, the request is sent on this one.
            return block_on(self.exchange());
        }
        receiver.recv_timeout(limit).map_err(|_| Exit::Software.error("its response did not end in time"))?
    }

    async fn exchange(self) -> anyhow::Result<DaemonResponse> {
        let Self { url, socket, token, wait, body } = self;
        // Redirects are not followed, because they could lead to another server than the configured daemon.
        let builder = Client::builder().no_proxy().redirect(Policy::none()).timeout(wait);
        let client = socket.into_iter().fold(builder, reqwest::ClientBuilder::unix_socket).build()?;
        let request = client.post(url).bearer_auth(token).header("hookbox-timeout", wait.as_secs_f64().to_string());
        let response = request.body(body).send().await?;
        let (status, headers) = (response.status(), response.headers().clone());
        Ok(DaemonResponse { status, headers, body: whole(response).await? })
    }
}

impl DaemonResponse {
    /// The verdict in the response.
    fn verdict(self, source: &Source, event: &EventText) -> anyhow::Result<Answer> {
        let Self { status, headers, body } = self;
        let mut verdicts = headers.get_all(VERDICT).iter();
        if let (StatusCode::OK, Some(verdict)) = (status, verdicts.next()) {
            let more = verdicts.next().is_some();
            return checked(source, event, &headers, verdict, body)
                .and_then(|answer| if more { Err("it has two `Hookbox-Verdict`".to_owned()) } else { Ok(answer) })
                .map_err(|why| Exit::Software.error(format!("its response is not a verdict: {why}")));
        }
        let text = hookbox::shorten(&String::from_utf8_lossy(&body), MAX_TEXT);
        let what = if status == StatusCode::OK { "which is not a verdict, " } else { "" };
        Err(Exit::Software.error(format!("it responds with {status}, {what}and: {text}")))
    }
}

/// A daemon's answer.
enum Answer {
    /// A response whose header and body are consistent.
    Verdict { verdict: String, body: String, is_text: bool },
    /// A block of an event whose name is unknown, with its reason. Its body has no form of an event, so it cannot be
    /// checked, and the client gets the form of an internal error.
    Nameless(String),
}

/// Checks that the header and the body of a response are consistent, and that its form was requested.
fn checked(
    source: &Source,
    event: &EventText,
    headers: &HeaderMap,
    verdict: &HeaderValue,
    body: Vec<u8>,
) -> Result<Answer, String> {
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).trim().to_ascii_lowercase();
    if let Some(encoding) = headers.get_all(CONTENT_ENCODING).iter().map(text).find(|encoding| encoding != "identity") {
        return Err(format!("it has `Content-Encoding: {}`, which was not requested", hookbox::shorten(&encoding, 40)));
    }
    let name = dialect(source);
    let known = hookbox::dialect::by_name(name).ok_or_else(|| format!("unknown dialect `{name}`"))?;
    let is_text = headers.get(CONTENT_TYPE).map(text).is_some_and(|kind| kind.starts_with("text/plain"));
    let verdict = text(verdict);
    if headers.contains_key(PROBLEM) && ["nothing", "none", "allow"].contains(&verdict.as_str()) {
        return Err(format!("it has a problem, and `Hookbox-Verdict` is `{verdict}`"));
    }
    let blocks = ["deny", "skip", "respond", "stop"].contains(&verdict.as_str());
    if blocks && known.glimpse_spec(&event.read, source.event.as_deref()).is_none() {
        let body: serde_json::Value = serde_json::from_slice(&body).unwrap_or_default();
        let reason = body.get("reason").and_then(serde_json::Value::as_str);
        return Ok(Answer::Nameless(reason.unwrap_or("the daemon blocks an event whose name is unknown").to_owned()));
    }
    hookbox_server::agree(known, &event.read, source.event.as_deref(), &verdict, &body, is_text)?;
    let body = String::from_utf8(body).map_err(|_| "the body is not UTF-8".to_owned())?;
    Ok(Answer::Verdict { verdict, body, is_text })
}

/// Reads the whole response. An error if it is larger than the largest event.
async fn whole(mut response: reqwest::Response) -> anyhow::Result<Vec<u8>> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        body.extend_from_slice(&chunk);
        anyhow::ensure!(body.len() <= EVENT_LIMIT, "its response is larger than {} MiB", EVENT_LIMIT >> 20);
    }
    Ok(body)
}

/// The dialect of the request to the daemon.
fn dialect(source: &Source) -> &str {
    source.named().unwrap_or(config::DEFAULT_DIALECT)
}

/// The response to the event if the daemon is unavailable.
pub fn away(source: &Source, closed: bool, request: Request<'_>, error: anyhow::Error) -> Decided {
    let dialect = hookbox::dialect::by_name(dialect(source));
    let why = crate::report::one_line(&error);
    Decided::without_hooks(Response::without_hooks(&request, dialect, closed, ErrorKind::Internal, &why), Some(error))
}
