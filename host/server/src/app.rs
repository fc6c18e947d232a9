//! The state that all requests share.

use std::sync::Arc;

use hookbox::Runtime;
use tokio::sync::watch;

use crate::{
    bodies::Bodies,
    console::Console,
    gate::Gate,
    metrics::Metrics,
    pages::Pages,
    processor::Processor,
    records::{NotRecorded, RecordEntry, RecordForms, Records},
    settings::Settings,
    tenants::Tenants,
    tls::Tls,
    traces::Exports,
};

/// The state that all requests share.
pub struct App {
    pub settings: Settings,
    pub tenants: Arc<Tenants>,
    pub runtime: Runtime,
    pub gate: Gate,
    pub bodies: Bodies,
    pub processor: Processor,
    pub metrics: Metrics,
    /// The data of the console, if it is enabled.
    pub console: Option<Console>,
    pub tls: Option<Arc<Tls>>,
    pub records: Option<Records>,
    /// Pages of metrics that are not sent yet.
    pub pages: Pages,
    /// The results of sending traces, if there is a collector.
    pub exports: Option<Exports>,
    /// The phase of the daemon.
    pub phase: watch::Sender<Phase>,
}

/// The phase of the daemon.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
pub enum Phase {
    /// Accepts connections.
    Serving,
    /// Accepts no new connections, and still serves the existing ones.
    Draining,
    /// The drain time is over: pending requests are given up.
    Ending,
}

impl App {
    /// The forms in which records are needed.
    pub const fn wanted(&self) -> RecordForms {
        RecordForms { line: self.records.is_some(), page: self.console.is_some() }
    }

    /// Passes a record to the operator's page and to the file of records.
    ///
    /// # Errors
    /// Records are required, and this one was not written in time.
    pub async fn record(&self, tenant: &str, entry: RecordEntry, by: tokio::time::Instant) -> Result<(), NotRecorded> {
        if let (Some(console), Some(seen)) = (&self.console, entry.page) {
            console.see(tenant, &seen);
        }
        match (&self.records, entry.line) {
            (Some(records), Some(line)) => records.write(&line, by).await,
            _ => Ok(()),
        }
    }

    /// Removes the metric series of removed tenants, and of hooks that are in no hook set any more.
    pub fn forget_series(&self) {
        let known = self.tenants.hooks();
        self.metrics.retain(|key| {
            let label = |name| key.labels().find(|label| label.key() == name).map(metrics::Label::value);
            let Some(tenant) = label("tenant").filter(|tenant| !tenant.is_empty()) else { return true };
            let Some(hooks) = known.get(tenant) else { return false };
            label("hook").is_none_or(|hook| {
                let digests = label("dialect").and_then(|dialect| hooks.get(dialect)).and_then(|hooks| hooks.get(hook));
                digests.is_some_and(|digests| label("digest").is_none_or(|digest| digests.contains(digest)))
            })
        });
    }

    /// Waits until pending requests are given up.
    pub async fn ending(&self) {
        // This cannot fail, because `self` owns the sender.
        let _ = self.phase.subscribe().wait_for(|phase| *phase == Phase::Ending).await;
    }
}
