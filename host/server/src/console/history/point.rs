//! The counts of one step of time.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::console::{outcome::ResponseFacts, scale::Scale};

/// The counts of one step.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Point {
    /// Events with a verdict.
    #[serde(rename = "n")]
    pub decisions: u32,
    /// Events that were blocked.
    #[serde(rename = "d", skip_serializing_if = "is_zero")]
    pub denied: u32,
    /// Events about which the user was asked.
    #[serde(rename = "a", skip_serializing_if = "is_zero")]
    pub asked: u32,
    /// Events on which an enforced hook failed.
    #[serde(rename = "f", skip_serializing_if = "is_zero")]
    pub failed: u32,
    /// Events whose outcome would differ if monitored hooks were enforced.
    #[serde(rename = "w", skip_serializing_if = "is_zero")]
    pub would: u32,
    /// Requests with a problem before any hook ran.
    #[serde(rename = "r", skip_serializing_if = "is_zero")]
    pub refused: u32,
    /// The maximum number of waiting events.
    #[serde(rename = "q", skip_serializing_if = "is_zero")]
    pub queue: u32,
    /// The times until the verdict, in µs.
    #[serde(rename = "t")]
    pub times: Scale,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it so")]
const fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl Point {
    /// Counts one response.
    pub fn count(&mut self, counted: &ResponseFacts) {
        let add = |to: &mut u32, yes: bool| *to = to.saturating_add(yes.into());
        add(&mut self.decisions, counted.decided);
        add(&mut self.denied, counted.denied);
        add(&mut self.asked, counted.asked);
        add(&mut self.failed, counted.failed);
        add(&mut self.would, counted.would);
        add(&mut self.refused, counted.problem.is_some());
        if counted.decided {
            self.times.add(counted.us);
        }
    }

    /// Adds the counts of another step.
    pub fn merge(&mut self, other: &Self) {
        let add = |to: &mut u32, more: u32| *to = to.saturating_add(more);
        add(&mut self.decisions, other.decisions);
        add(&mut self.denied, other.denied);
        add(&mut self.asked, other.asked);
        add(&mut self.failed, other.failed);
        add(&mut self.would, other.would);
        add(&mut self.refused, other.refused);
        self.queue = self.queue.max(other.queue);
        self.times.merge(&other.times);
    }

    /// The counts as JSON, with the percentiles of their times in µs.
    pub fn json(&self) -> Value {
        json!({
            "decisions": self.decisions, "denied": self.denied, "asked": self.asked, "failed": self.failed,
            "would": self.would, "refused": self.refused, "queue": self.queue,
            "p50": self.times.quantile(0.5), "p99": self.times.quantile(0.99),
        })
    }
}
