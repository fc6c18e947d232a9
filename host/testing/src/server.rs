//! A server on loopback that speaks HTTP/1.1 over plain TCP, one request per connection.

use std::sync::{Arc, Mutex};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

/// A running server, and the text of the requests that it received.
pub struct Server {
    pub port: u16,
    pub requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Answers each request with the response that `output` returns, head and body. A response that ends in `…` is left
    /// unfinished, with the connection open.
    pub async fn start(output: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (output, seen) = (Arc::new(output), Arc::clone(&requests));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&output), Arc::clone(&seen)));
            }
        });
        Self { port, requests }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

/// Returns a complete response.
pub fn response(status: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n{headers}\r\n{body}", body.len())
}

async fn serve(mut stream: TcpStream, output: Arc<impl Fn(&str) -> String>, seen: Arc<Mutex<Vec<String>>>) {
    let mut request = String::new();
    let mut buffer = [0; 16 * 1024];
    loop {
        let Ok(length @ 1..) = stream.read(&mut buffer).await else { return };
        request.push_str(&String::from_utf8_lossy(&buffer[..length]));
        let Some((head, body)) = request.split_once("\r\n\r\n") else { continue };
        let wanted = head
            .to_lowercase()
            .split_once("content-length: ")
            .map_or(0, |(_, rest)| rest.split("\r\n").next().unwrap().parse().unwrap());
        if body.len() >= wanted {
            break;
        }
    }
    seen.lock().unwrap().push(request.clone());
    let output = output(&request);
    let unfinished = output.strip_suffix('…');
    let _ = stream.write_all(unfinished.unwrap_or(&output).as_bytes()).await;
    if unfinished.is_some() {
        std::future::pending::<()>().await;
    }
}
