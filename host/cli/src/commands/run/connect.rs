//! `hookbox run --connect`: the daemon decides. This process loads no engine and reads no configuration.

use std::{path::PathBuf, time::Duration};

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
/// The maximum length of a quoted response that is not a verdict.
const TOLD: usize = 500;

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
    ) -> Option<anyhow::Result<Decided>> {
        let (address, tenant) = (self.connect.as_deref()?, self.tenant.as_deref()?);
        let asked = block_on(self.post(address, tenant, source, event, client));
        let decided = asked.map(|answer| Decided {
            dialect: hookbox::dialect::by_name(dialect(source)),
            ..Decided::without_hooks(Response::of_words(answer.body, answer.is_text, answer.verdict, closed), None)
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

    async fn post(
        &self,
        address: &str,
        tenant: &str,
        source: &Source,
        event: &EventText,
        client: Option<Duration>,
    ) -> anyhow::Result<Answer> {
        let token = std::env::var(TOKEN).map_err(|_| Exit::Usage.error(format!("`{TOKEN}` has no token")))?;
        let wait = self.wait(source, event, client)?;
        // Redirects are not followed, because they could lead to another server than the configured daemon.
        let builder = Client::builder().no_proxy().redirect(Policy::none()).timeout(wait);
        let (client, base) = match address.strip_prefix("unix:") {
            // The host name is never looked up.
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
            return checked(source, event, &headers, verdict, body)
                .and_then(|answer| if more { Err("it has two `Hookbox-Verdict`".to_owned()) } else { Ok(answer) })
                .map_err(|why| Exit::Software.error(format!("its answer is not a verdict: {why}")));
        }
        let text = hookbox::shorten(&String::from_utf8_lossy(&body), TOLD);
        let what = if status == StatusCode::OK { "which is not a verdict, " } else { "" };
        Err(Exit::Software.error(format!("it answers {status}, {what}and says: {text}")))
    }
}

/// A daemon's response whose header and body are consistent.
struct Answer {
    verdict: String,
    body: String,
    is_text: bool,
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
        return Err(format!("it has `Content-Encoding: {}`, which was not asked for", hookbox::shorten(&encoding, 40)));
    }
    let name = dialect(source);
    let known = hookbox::dialect::by_name(name).ok_or_else(|| format!("unknown dialect `{name}`"))?;
    let is_text = headers.get(CONTENT_TYPE).map(text).is_some_and(|kind| kind.starts_with("text/plain"));
    let verdict = text(verdict);
    hookbox_server::agree(known, &event.read, source.event.as_deref(), &verdict, &body, is_text)?;
    let body = String::from_utf8(body).map_err(|_| "the body is not UTF-8".to_owned())?;
    Ok(Answer { verdict, body, is_text })
}

/// Reads the whole response. An error if it is larger than the largest event.
async fn whole(mut response: reqwest::Response) -> anyhow::Result<Vec<u8>> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        body.extend_from_slice(&chunk);
        anyhow::ensure!(body.len() <= EVENT_LIMIT, "it answers with more than {} MiB", EVENT_LIMIT >> 20);
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
