//! The metrics of a process that installs a recorder.

#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use hookbox_testing::guest;
use std::{
    collections::BTreeMap,
    path::Path,
    sync::{Arc, Mutex},
};

use hookbox::{HookSet, config::Config};
use metrics::{
    Counter, CounterFn, Gauge, GaugeFn, Histogram, HistogramFn, Key, KeyName, Metadata, Recorder, SharedString, Unit,
};

/// Series by name and labels, with their values.
#[derive(Default)]
struct Series(Arc<Mutex<BTreeMap<String, Vec<f64>>>>);

struct One(Arc<Mutex<BTreeMap<String, Vec<f64>>>>, String);

impl One {
    fn add(&self, value: f64) {
        self.0.lock().unwrap().entry(self.1.clone()).or_default().push(value);
    }
}

impl CounterFn for One {
    fn increment(&self, value: u64) {
        self.add(u32::try_from(value).unwrap().into());
    }
    fn absolute(&self, _: u64) {
        panic!("counters only count");
    }
}

impl HistogramFn for One {
    fn record(&self, value: f64) {
        self.add(value);
    }
}

impl GaugeFn for One {
    fn increment(&self, _: f64) {
        panic!("gauges are set");
    }
    fn decrement(&self, _: f64) {
        panic!("gauges are set");
    }
    fn set(&self, value: f64) {
        self.add(value);
    }
}

impl Series {
    fn one(&self, key: &Key) -> Arc<One> {
        let labels: Vec<_> = key.labels().map(|label| format!("{}={}", label.key(), label.value())).collect();
        Arc::new(One(self.0.clone(), format!("{} {}", key.name(), labels.join(" "))))
    }
}

impl Recorder for Series {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        Counter::from_arc(self.one(key))
    }
    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::from_arc(self.one(key))
    }
    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::from_arc(self.one(key))
    }
}

#[tokio::test]
async fn every_fault_reaches_the_metrics_by_name() {
    let folder = tempfile::tempdir().unwrap();
    for (name, body) in [("spin.wasm", "(loop $again (br $again))"), ("quiet.wasm", "")] {
        std::fs::write(folder.path().join(name), guest::encode(&guest::gate(body, ""), guest::GATE, "")).unwrap();
    }
    let text = r#"{ "host": { "tenant": "acme" }, "hooks": { "PreToolUse": [{ "hooks": [
        { "type": "wasm", "component": "spin.wasm", "limits": { "fuel": 1000 }, "onFailure": "ignore" },
        { "type": "wasm", "component": "quiet.wasm" }] }] } }"#;
    let config = Config::parse(text, &folder.path().join("hooks.json"), None).unwrap_or_else(|e| panic!("{e}")).config;
    let host = HookSet::standalone().config(config).cache_dir(Path::new("/dev/null")).build().await.unwrap();

    let series = Series::default();
    let recording = metrics::set_default_local_recorder(&series);
    let event = r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{}}"#;
    for _ in 0..2 {
        host.dispatch(event).await.unwrap();
    }
    drop(recording);

    let told = series.0.lock().unwrap();
    let of = |hook: &str| format!("tenant=acme dialect=claude event=PreToolUse hook={hook}");
    let values = |name: &str| told.get(name).unwrap_or_else(|| panic!("no {name} in {told:#?}")).clone();
    let (spin, quiet) = (of("spin.wasm"), of("quiet.wasm"));
    assert_eq!(
        values(&format!("hookbox_hook_calls_total {spin} verdict=failed cause=out-of-fuel mode=enforce")),
        [1.0, 1.0]
    );
    assert_eq!(values(&format!("hookbox_hook_calls_total {quiet} verdict=nothing cause= mode=enforce")), [1.0, 1.0]);
    let digest = hookbox::sha256(std::fs::read(folder.path().join("quiet.wasm")).unwrap());
    let info = format!("hookbox_hook_info tenant=acme dialect=claude hook=quiet.wasm digest={digest} publisher=");
    assert_eq!(values(&info), [1.0, 1.0]);
    assert_eq!(values(&format!("hookbox_hook_fuel {spin}")), [1000.0, 1000.0]);
    assert!(values(&format!("hookbox_hook_seconds {quiet}")).iter().all(|seconds| (0.0..10.0).contains(seconds)));
    assert_eq!(
        values("hookbox_verdicts_total tenant=acme dialect=claude event=PreToolUse verdict=nothing"),
        [1.0, 1.0]
    );
}
