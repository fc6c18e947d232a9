//! A batch: an array of events in one request.

use std::{
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use axum::{
    body::{Body, Bytes},
    extract::{Path, Request, State},
    http::{Response, header, request::Parts},
    response::IntoResponse,
};
use futures_util::{StreamExt, stream};
use serde::{
    Deserializer,
    de::{self, SeqAccess, Visitor},
};
use serde_json::value::RawValue;
use tracing::Instrument;

use super::{
    path::{self, Names},
    refuse::{answered, pace, refuse},
    request::TenantRequest,
};
use crate::{answer::Answer, app::App, bodies::Read, event::TenantEvent, problem::Problem};

/// The maximum number of events in a batch.
const MAX_EVENTS: usize = 1000;
/// The maximum number of concurrent events of a batch, within the tenant's own limits.
const CONCURRENCY: usize = 16;

/// Decides on the events of a batch.
pub(super) async fn batch(State(app): State<Arc<App>>, names: Names, incoming: Request) -> Response<Body> {
    let Ok(Path(names)) = names else {
        return refuse(State(app), incoming, Problem::Unknown(path::UNKNOWN.into())).await;
    };
    let began = Instant::now();
    let (Parts { headers, extensions, .. }, body) = incoming.into_parts();
    let refused = AtomicBool::new(false);
    let found = TenantRequest::find(&app, &names, &headers, began).await;
    let tenant = TenantRequest::label(&found);
    let answers = match &found {
        Err(problem) => Err(problem.clone()),
        Ok(request) => {
            let deciding = async {
                let connection = request.mark_connection(&extensions);
                let Read { wire, problem, held: mut memory } = request.body(&app, body, connection.as_ref()).await;
                problem.map_or(Ok(()), Err)?;
                let bytes = wire.len();
                let split = app.processor.share(tenant, bytes, async move { events(&wire) });
                let request = request.when_loaded(&app).await?;
                let decided = split.await?.into_iter().map(|wire| {
                    let (app, request, refused) = (&app, &request, &refused);
                    async move {
                        let event = TenantEvent { wire, name: None, time: request.time };
                        let answer = request.decide(app, &event, request.invalid_header.clone()).await;
                        refused.fetch_or(answer.problem().is_some_and(Problem::is_refusal), Ordering::Relaxed);
                        answered(tenant, began, &answer);
                        (event, answer)
                    }
                });
                let (mut text, mut decided) = (String::from("["), pin!(stream::iter(decided).buffered(CONCURRENCY)));
                while let Some((event, answer)) = decided.next().await {
                    let (answer, _) = request.take_memory(&event, answer, &mut memory);
                    text.push_str(if text.len() == 1 { "" } else { "," });
                    text.push_str(&in_batch(answer));
                }
                text.push(']');
                memory.shrink_to(text.len());
                Ok((text, memory))
            };
            let decided: Result<_, Problem> = deciding.instrument(request.span(&headers)).await;
            decided.inspect_err(|problem| drop(request.undecided(&app, problem.clone())))
        }
    };
    if refused.into_inner() || answers.as_ref().is_err_and(Problem::is_refusal) {
        pace(&app, &headers, &extensions, began).await;
    }
    match answers {
        Ok((text, held)) => held.until_sent(([(header::CONTENT_TYPE, "application/json")], text).into_response()),
        Err(problem) => {
            let answer = Answer::Problem(problem);
            answered(tenant, began, &answer);
            answer.into_response()
        }
    }
}

/// The events of a batch, as slices of the body. Stops at the first event beyond the limit.
fn events(body: &Bytes) -> Result<Vec<Bytes>, Problem> {
    struct Events<'a>(&'a Bytes);
    impl<'de> Visitor<'de> for Events<'_> {
        type Value = Vec<Bytes>;
        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("an array")
        }
        fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<Self::Value, A::Error> {
            let mut events = Vec::new();
            while let Some(event) = array.next_element::<&RawValue>()? {
                if events.len() == MAX_EVENTS {
                    return Err(de::Error::custom(format!("a batch has at most {MAX_EVENTS} events")));
                }
                events.push(self.0.slice_ref(event.get().as_bytes()));
            }
            Ok(events)
        }
    }
    let mut reader = serde_json::Deserializer::from_slice(body);
    let events = reader.deserialize_seq(Events(body)).and_then(|events| reader.end().map(|()| events));
    events.map_err(|error| Problem::Request(format!("a batch is an array of events: {error}")))
}

/// The answer to one event of a batch: the status, the body and the headers that it would have alone, as JSON.
fn in_batch(answer: Answer) -> String {
    match answer {
        Answer::Decided(response) => {
            format!(r#"{{"status":200,"verdict":"{}","output":{}}}"#, response.outcome, response.stdout_json())
        }
        Answer::Blocked(problem, response) => {
            let (word, output, problem) = (&response.outcome, response.stdout_json(), problem.body());
            format!(r#"{{"status":200,"verdict":"{word}","output":{output},"problem":{problem}}}"#)
        }
        Answer::Problem(problem) => {
            format!(r#"{{"status":{},"problem":{}}}"#, problem.status().as_u16(), problem.body())
        }
    }
}
