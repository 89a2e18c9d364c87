//! An upstream for tests that follows a script on the bare socket, so that it can misbehave in ways no
//! HTTP library allows, and that can speak TLS. It records what it was sent. The unit tests of
//! `upstream` use it too.

#![allow(unreachable_pub, dead_code, reason = "two sets of tests share it, neither uses all of it")]

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};
use tokio_rustls::TlsAcceptor;

/// A connection with or without TLS.
trait Stream: AsyncRead + AsyncWrite + Unpin + Send {
    fn reset_at_end(&self);
}

impl Stream for TcpStream {
    fn reset_at_end(&self) {
        self.set_zero_linger().unwrap();
    }
}

impl Stream for tokio_rustls::server::TlsStream<TcpStream> {
    fn reset_at_end(&self) {
        self.get_ref().0.reset_at_end();
    }
}

/// What a connection does, in turn; after the last step it is closed.
#[derive(Clone, Debug)]
pub enum Step {
    /// Reads one request and records it.
    Read,
    /// Sends this.
    Send(Vec<u8>),
    /// Sends this over and over.
    Flood(&'static str),
    /// Does nothing for a while.
    Wait(u64),
    /// Waits until the client closes.
    Closed,
    /// Ends with a reset instead of a close.
    Reset,
    /// Sends the last request's Authorization and cookies back under this status and media type.
    Echo(&'static str, &'static str),
}

pub fn send(text: &str) -> Step {
    Step::Send(text.as_bytes().to_vec())
}

/// A whole response.
pub fn respond(status: &str, headers: &str, body: impl AsRef<[u8]>) -> Step {
    let body = body.as_ref();
    let head = format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\n\r\n", body.len());
    Step::Send([head.as_bytes(), body].concat())
}

pub const JSON: &str = "content-type: application/json\r\n";

#[derive(Clone, Debug)]
pub struct Raw {
    pub origin: String,
    log: Arc<Log>,
}

#[derive(Debug, Default)]
struct Log {
    requests: Mutex<Vec<String>>,
    connections: AtomicUsize,
    closed: AtomicUsize,
}

impl Raw {
    /// Serves the first connection by the first script and so on; the last script serves the rest.
    pub async fn serve(scripts: Vec<Vec<Step>>) -> Self {
        Self::listen(scripts, None).await
    }

    /// The same behind TLS, for `localhost`.
    pub async fn serve_tls(scripts: Vec<Vec<Step>>, tls: TlsAcceptor) -> Self {
        Self::listen(scripts, Some(tls)).await
    }

    async fn listen(scripts: Vec<Vec<Step>>, tls: Option<TlsAcceptor>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let origin = match tls {
            None => format!("http://{address}"),
            Some(_) => format!("https://localhost:{}", address.port()),
        };
        let log = Arc::<Log>::default();
        let raw = Self { origin, log: Arc::clone(&log) };
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let nth = log.connections.fetch_add(1, SeqCst).min(scripts.len() - 1);
                let (script, log, tls) = (scripts[nth].clone(), Arc::clone(&log), tls.clone());
                tokio::spawn(greet(stream, script, log, tls));
            }
        });
        raw
    }

    /// Serves every connection alike, one request each.
    pub async fn answering(step: Step) -> Self {
        Self::serve(vec![vec![Step::Read, step]]).await
    }

    pub fn requests(&self) -> Vec<String> {
        self.log.requests.lock().unwrap().clone()
    }

    pub fn n_connections(&self) -> usize {
        self.log.connections.load(SeqCst)
    }

    /// Waits until a client has closed its end of a connection whose script waits for that.
    pub async fn until_closed(&self) {
        for _ in 0..200 {
            if self.log.closed.load(SeqCst) > 0 {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("the client kept its connection");
    }
}

/// A client that does not trust the certificate leaves before the script begins.
async fn greet(stream: TcpStream, script: Vec<Step>, log: Arc<Log>, tls: Option<TlsAcceptor>) {
    let Some(tls) = tls else { return play(stream, script, log).await };
    if let Ok(stream) = tls.accept(stream).await {
        play(stream, script, log).await;
    }
}

async fn play(mut stream: impl Stream, script: Vec<Step>, log: Arc<Log>) {
    let mut last = String::new();
    for step in script {
        match step {
            Step::Read => match read(&mut stream).await {
                Some(request) => {
                    log.requests.lock().unwrap().push(request.clone());
                    last = request;
                }
                None => return,
            },
            Step::Send(bytes) => drop(stream.write_all(&bytes).await),
            Step::Flood(text) => while stream.write_all(text.as_bytes()).await.is_ok() {},
            Step::Wait(ms) => tokio::time::sleep(Duration::from_millis(ms)).await,
            Step::Closed => {
                while stream.read(&mut [0; 1024]).await.is_ok_and(|n| n > 0) {}
                log.closed.fetch_add(1, SeqCst);
            }
            Step::Reset => stream.reset_at_end(),
            Step::Echo(status, content_type) => {
                let body = echo(&last, content_type);
                let Step::Send(bytes) =
                    respond(status, &format!("content-type: {content_type}\r\n"), body)
                else {
                    return;
                };
                drop(stream.write_all(&bytes).await);
            }
        }
    }
}

fn echo(request: &str, content_type: &str) -> String {
    let secret: Vec<_> = request
        .lines()
        .filter(|line| line.starts_with("authorization:") || line.starts_with("x-key:"))
        .collect();
    let secret = secret.join(" ");
    match content_type {
        "application/json" => serde_json::json!({ "message": secret }).to_string(),
        "text/html" => format!("<title>{secret}</title>"),
        _ => secret,
    }
}

/// One request as text: its head, and as many bytes as Content-Length says.
async fn read(stream: &mut impl Stream) -> Option<String> {
    let mut bytes = Vec::new();
    loop {
        let mut chunk = [0; 4096];
        let n = stream.read(&mut chunk).await.ok().filter(|n| *n > 0)?;
        bytes.extend_from_slice(&chunk[..n]);
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "))
            .map_or(0, |length| length.parse().unwrap());
        if body.len() >= length {
            return Some(text.into_owned());
        }
    }
}
