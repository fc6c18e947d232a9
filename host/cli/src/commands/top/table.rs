//! The numbers as lines of a terminal.

use std::time::Duration;

use serde_json::Value;

use super::Look;
use crate::{print, report};

/// Entries that need attention, at most.
const ENTRIES: usize = 6;
/// Rows of each table where there is no screen to fit.
const ROWS: usize = 50;

/// A line, safe for a terminal.
#[derive(Debug, PartialEq, Eq)]
pub struct Line {
    pub text: String,
    pub bold: bool,
}

/// The content of a screen.
pub struct View<'a> {
    pub look: &'a Look,
    /// The reason why the numbers are not current.
    pub error: Option<&'a str>,
    /// Shows the help on keys.
    pub keys: bool,
}

/// The lines that fit the columns and rows of a screen; all of them without a screen.
pub fn lines(view: &View<'_>, size: Option<(usize, usize)>) -> Vec<Line> {
    let Look { now, attention, hooks } = view.look;
    let mut head = vec![bold(title(now, view.keys)), plain(numbers(now)), plain(String::new())];
    head.extend(view.error.map(|error| bold(format!("not current: {error}"))));
    let entries = array(attention, "/list");
    head.extend(entries.iter().take(ENTRIES).map(|entry| plain(entry_line(entry))));
    if entries.len() > ENTRIES {
        head.push(plain(format!("  and {} more that need attention", entries.len() - ENTRIES)));
    }
    if !entries.is_empty() {
        head.push(plain(String::new()));
    }
    let (columns, rows) = size.unwrap_or((usize::MAX, usize::MAX));
    // Two headings and an empty line between the tables.
    let left = rows.saturating_sub(head.len() + 3);
    let (tenants, hooks) = (tenants(now), hook_rows(hooks));
    let (most_tenants, most_hooks) = match size {
        Some(_) => {
            let tenant_rows = (tenants.len() - 1).min((left / 2).max(left.saturating_sub(hooks.len())));
            (tenant_rows, left.saturating_sub(tenant_rows))
        }
        None => (ROWS, ROWS),
    };
    head.extend(table(&tenants, most_tenants));
    head.push(plain(String::new()));
    head.extend(table(&hooks, most_hooks));
    head.truncate(rows);
    for line in &mut head {
        line.text = print::plain(&line.text).chars().take(columns).collect();
    }
    head
}

fn plain(text: String) -> Line {
    Line { text, bold: false }
}

fn bold(text: String) -> Line {
    Line { text, bold: true }
}

fn title(now: &Value, keys: bool) -> String {
    let up = number(now, "/now").saturating_sub(number(now, "/daemon/started"));
    let keys = if keys { "   w window, q quit" } else { "" };
    format!(
        "hookbox {}   {}   up {}   {}{keys}",
        text(now, "/daemon/version"),
        text(now, "/daemon/name"),
        span(up),
        window(text(now, "/window")),
    )
}

fn window(name: &str) -> &str {
    match name {
        "24h" => "24 hours",
        "7d" => "7 days",
        _ => "15 minutes",
    }
}

fn numbers(now: &Value) -> String {
    let minute = |name: &str| number(now, &format!("/minute/{name}"));
    let (all, seconds) = (minute("decisions"), minute("seconds"));
    format!(
        "{}/s decided   {} denied   {} failed   {}/s refused   p50 {}   p99 {}   {} waiting",
        rate(all, seconds),
        percent(minute("denied"), all),
        percent(minute("failed"), all),
        rate(minute("refused"), seconds),
        micros(now.pointer("/minute/p50")),
        micros(now.pointer("/minute/p99")),
        minute("queue"),
    )
}

fn entry_line(entry: &Value) -> String {
    let mark = match text(entry, "/urgency") {
        "bad" => "!!",
        "warning" => "! ",
        _ => "- ",
    };
    let whose = [text(entry, "/tenant"), text(entry, "/hook")].join(" ");
    format!("{mark} {}  {}", whose.trim(), report::first_line(text(entry, "/text")))
}

type Row = Vec<String>;

fn heading(names: &[&str]) -> Row {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn tenants(now: &Value) -> Vec<Row> {
    let mut found: Vec<&Value> = array(now, "/tenants").iter().collect();
    found.sort_by_key(|tenant| std::cmp::Reverse(number(tenant, "/sum/decisions") + number(tenant, "/sum/refused")));
    let rows = found.into_iter().map(|tenant| {
        let sum = |name: &str| number(tenant, &format!("/sum/{name}"));
        vec![
            hookbox::shorten(text(tenant, "/tenant"), 30),
            sum("decisions").to_string(),
            format!("{}/s", rate(number(tenant, "/minute/decisions"), number(tenant, "/minute/seconds"))),
            percent(sum("denied"), sum("decisions")),
            percent(sum("failed"), sum("decisions")),
            sum("refused").to_string(),
            micros(tenant.pointer("/sum/p50")),
            micros(tenant.pointer("/sum/p99")),
            number(tenant, "/waiting").to_string(),
        ]
    });
    let names = ["TENANT", "DECIDED", "NOW", "DENIED", "FAILED", "REFUSED", "P50", "P99", "WAITING"];
    std::iter::once(heading(&names)).chain(rows).collect()
}

fn hook_rows(hooks: &Value) -> Vec<Row> {
    let mut found: Vec<&Value> = array(hooks, "/hooks").iter().collect();
    let failing = |hook: &Value| hook.pointer("/counters/failing").is_some_and(Value::is_object);
    found.sort_by_key(|hook| std::cmp::Reverse((failing(hook), number(hook, "/counters/calls"))));
    let rows = found.into_iter().map(|hook| {
        let count = |name: &str| number(hook, &format!("/counters/{name}"));
        let monitored = hook.pointer("/monitored") == Some(&Value::Bool(true));
        let state = match (failing(hook), monitored) {
            (true, _) => "failing",
            (false, true) => "monitored",
            (false, false) => "",
        };
        vec![
            hookbox::shorten(text(hook, "/hook"), 30),
            hookbox::shorten(text(hook, "/tenant"), 20),
            count("calls").to_string(),
            if monitored { format!("({})", count("denied")) } else { count("denied").to_string() },
            count("failed").to_string(),
            micros(hook.pointer("/counters/p50")),
            micros(hook.pointer("/counters/p99")),
            state.to_owned(),
        ]
    });
    let names = ["HOOK", "TENANT", "CALLS", "DENIED", "FAILED", "P50", "P99", "STATE"];
    std::iter::once(heading(&names)).chain(rows).collect()
}

/// A heading and so many rows, in columns: words to the left, numbers to the right.
fn table(rows: &[Row], limit: usize) -> Vec<Line> {
    let shown: Vec<&Row> = rows.iter().take(limit + 1).collect();
    let columns = shown.first().map_or(0, |row| row.len());
    let width = |column: usize| shown.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or_default()).collect();
    let words = ["HOOK", "TENANT", "STATE"];
    let names = shown.first().copied().cloned().unwrap_or_default();
    let line = |row: &Row| -> String {
        let cells = row.iter().zip(&widths).zip(&names).map(|((cell, width), name)| {
            let left = words.contains(&name.as_str());
            if left { format!("{cell:width$}") } else { format!("{cell:>width$}") }
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    shown.iter().enumerate().map(|(index, row)| Line { text: line(row), bold: index == 0 }).collect()
}

fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

fn number(value: &Value, pointer: &str) -> u64 {
    value.pointer(pointer).and_then(Value::as_u64).unwrap_or_default()
}

fn array<'a>(value: &'a Value, pointer: &str) -> &'a [Value] {
    value.pointer(pointer).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// Events per second, with one digit where there are few.
fn rate(events: u64, seconds: u64) -> String {
    let tenths = events.saturating_mul(10) / seconds.max(1);
    if tenths < 100 { format!("{}.{}", tenths / 10, tenths % 10) } else { (tenths / 10).to_string() }
}

fn percent(part: u64, all: u64) -> String {
    match (part, part.saturating_mul(100).checked_div(all)) {
        (_, None) => "-".into(),
        (1.., Some(0)) => "<1%".into(),
        (_, Some(share)) => format!("{share}%"),
    }
}

fn micros(value: Option<&Value>) -> String {
    value.and_then(Value::as_u64).map_or_else(|| "-".into(), |micros| report::time(Duration::from_micros(micros)))
}

fn span(ms: u64) -> String {
    match ms / 1000 {
        seconds @ ..60 => format!("{seconds} s"),
        seconds @ ..3600 => format!("{} min", seconds / 60),
        seconds @ ..172_800 => format!("{} h", seconds / 3600),
        seconds => format!("{} d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Look, View, lines, percent, rate};

    fn look() -> Look {
        let counts =
            json!({ "decisions": 100, "denied": 7, "failed": 0, "refused": 0, "p50": 120, "p99": 2500, "seconds": 60 });
        let tenant = |name: String| json!({ "tenant": name, "sum": counts, "minute": counts, "waiting": 3 });
        let hook = |name: String| json!({ "hook": name, "tenant": "acme", "monitored": true, "counters": counts });
        let entry = json!({ "urgency": "bad", "tenant": "acme", "hook": "\u{1b}[2J", "text": "fails\nagain" });
        Look {
            now: json!({
                "now": 7_200_000, "window": "15m", "daemon": { "name": "eu-1", "version": "0.1.0", "started": 0 },
                "minute": counts, "tenants": (0..40).map(|n| tenant(format!("tenant-{n}"))).collect::<Vec<_>>(),
            }),
            attention: json!({ "list": vec![entry; 9] }),
            hooks: json!({ "hooks": (0..40).map(|n| hook(format!("hook-{n}"))).collect::<Vec<_>>() }),
        }
    }

    #[test]
    fn lines_fit_every_screen() {
        let look = look();
        for (columns, rows) in [(80, 24), (20, 10), (200, 60), (1, 1), (0, 0)] {
            let view = View { look: &look, error: Some("away"), keys: true };
            let lines = lines(&view, Some((columns, rows)));
            assert!(lines.len() <= rows, "{rows}: {}", lines.len());
            assert!(lines.iter().all(|line| line.text.chars().count() <= columns));
            if rows > 20 {
                for name in ["eu-1", "TENANT", "tenant-1", "HOOK", "hook-0"] {
                    assert!(lines.iter().any(|line| line.text.contains(name)), "{name}");
                }
            }
        }
    }

    #[test]
    fn texts_of_others_stay_on_their_line() {
        let look = look();
        let lines = lines(&View { look: &look, error: None, keys: false }, None);
        assert!(lines.iter().all(|line| !line.text.contains(['\u{1b}', '\n'])));
        assert!(lines.iter().any(|line| line.text.starts_with("!! acme \\u{1b}[2J  fails …")), "{lines:?}");
        assert_eq!(lines.iter().filter(|line| line.text.starts_with("tenant-")).count(), 40);
    }

    #[test]
    fn a_daemon_without_tenants_is_shown() {
        let look = Look { now: Value::Null, attention: Value::Null, hooks: Value::Null };
        assert!(lines(&View { look: &look, error: None, keys: true }, Some((80, 24))).len() > 4);
        assert_eq!(
            (rate(5, 0), rate(7, 60), percent(1, 1000), percent(0, 0)),
            ("5.0".into(), "0.1".into(), "<1%".into(), "-".into())
        );
    }
}
