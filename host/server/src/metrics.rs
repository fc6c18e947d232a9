//! The metrics of the library and the daemon, in Prometheus' format.
//!
//! A series is removed together with its tenant or hook, which a standard exporter could not do. So renaming hooks
//! repeatedly does not fill the memory or the page.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use metrics::{Counter, Gauge, Histogram, HistogramFn, Key, KeyName, Metadata, Recorder, SharedString, Unit};
use metrics_exporter_prometheus::formatting::{key_to_parts, write_metric_line, write_type_line};
use metrics_util::registry::{Registry, Storage};

/// Histogram buckets in seconds: from a component's run time to a model's response time.
const SECONDS: [f64; 14] =
    [0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0];
/// Histogram buckets of fuel: up to the default limit and above.
const FUEL: [f64; 8] = [1e3, 1e4, 1e5, 1e6, 1e7, 5e7, 1e9, 1e10];

/// All metrics. Cheap to clone.
#[derive(Clone)]
pub struct Metrics(Arc<Registry<Key, Cells>>);

impl std::fmt::Debug for Metrics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Metrics")
    }
}

/// The storage of a series.
struct Cells;

impl Storage<Key> for Cells {
    type Counter = Arc<AtomicU64>;
    type Gauge = Arc<AtomicU64>;
    type Histogram = Arc<Buckets>;

    fn counter(&self, _: &Key) -> Self::Counter {
        Arc::default()
    }
    fn gauge(&self, _: &Key) -> Self::Gauge {
        Arc::default()
    }
    fn histogram(&self, key: &Key) -> Self::Histogram {
        let bounds: &[f64] = if key.name().ends_with("_fuel") { &FUEL } else { &SECONDS };
        let counts = bounds.iter().map(|_| AtomicU64::new(0)).collect();
        Arc::new(Buckets { bounds, counts, count: AtomicU64::new(0), sum: AtomicU64::new(0) })
    }
}

/// A histogram with fixed buckets.
struct Buckets {
    bounds: &'static [f64],
    /// The number of values in each bucket, not cumulative.
    counts: Vec<AtomicU64>,
    count: AtomicU64,
    /// The sum of all values, as the bits of an `f64`.
    sum: AtomicU64,
}

impl HistogramFn for Buckets {
    fn record(&self, value: f64) {
        let bucket = self.bounds.iter().zip(&self.counts).find(|(bound, _)| value <= **bound);
        if let Some((_, bucket)) = bucket {
            bucket.fetch_add(1, Ordering::Relaxed);
        }
        self.count.fetch_add(1, Ordering::Relaxed);
        let add = |bits| Some((f64::from_bits(bits) + value).to_bits());
        // This cannot fail, because `add` always returns a value.
        let _ = self.sum.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
    }
}

impl Recorder for Metrics {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        self.0.get_or_create_counter(key, |cell| cell.clone().into())
    }
    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        self.0.get_or_create_gauge(key, |cell| cell.clone().into())
    }
    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        self.0.get_or_create_histogram(key, |cell| cell.clone().into())
    }
}

impl Metrics {
    /// Installs the recorder for the whole process.
    pub fn install() -> Self {
        let metrics = Self(Arc::new(Registry::new(Cells)));
        if metrics::set_global_recorder(metrics.clone()).is_err() {
            tracing::warn!("another metrics recorder is installed in this process: /metrics stays empty");
        }
        metrics
    }

    /// Removes every series for which `keep` returns false.
    pub fn retain(&self, keep: impl Fn(&Key) -> bool) {
        self.0.retain_counters(|key, _| keep(key));
        self.0.retain_gauges(|key, _| keep(key));
        self.0.retain_histograms(|key, _| keep(key));
    }

    /// The sum of all counters and gauges with this name.
    pub fn value(&self, name: &str) -> f64 {
        let mut sum = 0.0;
        #[expect(clippy::cast_precision_loss, reason = "a count for people")]
        self.0.visit_counters(|key, cell| {
            if key.name() == name {
                sum += cell.load(Ordering::Relaxed) as f64;
            }
        });
        self.0.visit_gauges(|key, cell| {
            if key.name() == name {
                sum += f64::from_bits(cell.load(Ordering::Relaxed));
            }
        });
        sum
    }

    /// The sums of all counters with this name, by the value of a label.
    pub fn by_label(&self, name: &str, label: &str) -> BTreeMap<String, u64> {
        let mut sums = BTreeMap::new();
        self.0.visit_counters(|key, cell| {
            let value = key.labels().find(|other| other.key() == label).filter(|_| key.name() == name);
            if let Some(value) = value {
                *sums.entry(value.value().to_owned()).or_default() += cell.load(Ordering::Relaxed);
            }
        });
        sums
    }

    /// The page in Prometheus' text format.
    pub fn render(&self) -> String {
        let mut families: BTreeMap<String, (&'static str, String)> = BTreeMap::new();
        let mut add = |key: &Key, kind, write: &dyn Fn(&mut String, &str, &[String])| {
            let (name, labels) = key_to_parts(key, None);
            let (_, lines) = families.entry(name.clone()).or_insert((kind, String::new()));
            write(lines, &name, &labels);
        };
        let line = write_metric_line::<&str, u64>;
        let gauge = write_metric_line::<&str, f64>;
        self.0.visit_counters(|key, cell| {
            let value = cell.load(Ordering::Relaxed);
            add(key, "counter", &|lines, name, labels| line(lines, name, None, labels, None, value, None));
        });
        self.0.visit_gauges(|key, cell| {
            let value = f64::from_bits(cell.load(Ordering::Relaxed));
            add(key, "gauge", &|lines, name, labels| gauge(lines, name, None, labels, None, value, None));
        });
        self.0.visit_histograms(|key, cell| {
            // Lower buckets are read first, so that no bucket exceeds the next one.
            let values: Vec<u64> = cell.counts.iter().map(|count| count.load(Ordering::Relaxed)).collect();
            let sum = f64::from_bits(cell.sum.load(Ordering::Relaxed));
            let below: u64 = values.iter().sum();
            let count = cell.count.load(Ordering::Relaxed).max(below);
            add(key, "histogram", &|lines, name, labels| {
                let mut so_far = 0;
                for (bound, value) in cell.bounds.iter().zip(&values) {
                    so_far += value;
                    write_metric_line(lines, name, Some("bucket"), labels, Some(("le", bound)), so_far, None);
                }
                write_metric_line(lines, name, Some("bucket"), labels, Some(("le", "+Inf")), count, None);
                gauge(lines, name, Some("sum"), labels, None, sum, None);
                line(lines, name, Some("count"), labels, None, count, None);
            });
        });
        let mut page = String::new();
        for (name, (kind, lines)) in families {
            write_type_line(&mut page, &name, kind);
            page.push_str(&lines);
            page.push('\n');
        }
        page
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use metrics::{Key, Label, Level, Metadata, Recorder};
    use metrics_util::registry::Registry;

    use super::{Cells, Metrics};

    static OURS: Metadata<'static> = Metadata::new("test", Level::INFO, None);

    fn key(name: &'static str, tenant: &'static str) -> Key {
        Key::from_parts(name, vec![Label::from_static_parts("tenant", tenant)])
    }

    #[test]
    fn the_page_has_every_series_until_it_is_forgotten() {
        let metrics = Metrics(Arc::new(Registry::new(Cells)));
        metrics.register_counter(&key("calls_total", "a"), &OURS).increment(2);
        metrics.register_counter(&key("calls_total", "b"), &OURS).increment(3);
        metrics.register_gauge(&Key::from_static_name("open"), &OURS).set(1.5);
        let seconds = metrics.register_histogram(&key("call_seconds", "a"), &OURS);
        for value in [0.000_05, 0.02, 100.0] {
            seconds.record(value);
        }
        let page = metrics.render();
        for line in [
            "# TYPE call_seconds histogram",
            r#"call_seconds_bucket{tenant="a",le="0.0001"} 1"#,
            r#"call_seconds_bucket{tenant="a",le="0.025"} 2"#,
            r#"call_seconds_bucket{tenant="a",le="30"} 2"#,
            r#"call_seconds_bucket{tenant="a",le="+Inf"} 3"#,
            r#"call_seconds_sum{tenant="a"} 100.02005"#,
            r#"call_seconds_count{tenant="a"} 3"#,
            "# TYPE calls_total counter",
            r#"calls_total{tenant="b"} 3"#,
            "# TYPE open gauge",
            "open 1.5",
        ] {
            assert!(page.lines().any(|other| other == line), "{line}\n{page}");
        }
        assert_eq!(page.matches("# TYPE").count(), 3, "{page}");
        metrics.retain(|key| !key.labels().any(|label| label.value() == "a"));
        let page = metrics.render();
        assert!(!page.contains("\"a\"") && page.contains(r#"calls_total{tenant="b"} 3"#), "{page}");
    }
}
