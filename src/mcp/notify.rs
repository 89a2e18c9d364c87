//! list_changed, delivered to who asked: one notice per change of the fingerprint, after the swap.
//!
//! Every listener has its own `watch` receiver, which holds one unseen change at most; a listener
//! that does not read therefore waits for nobody and nobody waits for it. A legacy session has one
//! receiver for all its GET streams: the stream that holds it delivers, the next one takes over when
//! that ends, and a change without any stream is told when one opens. What was written to a connection
//! that was just dying is not told again: resumption is not promised. Nothing here holds a snapshot.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::{Stream, stream};
use http::request::Parts;
use rmcp::{
    model::{JsonRpcMessage, ServerJsonRpcMessage, ServerNotification},
    service::SubscriptionContext,
    transport::streamable_http_server::session::ServerSseMessage,
};
use tokio::sync::{Mutex, mpsc, watch};
use tokio_util::sync::CancellationToken;

/// A receiver that the streams of one session share.
pub(super) type Shared = Arc<Mutex<watch::Receiver<u64>>>;

/// What came with a message that its handler cannot read from it.
#[derive(Clone, Debug)]
pub(super) struct Arrival {
    /// Taken before the message was acted on, so that no change after it goes unheard.
    pub(super) changes: watch::Receiver<u64>,
    /// Faults of a call's arguments that only the text shows.
    pub(super) faults: Arc<[crate::registry::plan::ArgumentFault]>,
}

/// The notification of both eras.
fn notice() -> ServerJsonRpcMessage {
    JsonRpcMessage::notification(
        ServerNotification::ToolListChangedNotification(Default::default()),
    )
}

/// The events of one GET stream; ends with the session or the server.
pub(super) fn events(
    shared: Shared,
    ended: impl Future<Output = ()> + Send + Sync + 'static,
) -> impl Stream<Item = ServerSseMessage> + Send + Sync + 'static {
    use futures_util::StreamExt;

    let notices = stream::unfold((shared, None), |(shared, held)| async move {
        let mut changes = match held {
            Some(changes) => changes,
            None => Arc::clone(&shared).lock_owned().await,
        };
        changes.changed().await.ok()?;
        Some((ServerSseMessage::from_message(notice()), (shared, Some(changes))))
    });
    notices.take_until(ended)
}

/// Serves one established `subscriptions/listen` until it is cancelled or the server stops.
pub(super) async fn listen(context: SubscriptionContext, stopping: &CancellationToken) {
    let arrival = context
        .request_context()
        .extensions
        .get::<Parts>()
        .and_then(|parts| parts.extensions.get::<Arrival>().cloned());
    let forward = async {
        let Some(Arrival { mut changes, .. }) = arrival.filter(|_| wants_tools(&context)) else {
            return std::future::pending().await;
        };
        while changes.changed().await.is_ok() {
            if context.sink().notify_tool_list_changed().await.is_err() {
                return;
            }
        }
    };
    tokio::select! {
        () = stopping.cancelled() => {}
        () = context.cancelled() => {}
        () = forward => {}
    }
}

fn wants_tools(context: &SubscriptionContext) -> bool {
    context.accepted().tools_list_changed == Some(true)
}

/// Writes a line for each change, to a legacy client on stdio.
pub(super) async fn lines(mut changes: watch::Receiver<u64>, out: mpsc::Sender<Bytes>) {
    let notice = serde_json::to_vec(&notice()).expect("a fixed notification is always JSON");
    let notice = Bytes::from(notice);
    while changes.changed().await.is_ok() {
        if out.send(notice.clone()).await.is_err() {
            return;
        }
    }
}
