#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use super::{History, STARTS, Saved, TENANTS, WINDOWS, Window};
use crate::console::outcome::ResponseFacts;

const NOW: i64 = 1_800_000_000_000;

fn decided(denied: bool) -> ResponseFacts {
    ResponseFacts { decided: true, denied, us: 100, ..ResponseFacts::default() }
}

fn started() -> History {
    History::from(Saved::default(), NOW)
}

fn numbers(columns: &serde_json::Value, name: &str) -> Vec<Option<u64>> {
    columns[name].as_array().unwrap().iter().map(serde_json::Value::as_u64).collect()
}

#[test]
fn a_gap_is_null_and_a_quiet_time_is_zero() {
    let history = started();
    let window = WINDOWS[0];
    history.waiting(std::iter::empty(), NOW);
    history.count("acme", &decided(true), NOW);
    // Nothing for three steps, then a step without events.
    let later = NOW + 4 * window.step;
    history.waiting(std::iter::empty(), later);
    for tenant in [None, Some("acme")] {
        let denied = numbers(&history.columns(tenant, window, later), "denied");
        assert_eq!(denied.len(), 180);
        assert_eq!(denied[175..], [Some(1), None, None, None, Some(0)], "{tenant:?}");
    }
    assert_eq!(history.columns(Some("other"), window, later)["decisions"][179], 0);
}

#[test]
fn history_is_bounded() {
    let history = started();
    for step in 0..1000 {
        history.count("acme", &decided(false), NOW + step * WINDOWS[0].step);
    }
    (0..TENANTS + 10).for_each(|n| history.count(&format!("t{n}"), &decided(false), NOW));
    let saved = history.to_save();
    assert_eq!(saved.tenants.len(), TENANTS);
    assert!(saved.tenants["acme"].rings.iter().all(|ring| ring.len() <= 288));
    // The event of every tenant counts for the total.
    let total = history.sum(None, WINDOWS[2], NOW + 1000 * WINDOWS[0].step);
    assert_eq!(total.decisions as usize, 1000 + TENANTS + 10);
    history.retain(|name| name == "acme");
    assert_eq!(history.to_save().tenants.len(), 1);
    // A request without a token has no name.
    history.count("", &decided(false), NOW);
    assert_eq!(history.to_save().tenants.len(), 1);
}

#[test]
fn sums_and_shapes_are_those_of_the_window() {
    let history = started();
    let now = NOW + 60 * WINDOWS[0].step;
    for second in 0..300 {
        history.count("acme", &decided(second % 10 == 0), NOW + second * 1000);
    }
    let sum = history.sum(Some("acme"), WINDOWS[0], now);
    assert_eq!((sum.decisions, sum.denied), (300, 30));
    assert_eq!(history.since(Some("acme"), WINDOWS[0], now - 60_000).decisions, 55);
    let shape = history.shape("acme", WINDOWS[0], 30, now);
    assert_eq!((shape.len(), shape.iter().sum::<u32>()), (30, 300));
    assert_eq!(Window::by_name("24h"), WINDOWS[1]);
    assert_eq!(Window::by_name("<script>"), WINDOWS[0]);
}

#[test]
fn problems_are_counted_by_name() {
    let history = started();
    let problem = ResponseFacts { problem: Some("over-quota"), ..ResponseFacts::default() };
    history.count("acme", &problem, NOW);
    history.count("acme", &problem, NOW + 5);
    assert_eq!(history.problems(Some("acme"))["over-quota"], (2, NOW + 5));
    assert_eq!(history.problems(None)["over-quota"].0, 2);
    assert!(history.problems(Some("other")).is_empty());
    assert_eq!(history.sum(None, WINDOWS[0], NOW).refused, 2);
}

#[test]
fn a_start_is_recorded() {
    let mut saved = started().to_save();
    assert_eq!(saved.starts, [NOW]);
    saved.starts.extend([NOW + 1; STARTS]);
    let history = History::from(saved, NOW + 7);
    assert_eq!(history.starts(NOW + 2), [NOW + 7]);
    assert_eq!(history.starts(0).len(), STARTS);
}
