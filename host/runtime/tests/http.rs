//! The http capability and the `http` handler against a real server.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use hookbox::{
    Cause,
    capability::{
        CallUsage, Http, HttpError, HttpRequest, HttpResponse, Scope,
        http::{HookHttp, ReqwestClient},
    },
    handler::http::post,
    sandbox::permission::{HttpDetails, HttpGrant},
};
use hookbox_testing::server::{Server, response};

fn scope(milliseconds: u64) -> Scope {
    Scope {
        tenant: "t".into(),
        hook: "h".into(),
        session: None,
        deadline: Instant::now() + Duration::from_millis(milliseconds),
        spent: CallUsage::default(),
    }
}

fn detailed(origin: String, methods: &[&str]) -> HttpGrant {
    let methods = methods.iter().map(|method| (*method).to_owned()).collect();
    HttpGrant::Detailed(HttpDetails { origin, methods, private: true, max_body_kib: 1 })
}

fn get(url: impl Into<String>) -> HttpRequest {
    HttpRequest { method: "GET".into(), url: url.into(), headers: Vec::new(), body: None }
}

async fn send(grants: &[HttpGrant], request: HttpRequest) -> Result<HttpResponse, HttpError> {
    HookHttp::granted(Arc::new(ReqwestClient::default()), grants).unwrap().send(&scope(10_000), request).await
}

fn is_denied(result: &Result<HttpResponse, HttpError>) -> bool {
    matches!(result, Err(HttpError::Denied(_)))
}

#[tokio::test]
async fn granted_requests_are_sent() {
    let server = Server::start(|_| response("201 Created", "x-answer: 42\r\n", "made")).await;
    let request = HttpRequest {
        method: "POST".into(),
        headers: vec![("X-Question".into(), "why".into())],
        body: Some(b"body".to_vec()),
        ..get(server.url("/path?q=1"))
    };
    let answer = send(&[detailed(server.url(""), &["POST"])], request).await.unwrap();
    assert_eq!((answer.status, answer.body.as_slice()), (201, b"made".as_slice()));
    assert!(answer.headers.contains(&("x-answer".into(), "42".into())));
    let got = &server.requests()[0];
    assert!(got.starts_with("POST /path?q=1 HTTP/1.1\r\n") && got.ends_with("\r\n\r\nbody"), "{got}");
    assert!(got.contains("x-question: why\r\n"), "{got}");
}

#[tokio::test]
async fn ungranted_requests_are_not_sent() {
    let server = Server::start(|_| response("200 OK", "", "")).await;
    let grants = [detailed(server.url(""), &["GET"])];
    let at = |url: String| get(url);
    let port = server.port;
    let mut refused = vec![
        at(format!("https://127.0.0.1:{port}/")),
        at(format!("http://127.0.0.1:{}/", port ^ 1)),
        at(format!("http://localhost:{port}/")),
        at(format!("http://user:password@127.0.0.1:{port}/")),
        at("file:///etc/passwd".into()),
        HttpRequest { method: "POST".into(), ..at(server.url("/")) },
        HttpRequest { method: "CONNECT".into(), ..at(server.url("/")) },
    ];
    for header in ["Host", "connection", "Transfer-Encoding", "content-length", "Proxy-Authorization", "upgrade"] {
        refused.push(HttpRequest { headers: vec![(header.into(), "x".into())], ..at(server.url("/")) });
    }
    for request in refused {
        let result = send(&grants, request.clone()).await;
        assert!(is_denied(&result), "{request:?}: {result:?}");
    }
    for (name, value) in [("a b", "x"), ("a", "x\r\nHost: evil"), ("a", "x\0")] {
        let request = HttpRequest { headers: vec![(name.into(), value.into())], ..get(server.url("/")) };
        assert!(matches!(send(&grants, request).await, Err(HttpError::Failed(_))));
    }
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn private_addresses_take_a_grant_however_they_are_written() {
    let server = Server::start(|_| response("200 OK", "", "")).await;
    let port = server.port;
    for host in
        ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "0177.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "127.1", "0"]
    {
        let url = format!("http://{host}:{port}");
        let result = send(&[HttpGrant::Origin(url.clone())], get(&url)).await;
        assert!(is_denied(&result), "{url}: {result:?}");
    }
    assert!(server.requests().is_empty());
    let url = format!("http://localhost:{port}");
    assert_eq!(send(&[detailed(url.clone(), &["GET"])], get(url)).await.unwrap().status, 200);
}

#[tokio::test]
async fn redirects_are_limited_to_the_granted_origins() {
    let private = Server::start(|_| response("200 OK", "", "secret")).await;
    let elsewhere = private.url("/");
    let first = Server::start(move |request| match request.split(' ').nth(1).unwrap() {
        "/away" => response("302 Found", &format!("location: {elsewhere}\r\n"), ""),
        "/here" => response("303 See Other", "location: end\r\n", ""),
        "/loop" => response("307 Temporary Redirect", "location: /loop\r\n", ""),
        _ => response("200 OK", "", "the end"),
    })
    .await;
    let listed = detailed(first.url(""), &["GET", "POST"]);
    assert!(is_denied(&send(std::slice::from_ref(&listed), get(first.url("/away"))).await));
    // The second origin is granted, but its address is private, which is not granted.
    let both = [listed.clone(), HttpGrant::Origin(private.url(""))];
    assert!(is_denied(&send(&both, get(first.url("/away"))).await));
    assert!(private.requests().is_empty());

    let both = [listed.clone(), detailed(private.url(""), &["GET"])];
    let secret = HttpRequest { headers: vec![("Authorization".into(), "token".into())], ..get(first.url("/away")) };
    assert_eq!(send(&both, secret).await.unwrap().body, b"secret");
    assert!(!private.requests()[0].contains("authorization"), "credentials stay with their origin");

    let post = HttpRequest { method: "POST".into(), body: Some(b"x".to_vec()), ..get(first.url("/here")) };
    assert_eq!(send(std::slice::from_ref(&listed), post).await.unwrap().body, b"the end");
    assert!(first.requests().last().unwrap().starts_with("GET /end "));
    let before = first.requests().len();
    assert!(matches!(send(&[listed], get(first.url("/loop"))).await, Err(HttpError::Failed(_))));
    assert_eq!(first.requests().len() - before, 6, "the request and five redirects");
}

#[tokio::test]
async fn body_sizes_are_limited_without_a_length_header() {
    let server = Server::start(|request| {
        let body = "x".repeat(1025);
        match request.split(' ').nth(1).unwrap() {
            "/announced" => "HTTP/1.1 200 OK\r\ncontent-length: 99999999\r\n\r\n…".into(),
            "/until-close" => format!("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{body}…"),
            "/chunked" => format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n401\r\n{body}\r\n…"),
            _ => response("200 OK", "", &"x".repeat(1024)),
        }
    })
    .await;
    let grants = [detailed(server.url(""), &["GET", "POST"])];
    assert_eq!(send(&grants, get(server.url("/fits"))).await.unwrap().body.len(), 1024);
    for path in ["/announced", "/until-close", "/chunked"] {
        let result = send(&grants, get(server.url(path))).await;
        assert!(matches!(result, Err(HttpError::TooLarge(_))), "{path}: {result:?}");
    }
    let large = HttpRequest { method: "POST".into(), body: Some(vec![0; 1025]), ..get(server.url("/")) };
    assert!(matches!(send(&grants, large).await, Err(HttpError::TooLarge(_))));
}

#[tokio::test]
async fn a_slow_server_meets_the_deadline() {
    let server = Server::start(|_| "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nslow…".into()).await;
    let http = HookHttp::granted(Arc::new(ReqwestClient::default()), &[detailed(server.url(""), &["GET"])]).unwrap();
    let started = Instant::now();
    assert_eq!(http.send(&scope(150), get(server.url("/"))).await, Err(HttpError::Timeout));
    assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
}

#[tokio::test]
async fn the_handler_posts_the_event_and_accepts_only_2xx() {
    let client = ReqwestClient::default();
    let server = Server::start(|request| match request.split(' ').nth(1).unwrap() {
        "/ok" => response("200 OK", "", r#"{"continue":true}"#),
        "/empty" => response("204 No Content", "", ""),
        "/large" => response("200 OK", "", &" ".repeat(1024 * 1024 + 1)),
        "/moved" => response("302 Found", "location: /ok\r\n", ""),
        _ => response("500 Internal Server Error", "", "{}"),
    })
    .await;
    let token = [("Authorization".to_owned(), "Bearer x".to_owned())];
    assert_eq!(post(&client, &server.url("/ok"), &token, r#"{"a":1}"#).await.unwrap(), br#"{"continue":true}"#);
    let got = &server.requests()[0];
    assert!(got.contains("authorization: Bearer x\r\n") && got.contains("content-type: application/json\r\n"), "{got}");
    assert!(got.ends_with("\r\n\r\n{\"a\":1}"), "{got}");
    assert_eq!(post(&client, &server.url("/empty"), &[], "{}").await.unwrap(), b"");
    for (url, cause) in [
        (server.url("/moved"), Cause::Http),
        (server.url("/other"), Cause::Http),
        (server.url("/large"), Cause::OutputTooLarge),
        ("http://127.0.0.1:1/".into(), Cause::Http),
        ("no url".into(), Cause::Http),
    ] {
        assert_eq!(post(&client, &url, &[], "{}").await.unwrap_err().cause, cause, "{url}");
    }
}
