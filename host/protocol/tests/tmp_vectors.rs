#![allow(
    clippy::all,
    clippy::pedantic,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]
use hookbox_protocol::matcher::Matcher;
use hookbox_protocol::*;
use serde_json::{Value, json};
fn beh(s: Option<&str>) -> Option<Behavior> {
    match s? {
        "ignore" => Some(Behavior::Ignore),
        "ask" => Some(Behavior::Ask),
        _ => Some(Behavior::Deny),
    }
}
fn same(e: &Value, g: &Value) -> bool {
    match (e, g) {
        (Value::String(s), Value::String(t)) if s == "*" => !t.is_empty(),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(k, v)| b.get(k).is_some_and(|w| same(v, w)))
        }
        _ => e == g,
    }
}
#[test]
fn vectors() {
    let all: Vec<Value> = serde_json::from_slice(&std::fs::read("/tmp/d1/vectors.json").unwrap()).unwrap();
    let mut bad = 0;
    for v in &all {
        let name = v.get("profile").and_then(Value::as_str).unwrap_or(v["dialect"].as_str().unwrap());
        let d = dialect::by_name(name).unwrap();
        let wire = v["event"].to_string();
        let label = format!("{} :: {}", v["file"], v["name"]);
        let event = match d.decode_event(wire.as_bytes(), None) {
            Ok(e) => e,
            Err(e) => {
                if v["expect"].is_null() {
                    continue;
                }
                println!("{label}: decode {e}");
                bad += 1;
                continue;
            }
        };
        let cfg = &v["config"];
        let mut notes: Vec<String> = vec![];
        let mut ran = vec![];
        let mut all_answers = vec![];
        let enabled = cfg["enabled"] != json!(false);
        for stage in d.stages(event.kind()) {
            let row = d.row(if event.kind() == Kind::OtherEvent { Kind::OtherEvent } else { *stage });
            let seen = if *stage == event.kind() {
                event.clone()
            } else {
                let mut w = v["event"].clone();
                w["hook_event_name"] = row.name.into();
                d.decode_event(w.to_string().as_bytes(), None).unwrap()
            };
            let mut answers: Vec<Answer> = vec![];
            for (i, h) in v["hooks"].as_array().unwrap().iter().enumerate() {
                if !enabled {
                    continue;
                }
                let on = h.get("on").and_then(Value::as_str).map(str::to_owned).unwrap_or(event.name.clone());
                let hit = if event.kind() == Kind::OtherEvent {
                    true
                } else {
                    d.row_by_name(&on).is_some_and(|r| r.kind == *stage)
                };
                if !hit {
                    continue;
                }
                let m = Matcher::compile(d.match_style().unwrap(), h.get("matcher").and_then(Value::as_str)).unwrap();
                if let Some(f) = row.matched {
                    if !m.matches(seen.raw.get(f).and_then(Value::as_str)) {
                        continue;
                    }
                }
                ran.push(i);
                let of = beh(h.get("onFailure").and_then(Value::as_str));
                let fb = of.or(beh(cfg.get("failureBehavior").and_then(Value::as_str))).unwrap_or(Behavior::Ignore);
                let tb = of.or(beh(cfg.get("timeoutBehavior").and_then(Value::as_str))).unwrap_or(Behavior::Ignore);
                let res: Result<(Answer, Vec<Note>), (Failure, Behavior)> = if h.get("sleeps").is_some() {
                    Err((Failure::new(Cause::Timeout, "t"), tb))
                } else if h.get("missing").is_some() {
                    Err((Failure::new(Cause::Spawn, "s"), fb))
                } else {
                    match h.get("exit").and_then(Value::as_u64).unwrap_or(0) {
                        0 => {
                            let out = h
                                .get("prints")
                                .map(|p| p.to_string())
                                .unwrap_or_else(|| h.get("stdout").and_then(Value::as_str).unwrap_or("").to_owned());
                            if out.trim().is_empty() {
                                Ok(Default::default())
                            } else {
                                json::parse_object(out.as_bytes())
                                    .and_then(|o| d.decode_answer(&seen, &o))
                                    .map_err(|e| (Failure::new(Cause::BadOutput, e.to_string()), fb))
                            }
                        }
                        2 => {
                            let e = h.get("stderr").and_then(Value::as_str).unwrap_or("");
                            let e = e.strip_suffix('\n').unwrap_or(e);
                            Ok((
                                Answer {
                                    rule: Some(Rule::Deny),
                                    reason: (!e.is_empty()).then(|| e.to_owned()),
                                    ..Default::default()
                                },
                                vec![],
                            ))
                        }
                        c => Err((Failure::new(Cause::Exit, format!("{c}")), fb)),
                    }
                };
                let mut a = match res {
                    Ok((a, n)) => {
                        notes.extend(n.iter().map(|n| n.kind.word().to_owned()));
                        a
                    }
                    Err((f, b)) => {
                        notes.push("failed".into());
                        let (a, n) = failure::settle(row, "h", &f, b);
                        notes.extend(n.iter().map(|n| n.kind.word().to_owned()));
                        a
                    }
                };
                notes.extend(degrade::degrade(row, &mut a).iter().map(|n| n.kind.word().to_owned()));
                answers.push(a);
            }
            let last = d.stages(event.kind()).last() == Some(stage);
            let done = d.decides(*stage, &answers);
            if !done && !last {
                for a in &mut answers {
                    if let Some(n) = a.fall_back() {
                        notes.push(n.kind.word().into());
                    }
                }
            }
            all_answers.extend(answers);
            if done {
                break;
            }
        }
        let m = d.merge(&event, &all_answers);
        notes.extend(m.notes.iter().map(|(_, n)| n.kind.word().to_owned()));
        let got = d.encode_verdict(&event, &m.answer).unwrap();
        let mut why = String::new();
        if !same(&v["expect"], &got) {
            why += &format!("\n   want {}\n   got  {}", v["expect"], got);
        }
        if let Some(ns) = v.get("notes") {
            for n in ns.as_array().unwrap() {
                if !notes.iter().any(|x| x == n.as_str().unwrap()) {
                    why += &format!("\n   no note {n} in {notes:?}");
                }
            }
        } else if notes.iter().any(|n| n != "x") && !notes.is_empty() {
            println!("{label}: unlisted notes {notes:?}");
        }
        if let Some(r) = v.get("ran") {
            if *r != json!(ran) {
                why += &format!("\n   ran {ran:?}, want {r}");
            }
        }
        if !why.is_empty() {
            bad += 1;
            println!("{label}{why}");
        }
    }
    println!("{} vectors, {bad} bad", all.len());
}
