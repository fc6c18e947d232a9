//! Answers the messages of one client.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use serde_json::Value;
use tokio::sync::{Semaphore, mpsc, watch};

use super::{
    Notice, Reporter, WAITING,
    budget::{Budget, kind},
    message::RpcError,
    reload::{Source, Unavailable},
    reply,
    request::Request,
};
use crate::{
    HookSet, Response,
    json::{Object, shorten},
    time_for_hooks,
};

/// The state that all requests of one client share.
pub(super) struct Server<S> {
    pub(super) source: Arc<S>,
    pub(super) budget: Budget,
    pub(super) replies: mpsc::Sender<String>,
    pub(super) reporter: Reporter,
    pub(super) dropped: AtomicU64,
    /// True once the time of requests is up.
    pub(super) ended: watch::Receiver<bool>,
    /// Permits of requests whose hooks run.
    pub(super) running: Semaphore,
    /// Permits of requests that are not answered yet.
    pub(super) waiting: Arc<Semaphore>,
}

impl<S: Source> Server<S> {
    pub(super) fn say(&self, line: impl Into<String>) {
        (self.reporter)(Notice::Line(line.into()));
    }

    pub(super) async fn send(&self, reply: String) {
        // Fails if the client has gone away, which `serve` notices.
        let _ = self.replies.send(reply).await;
    }

    /// picoclaw.md#hookhello: "The handshake has to be completed at start; otherwise the hook process is ended." So the
    /// reply does not wait for hooks to compile. Unsupported versions and modes are warnings in the reply.
    pub(super) fn hello(&self, id: &Value, line: &[u8]) -> Value {
        let line: Value = serde_json::from_slice(line).unwrap_or_default();
        let params = line.get("params").unwrap_or(&Value::Null);
        let mut warnings = Vec::new();
        for key in ["version", "protocol_version"] {
            match params.get(key) {
                None | Some(Value::Null) => {}
                Some(version) if version.as_f64() == Some(1.0) => {}
                Some(other) => {
                    warnings.push(format!("`{key}` is {}, this hook speaks 1", shorten(&other.to_string(), 40)));
                }
            }
        }
        if let Some(modes) = params.get("modes").and_then(Value::as_array) {
            let served = self.source.modes();
            let unserved = modes.iter().filter_map(Value::as_str).filter(|mode| !served.contains(mode));
            warnings.extend(unserved.map(|mode| format!("no hook here serves the mode `{}`", shorten(mode, 40))));
        }
        for warning in &warnings {
            self.say(format!("hook.hello: {warning}"));
        }
        let mut result = Object::from_iter([("ok".to_owned(), true.into())]);
        if let Some(name) = params.get("name").and_then(Value::as_str) {
            result.insert("name".into(), shorten(name, 200).into());
        }
        if !warnings.is_empty() {
            result.insert("warnings".into(), warnings.into());
        }
        reply::result(id, &result.into())
    }

    pub(super) fn is_idle(&self) -> bool {
        self.waiting.available_permits() == WAITING
    }

    pub(super) async fn answer(&self, request: Request) {
        let reply = self.request(request).await;
        self.send(reply).await;
    }

    /// Waits until the time of requests is up.
    async fn ending(&self) {
        let mut ended = self.ended.clone();
        if ended.wait_for(|ended| *ended).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// The reply to a request, within the client's timeout.
    async fn request(&self, request: Request) -> String {
        let current = tokio::select! {
            biased;
            current = self.source.current() => current,
            // The configuration is not known yet, so the request is blocked.
            () = self.ending() => Err(Unavailable { reason: "hookbox ends before its hooks are loaded".into(), closed: true }),
        };
        let shown = request.method.as_deref().unwrap_or("a request without a method");
        if let Some(method) = &request.method {
            // decisions.md#picoclaw: "An unknown method is an interceptor", where a hook names it.
            let named =
                |host: &HookSet| host.config().hooks.iter().any(|hook| hook.events.iter().any(|event| event == method));
            if kind(method).is_none() && !current.as_ref().is_ok_and(|host| named(host)) {
                return RpcError::method(method).reply(&request.id).to_string();
            }
        }
        let asked = request.asked(self.budget);
        let response = match current {
            Ok(host) => {
                let budget = request.budget(self.budget);
                let response = self.decide(&host, asked, time_for_hooks(budget), shown).await;
                (self.reporter)(Notice::Decided { response: &response, host: &host, event: &request.line });
                response
            }
            Err(unavailable) => unavailable.response(&asked),
        };
        if let Some(failed) = &response.error {
            self.say(format!("{shown}: {}", failed.message));
        }
        reply::of(response, &request)
    }

    /// Runs the hooks once there is a permit. They count as failed if there is no permit in time, or if the time of
    /// requests is up.
    async fn decide(&self, host: &HookSet, asked: crate::Request<'_>, time: Duration, shown: &str) -> Response {
        let ended = *self.ended.borrow();
        let in_time = async {
            if ended {
                return std::future::pending().await;
            }
            let place = tokio::time::timeout(time, self.running.acquire()).await;
            let response = host.decide(asked).await;
            drop(place);
            response
        };
        tokio::select! {
            biased;
            response = in_time => response,
            () = self.ending() => {
                self.say(format!("{shown}: answered before its hooks were done, because hookbox ends"));
                host.decide(asked.timeout(Some(Duration::ZERO))).await
            }
        }
    }

    pub(super) async fn notification(&self, method: &str, line: &[u8]) {
        if kind(method).is_none() {
            self.say(format!("unexpected reply to `{}`: ignored", shorten(method, 60)));
            return;
        }
        let Ok(host) = self.source.current().await else { return };
        let asked = crate::Request::new(line).timeout(Some(self.budget.of(method)));
        let response = host.decide(asked).await;
        (self.reporter)(Notice::Decided { response: &response, host: &host, event: line });
        if let Some(failed) = response.error {
            self.say(format!("{method}: {}", failed.message));
        }
    }

    pub(super) fn count_dropped(&self) {
        let dropped = self.dropped.fetch_add(1, Ordering::Relaxed) + 1;
        metrics::counter!("hookbox_notifications_dropped_total").increment(1);
        if dropped.is_power_of_two() {
            self.say(format!("{dropped} notifications dropped so far: observers are slower than the client"));
        }
    }
}
