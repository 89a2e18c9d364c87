//! A client over lines, as a process that started toolgate has it.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf},
    sync::{Mutex as AsyncMutex, mpsc, oneshot},
};
use toolgate::Gateway;

use super::{Era, client::modern_meta};

type Waiting = Arc<Mutex<HashMap<u64, oneshot::Sender<Value>>>>;

/// A connected client; list_changed arrives on the receiver that [`Lines::connect`] gives beside it.
pub struct Lines {
    era: Era,
    ids: AtomicU64,
    writer: AsyncMutex<WriteHalf<DuplexStream>>,
    waiting: Waiting,
}

impl Lines {
    /// Connects in an era, and asks for list_changed.
    pub async fn connect(
        gateway: &Arc<Gateway>,
        era: Era,
    ) -> (Self, mpsc::UnboundedReceiver<Value>) {
        let (near, far) = tokio::io::duplex(1 << 16);
        let (input, output) = tokio::io::split(far);
        let served = Arc::clone(gateway);
        tokio::spawn(async move { served.serve_lines(input, output, None).await });
        let (reader, writer) = tokio::io::split(near);
        let (notices, receiver) = mpsc::unbounded_channel();
        let waiting = Waiting::default();
        tokio::spawn(read(reader, Arc::clone(&waiting), notices));
        let (ids, writer) = (AtomicU64::new(1), AsyncMutex::new(writer));
        let lines = Self { era, ids, writer, waiting };
        lines.open().await;
        (lines, receiver)
    }

    async fn open(&self) {
        let Era::Legacy(version) = self.era else {
            let params =
                json!({"notifications": {"toolsListChanged": true}, "_meta": modern_meta()});
            let message = json!({"jsonrpc": "2.0", "id": 0, "method": "subscriptions/listen", "params": params});
            return self.say(&message).await;
        };
        let params = json!({
            "protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "it", "version": "0"},
        });
        let answer = self.request("initialize", params).await;
        assert_eq!(answer["result"]["protocolVersion"], version, "{answer}");
        self.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    }

    /// One request; the whole message that answers it.
    pub async fn request(&self, method: &str, mut params: Value) -> Value {
        if self.era == Era::Modern {
            params["_meta"] = modern_meta();
        }
        let id = self.ids.fetch_add(1, Ordering::Relaxed);
        let (sender, answer) = oneshot::channel();
        self.waiting.lock().unwrap().insert(id, sender);
        self.say(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
        answer.await.unwrap()
    }

    async fn say(&self, message: &Value) {
        let line = format!("{message}\n");
        self.writer.lock().await.write_all(line.as_bytes()).await.unwrap();
    }
}

async fn read(
    reader: ReadHalf<DuplexStream>,
    waiting: Waiting,
    notices: mpsc::UnboundedSender<Value>,
) {
    let mut lines = BufReader::new(reader).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let message: Value = serde_json::from_str(&line).unwrap();
        let asked = message["id"].as_u64().and_then(|id| waiting.lock().unwrap().remove(&id));
        match asked {
            Some(sender) => drop(sender.send(message)),
            None if message["method"] == "notifications/tools/list_changed" => {
                let _ = notices.send(message);
            }
            None => {}
        }
    }
}
