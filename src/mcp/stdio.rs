//! MCP over lines, for a client that started this process: both eras, one JSON message a line.
//!
//! Each line is read by the same strict rules as an HTTP body; one that breaks them is answered and the
//! next is read. Nothing but JSON-RPC is ever written to the output. There are no headers, so the
//! caller's credential is given once. At the end of the input listens end at once and calls in flight
//! get rmcp's short time to finish.

use std::{io, sync::Arc};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode, header, request::Parts};
use rmcp::{
    RoleServer,
    model::{ClientJsonRpcMessage, ErrorCode, GetExtensions, ServerJsonRpcMessage},
    transport::Transport,
};
use tokio::{
    io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader},
    sync::{mpsc, watch},
};
use tokio_util::sync::CancellationToken;

use super::{
    Edge,
    era::Era,
    handler::Handler,
    message::{Kind, Message},
    notify::{self, Arrival},
    refusal::Refusal,
};

/// Lines waiting in each direction; a client that does not read stops being read.
const QUEUE: usize = 64;

/// Serves one client on lines until its input ends or the edge stops. `authorization` is the caller's
/// credential, if any; it goes upstream as an HTTP client's would.
///
/// # Errors
/// When the input or the output fails.
pub async fn serve<R, W>(
    edge: &Arc<Edge>,
    input: R,
    output: W,
    authorization: Option<HeaderValue>,
) -> io::Result<()>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let ended = edge.stopping.child_token();
    let (out, lines) = mpsc::channel(QUEUE);
    let (sender, messages) = mpsc::channel(QUEUE);
    let writer = tokio::spawn(write(output, lines));
    let reader = Reader {
        edge: Arc::clone(edge),
        authorization,
        out: out.clone(),
        messages: sender,
        session: Session::Unopened,
        ended: ended.clone(),
    };
    let reader = tokio::spawn(reader.run(BufReader::new(input)));
    let handler = Handler::of_lines(edge, ended.clone());
    let served = rmcp::service::serve_server_with_ct(
        handler,
        Lines { messages, out },
        edge.ended.child_token(),
    );
    // An input that ends before a session is opened is no failure.
    if let Ok(running) = served.await {
        let _ = running.waiting().await;
    }
    ended.cancel();
    let read = reader.await.map_err(io::Error::other)?;
    let written = writer.await.map_err(io::Error::other)?;
    read.and(written)
}

async fn write<W: AsyncWrite + Unpin>(
    mut output: W,
    mut lines: mpsc::Receiver<Bytes>,
) -> io::Result<()> {
    while let Some(line) = lines.recv().await {
        output.write_all(&line).await?;
        output.write_all(b"\n").await?;
        output.flush().await?;
    }
    Ok(())
}

/// rmcp's end of the lines.
struct Lines {
    messages: mpsc::Receiver<ClientJsonRpcMessage>,
    out: mpsc::Sender<Bytes>,
}

impl Transport<RoleServer> for Lines {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let out = self.out.clone();
        async move {
            let line = serde_json::to_vec(&message)?;
            out.send(line.into()).await.map_err(|_| io::ErrorKind::BrokenPipe.into())
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        self.messages.recv().await
    }

    async fn close(&mut self) -> io::Result<()> {
        self.messages.close();
        Ok(())
    }
}

/// How far the client is; rmcp gives up on a connection that opens with anything but a request.
enum Session {
    Unopened,
    /// `initialize` was seen; list_changed counts from here and is sent after `initialized`.
    Initializing(watch::Receiver<u64>),
    Open,
}

struct Reader {
    edge: Arc<Edge>,
    authorization: Option<HeaderValue>,
    out: mpsc::Sender<Bytes>,
    messages: mpsc::Sender<ClientJsonRpcMessage>,
    session: Session,
    ended: CancellationToken,
}

impl Reader {
    async fn run<R: AsyncBufRead + Unpin>(mut self, mut input: R) -> io::Result<()> {
        let ended = self.ended.clone();
        let limit = self.edge.limits.request_body;
        let outcome = loop {
            let line = tokio::select! {
                () = ended.cancelled() => break Ok(()),
                line = read_line(&mut input, limit) => line,
            };
            let refused = match line {
                Err(error) => break Err(error),
                Ok(Line::End) => break Ok(()),
                Ok(Line::Long) => {
                    Err(Refusal::invalid(format!("the message is over {limit} bytes")))
                }
                Ok(Line::Text(text)) => self.take(text.trim_ascii()).await,
            };
            if let Err(refusal) = refused
                && self.out.send(refusal.json().into()).await.is_err()
            {
                break Ok(());
            }
        };
        // Listens end now; dropping the sender tells rmcp that the input is over.
        ended.cancel();
        outcome
    }

    async fn take(&mut self, line: &[u8]) -> Result<(), Refusal> {
        if line.is_empty() {
            return Ok(());
        }
        let message = Message::read(line, &self.edge.limits)?;
        // rmcp answers a ping of either era as long as no session is opened.
        if message.method == "ping" && Era::of(&message, &HeaderMap::new()) == Era::Modern {
            return Err(Refusal::no_method("ping").to(message.kind.id()));
        }
        let decoded = serde_json::from_slice(line).map_err(|error| {
            let words = format!("the message is not one this server knows: {error}");
            Refusal::new(StatusCode::BAD_REQUEST, ErrorCode::PARSE_ERROR, words)
                .to(message.kind.id())
        })?;
        if self.follow(&message) {
            // The receiver is gone only when rmcp has ended, and then nobody waits for an answer.
            let _ = self.messages.send(self.arrived(decoded, message)).await;
        }
        Ok(())
    }

    /// Follows the session; false for what nobody can be told about yet.
    fn follow(&mut self, message: &Message) -> bool {
        let is_request = matches!(message.kind, Kind::Request(_));
        self.session =
            match (std::mem::replace(&mut self.session, Session::Open), message.method.as_str()) {
                (_, "initialize") => Session::Initializing(self.edge.live.changes()),
                (Session::Initializing(changes), "notifications/initialized") => {
                    self.tell_changes(changes);
                    Session::Open
                }
                (Session::Unopened, "ping" | "server/discover") => Session::Unopened,
                (Session::Unopened, _) if !is_request => {
                    self.session = Session::Unopened;
                    return false;
                }
                // Whether it opens a session is rmcp's to say: a request without `_meta` does not.
                (Session::Unopened, _) if !message.missing_meta.is_empty() => Session::Unopened,
                (Session::Unopened, _) => Session::Open,
                (session, _) => session,
            };
        true
    }

    fn tell_changes(&self, changes: watch::Receiver<u64>) {
        let (out, ended) = (self.out.clone(), self.ended.clone());
        tokio::spawn(async move {
            tokio::select! {
                () = ended.cancelled() => {}
                () = notify::lines(changes, out) => {}
            }
        });
    }

    /// The message with what the handler looks for beside it, as HTTP has it.
    fn arrived(&self, mut decoded: ClientJsonRpcMessage, message: Message) -> ClientJsonRpcMessage {
        if let ClientJsonRpcMessage::Request(request) = &mut decoded {
            request.request.extensions_mut().insert(self.parts(message));
        }
        decoded
    }

    fn parts(&self, message: Message) -> Parts {
        let (mut parts, ()) = http::Request::new(()).into_parts();
        if let Some(value) = &self.authorization {
            parts.headers.insert(header::AUTHORIZATION, value.clone());
        }
        let changes = self.edge.live.changes();
        parts.extensions.insert(Arrival { changes, faults: message.faults.into() });
        parts
    }
}

enum Line {
    Text(Vec<u8>),
    /// Longer than allowed; it was skipped.
    Long,
    End,
}

/// One line of at most `limit` bytes; a last line without its end counts.
async fn read_line<R: AsyncBufRead + Unpin>(input: &mut R, limit: usize) -> io::Result<Line> {
    let mut text = Vec::new();
    let mut long = false;
    loop {
        let available = input.fill_buf().await?;
        if available.is_empty() {
            return Ok(match text.is_empty() && !long {
                true => Line::End,
                false if long => Line::Long,
                false => Line::Text(text),
            });
        }
        let end = available.iter().position(|&byte| byte == b'\n');
        let part = available.get(..end.unwrap_or(available.len())).unwrap_or(available);
        long |= text.len() + part.len() > limit;
        if !long {
            text.extend_from_slice(part);
        }
        let used = end.map_or(part.len(), |end| end + 1);
        input.consume(used);
        if end.is_some() {
            return Ok(if long { Line::Long } else { Line::Text(text) });
        }
    }
}
