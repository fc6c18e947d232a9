//! The dashboard and the alert rules in `deploy/` name metrics and labels that there are.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use crate::daemon::{Files, bash, closed};

/// Counters that appear with their first, unwanted, event.
const RARE: [&str; 6] = [
    "hookbox_connections_given_up_total",
    "hookbox_connections_made_room_total",
    "hookbox_connections_refused_total",
    "hookbox_log_lines_lost_total",
    "hookbox_notifications_dropped_total",
    "hookbox_records_lost_total",
];
/// Labels that Prometheus adds.
const ADDED: [&str; 3] = ["instance", "job", "le"];

fn file(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn metric_names(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| !(c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_'));
    words.filter(|word| word.starts_with("hookbox_")).collect()
}

/// The labels that expressions name: before `=`, `!=` and `=~` in braces, and in `by (…)`.
fn labels(text: &str) -> BTreeSet<&str> {
    let between = |open: &'static str, close: char| {
        text.split(open).skip(1).filter_map(move |rest| rest.split_once(close).map(|(inside, _)| inside))
    };
    let matched = between("{", '}').flat_map(|inside| inside.split(',')).filter_map(|part| {
        let (label, value) = part.split_once('=')?;
        value.contains('"').then(|| label.trim().trim_end_matches('!'))
    });
    let grouped = between("by (", ')').flat_map(|inside| inside.split(',')).map(str::trim);
    matched.chain(grouped).filter(|label| !label.is_empty()).collect()
}

/// The expressions of a dashboard.
fn expressions(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            let texts = ["expr", "definition"].iter().filter_map(|key| fields.get(*key)?.as_str());
            found.extend(texts.map(str::to_owned));
            fields.values().for_each(|value| expressions(value, found));
        }
        Value::Array(items) => items.iter().for_each(|value| expressions(value, found)),
        _ => {}
    }
}

#[tokio::test]
async fn dashboard_and_rules_use_existing_metrics() {
    let files = Files::new();
    let starved = json!({ "type": "wasm", "component": "guard.wasm", "limits": { "fuel": 1000 } });
    files.write("tenants/acme-hooks.json", &closed(json!({ "hooks": { "PreToolUse": [{ "hooks": [starved] }] } })));
    let daemon = files.start();
    daemon.verdict("acme", bash("ls")).await;
    let scraped = daemon.client.get(daemon.url("/metrics")).send().await.unwrap().text().await.unwrap();
    let kinds: BTreeMap<&str, &str> =
        scraped.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' ')).collect();
    let scraped_labels = labels(&scraped);

    let dashboard: Value = serde_json::from_str(&file("deploy/grafana/hookbox.json")).unwrap();
    let mut texts = Vec::new();
    expressions(&dashboard, &mut texts);
    assert!(texts.len() > 20, "{texts:?}");
    texts.push(file("deploy/prometheus/hookbox.rules.yaml").replace("{{", "").replace("}}", ""));
    let (documented, mut used) = (file("docs/observing.md"), BTreeSet::new());
    for text in &texts {
        for name in metric_names(text) {
            let base = ["_bucket", "_sum", "_count"].iter().find_map(|suffix| name.strip_suffix(suffix));
            let (base, in_parts) = base.map_or((name, false), |base| (base, true));
            match kinds.get(base) {
                Some(kind) => assert_eq!(*kind == "histogram", in_parts, "{name} is a {kind}: {text}"),
                None => assert!(RARE.contains(&name), "{name} is not in /metrics: {text}"),
            }
            assert!(documented.contains(&format!("`{base}`")), "{base} is not in docs/observing.md");
            used.insert(base.to_owned());
        }
        for label in labels(text) {
            assert!(scraped_labels.contains(label) || ADDED.contains(&label), "no metric has `{label}`: {text}");
        }
    }
    // The dashboard leaves nothing out.
    let left_out: Vec<_> = kinds.keys().filter(|name| !used.contains(**name)).collect();
    assert!(left_out.is_empty(), "{left_out:?}");
    assert!(RARE.iter().all(|name| used.contains(*name)));
}

#[test]
fn panels_of_the_dashboard_lie_side_by_side() {
    let dashboard: Value = serde_json::from_str(&file("deploy/grafana/hookbox.json")).unwrap();
    let (mut taken, mut ids) = (BTreeSet::new(), BTreeSet::new());
    for panel in dashboard["panels"].as_array().unwrap() {
        let title = panel["title"].as_str().unwrap();
        let side = |key: &str| panel["gridPos"][key].as_u64().unwrap();
        assert!(side("x") + side("w") <= 24 && ids.insert(panel["id"].as_u64().unwrap()), "{title}");
        for x in side("x")..side("x") + side("w") {
            assert!((side("y")..side("y") + side("h")).all(|y| taken.insert((x, y))), "{title}");
        }
        assert!(!panel["targets"].as_array().unwrap().is_empty(), "{title}");
        assert_eq!(panel["datasource"]["uid"], "${datasource}", "{title}");
    }
}
