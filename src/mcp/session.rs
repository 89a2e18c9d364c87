//! Legacy sessions: counted, bound to who opened them, ended when nobody uses them.
//!
//! rmcp's local session manager moves the messages; this one decides. rmcp's own idle timer counts
//! its events (a quiet listener would be closed, an abandoned one that gets list_changed would not),
//! so it is off: a session is idle when no request of it runs and no stream of it is open. GET streams
//! do not pass through rmcp's worker at all: they carry list_changed only ([`notify::events`]), so a
//! client that does not read blocks nothing. Resumption is not promised, so events have no ids.

use std::{
    cell::Cell,
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use futures_util::{Stream, StreamExt};
use http::{HeaderMap, StatusCode, header};
use rmcp::{
    model::{ClientJsonRpcMessage, ServerJsonRpcMessage},
    transport::streamable_http_server::session::{
        ServerSseMessage, SessionId, SessionManager,
        local::{LocalSessionManager, LocalSessionManagerError},
    },
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use super::{
    Counts, Gauge, notify,
    refusal::{Refusal, SESSION_NOT_FOUND},
};
use crate::{config::Limits, snapshot::live::Live, source::Digest};

/// The header that names a session.
pub(super) const SESSION_HEADER: &str = "mcp-session-id";
/// Many clients neither listen nor recover from a session that ended, so it is given a long time; when
/// places run out, [`SPARE`] is enough.
const IDLE: Duration = Duration::from_secs(30 * 60);
/// A session that was idle for this long makes room for a new one when there is no other place.
const SPARE: Duration = Duration::from_secs(60);

/// What bounds sessions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    sessions: usize,
    streams: usize,
    idle: Duration,
    spare: Duration,
}

impl Rules {
    /// The configured bounds.
    pub(super) fn of(limits: &Limits) -> Self {
        Self {
            sessions: limits.sessions,
            streams: limits.session_streams,
            idle: IDLE,
            spare: SPARE,
        }
    }
}

/// Who opened a session: a hash of the credential, never the credential.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Owner(Digest);

impl Owner {
    /// Who sends these headers; no credential is an owner too.
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let mut hasher = blake3::Hasher::new();
        for value in headers.get_all(header::AUTHORIZATION) {
            hasher.update(&[1]);
            hasher.update(blake3::hash(value.as_bytes()).as_bytes());
        }
        Self(hasher.finalize().into())
    }
}

/// A place for a session, and who it is for.
pub(super) struct Opening {
    owner: Owner,
    place: Cell<Option<OwnedSemaphorePermit>>,
}

tokio::task_local! {
    /// Set around rmcp while it serves an `initialize`.
    pub(super) static OPENING: Opening;
}

/// One session.
pub(super) struct Session {
    owner: Owner,
    listener: notify::Shared,
    streams: Arc<Semaphore>,
    closed: CancellationToken,
    open: AtomicUsize,
    used: Mutex<Instant>,
    _place: Option<OwnedSemaphorePermit>,
    _count: Gauge,
}

impl Session {
    /// Marks the session as in use until the guard is dropped.
    pub(super) fn enter(self: &Arc<Self>) -> Entered {
        self.open.fetch_add(1, Ordering::AcqRel);
        Entered(Arc::clone(self))
    }

    /// A place for one more stream of this session.
    pub(super) fn stream(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.streams).try_acquire_owned().ok()
    }

    fn used(&self) -> MutexGuard<'_, Instant> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How long nobody has used it; `None` while somebody does.
    fn idle(&self) -> Option<Duration> {
        (self.open.load(Ordering::Acquire) == 0).then(|| self.used().elapsed())
    }
}

/// A running request or open stream of a session.
pub(super) struct Entered(Arc<Session>);

impl Drop for Entered {
    fn drop(&mut self) {
        *self.0.used() = Instant::now();
        self.0.open.fetch_sub(1, Ordering::AcqRel);
    }
}

/// All sessions; rmcp's session manager.
pub(super) struct Sessions {
    inner: LocalSessionManager,
    table: Mutex<HashMap<SessionId, Arc<Session>>>,
    places: Arc<Semaphore>,
    rules: Rules,
    live: Arc<Live>,
    counts: Arc<Counts>,
    stopping: CancellationToken,
    this: Weak<Self>,
}

impl Sessions {
    /// None yet.
    pub(super) fn new(
        rules: Rules,
        live: Arc<Live>,
        counts: Arc<Counts>,
        stopping: CancellationToken,
    ) -> Arc<Self> {
        let mut inner = LocalSessionManager::default();
        inner.session_config.keep_alive = None;
        inner.session_config.sse_retry = None;
        inner.session_config.completed_cache_ttl = Duration::ZERO;
        Arc::new_cyclic(|this| Self {
            inner,
            table: Mutex::default(),
            places: Arc::new(Semaphore::new(rules.sessions)),
            rules,
            live,
            counts,
            stopping,
            this: this.clone(),
        })
    }

    /// A place for the session an `initialize` opens.
    pub(super) async fn opening(&self, headers: &HeaderMap) -> Result<Opening, Refusal> {
        if self.places.available_permits() == 0
            && let Some(spare) = self.most_idle()
        {
            // It fails only when the session ended meanwhile, which makes room too.
            let _ = self.close_session(&spare).await;
        }
        match Arc::clone(&self.places).try_acquire_owned() {
            Ok(place) => Ok(Opening { owner: Owner::of(headers), place: Cell::new(Some(place)) }),
            Err(_) => {
                self.counts.refused_sessions.fetch_add(1, Ordering::Relaxed);
                Err(Refusal::busy("too many sessions are open; try again later"))
            }
        }
    }

    fn most_idle(&self) -> Option<SessionId> {
        let table = self.table();
        let idle = table.iter().filter_map(|(id, session)| Some((session.idle()?, id)));
        let (_, id) = idle.filter(|(idle, _)| *idle >= self.rules.spare).max()?;
        Some(Arc::clone(id))
    }

    /// The session that headers name. One of another caller is as good as none, so that a client
    /// whose credential changed opens a new one.
    pub(super) fn of(&self, headers: &HeaderMap) -> Result<(SessionId, Arc<Session>), Refusal> {
        let Some(id) = headers.get(SESSION_HEADER) else {
            return Err(Refusal::invalid(
                "no Mcp-Session-Id header; open a session with `initialize`, or send a 2026-07-28 request",
            ));
        };
        let found = id.to_str().ok().and_then(|id| {
            let table = self.table();
            let (id, session) = table.get_key_value(id)?;
            Some((Arc::clone(id), Arc::clone(session)))
        });
        let owner = Owner::of(headers);
        found.filter(|(_, session)| session.owner == owner).ok_or_else(|| {
            let words = "session not found; open a new one with `initialize`";
            Refusal::new(StatusCode::NOT_FOUND, SESSION_NOT_FOUND, words)
        })
    }

    fn table(&self) -> MutexGuard<'_, HashMap<SessionId, Arc<Session>>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn admit(&self, id: &SessionId) {
        let opening = OPENING.try_with(|opening| (opening.owner, opening.place.take())).ok();
        let (owner, place) = opening.unwrap_or((Owner::of(&HeaderMap::new()), None));
        let session = Arc::new(Session {
            owner,
            listener: Arc::new(tokio::sync::Mutex::new(self.live.changes())),
            streams: Arc::new(Semaphore::new(self.rules.streams)),
            closed: CancellationToken::new(),
            open: AtomicUsize::new(0),
            used: Mutex::new(Instant::now()),
            _place: place,
            _count: Gauge::new(&self.counts, |counts| &counts.sessions),
        });
        self.table().insert(Arc::clone(id), Arc::clone(&session));
        let idle = self.rules.idle;
        tokio::spawn(watch_over(self.this.clone(), Arc::clone(id), Arc::downgrade(&session), idle));
    }

    fn forget(&self, id: &SessionId) {
        if let Some(session) = self.table().remove(id) {
            session.closed.cancel();
        }
    }
}

/// Closes a session once it was idle for long enough.
async fn watch_over(
    sessions: Weak<Sessions>,
    id: SessionId,
    session: Weak<Session>,
    limit: Duration,
) {
    let mut pause = limit;
    loop {
        tokio::time::sleep(pause).await;
        let Some((sessions, session)) = sessions.upgrade().zip(session.upgrade()) else { return };
        match session.idle() {
            Some(idle) if idle >= limit => {
                drop(session);
                let _ = sessions.close_session(&id).await;
                return;
            }
            Some(idle) => pause = limit.saturating_sub(idle),
            None => pause = limit,
        }
    }
}

impl SessionManager for Sessions {
    type Error = LocalSessionManagerError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        let (id, transport) = self.inner.create_session().await?;
        self.admit(&id);
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        self.inner.initialize_session(id, message).await
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        self.inner.has_session(id).await
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        self.forget(id);
        self.inner.close_session(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let events = self.inner.create_stream(id, message).await?;
        Ok(events.map(|mut event| {
            event.event_id = None;
            event
        }))
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), Self::Error> {
        self.inner.accept_message(id, message).await
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let session = self.table().get(id).map(Arc::clone);
        let session =
            session.ok_or_else(|| LocalSessionManagerError::SessionNotFound(id.clone()))?;
        let (closed, stopping) = (session.closed.clone(), self.stopping.clone());
        let ended = async move {
            tokio::select! {
                () = closed.cancelled() => {}
                () = stopping.cancelled() => {}
            }
        };
        Ok(notify::events(Arc::clone(&session.listener), ended))
    }

    /// The same as a new stream: what was missed is at most one list_changed, which the session remembers.
    async fn resume(
        &self,
        id: &SessionId,
        _last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.create_standalone_stream(id).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sessions(limit: usize, idle: u64) -> Arc<Sessions> {
        let rules =
            Rules { sessions: limit, streams: 2, idle: Duration::from_millis(idle), spare: SPARE };
        let live = Arc::new(Live::new(None, 10));
        Sessions::new(rules, live, Arc::default(), CancellationToken::new())
    }

    fn headers(token: &str) -> HeaderMap {
        [(header::AUTHORIZATION, token.parse().unwrap())].into_iter().collect()
    }

    async fn open(sessions: &Sessions, token: &str) -> HeaderMap {
        let mut headers = headers(token);
        let opening = sessions.opening(&headers).await.unwrap();
        let (id, transport) = OPENING.scope(opening, sessions.create_session()).await.unwrap();
        // The worker lives as long as its transport; tests need only the table.
        std::mem::forget(transport);
        headers.insert(SESSION_HEADER, id.parse().unwrap());
        headers
    }

    fn status(sessions: &Sessions, headers: &HeaderMap) -> u16 {
        sessions.of(headers).err().map_or(200, |refusal| refusal.status.as_u16())
    }

    #[tokio::test]
    async fn a_session_belongs_to_who_opened_it() {
        let sessions = sessions(10, 60_000);
        let mine = open(&sessions, "Bearer a").await;
        assert_eq!(status(&sessions, &mine), 200);
        for other in ["Bearer b", "Bearer", ""] {
            let mut theirs = mine.clone();
            theirs.insert(header::AUTHORIZATION, other.parse().unwrap());
            assert_eq!(status(&sessions, &theirs), 404, "{other}");
        }
        let mut nobody = mine.clone();
        nobody.remove(header::AUTHORIZATION);
        assert_eq!(status(&sessions, &nobody), 404);
        assert_eq!(status(&sessions, &headers("Bearer a")), 400);
    }

    #[tokio::test]
    async fn sessions_are_capped_and_a_closed_one_makes_room() {
        let sessions = sessions(2, 60_000);
        let first = open(&sessions, "a").await;
        open(&sessions, "a").await;
        let refusal = sessions.opening(&headers("a")).await.err().unwrap();
        assert_eq!(refusal.status, 503);
        let (id, _) = sessions.of(&first).unwrap();
        sessions.close_session(&id).await.unwrap();
        assert_eq!(status(&sessions, &first), 404);
        open(&sessions, "a").await;
        assert_eq!(sessions.counts.sessions.load(Ordering::Relaxed), 2);
        assert_eq!(sessions.counts.refused_sessions.load(Ordering::Relaxed), 1);
    }

    #[tokio::test]
    async fn an_idle_session_ends_and_a_used_one_does_not() {
        let sessions = sessions(10, 60);
        let idle = open(&sessions, "a").await;
        let used = open(&sessions, "a").await;
        let entered = sessions.of(&used).unwrap().1.enter();
        tokio::time::sleep(Duration::from_millis(400)).await;
        assert_eq!(status(&sessions, &idle), 404);
        assert_eq!(status(&sessions, &used), 200);
        drop(entered);
        tokio::time::sleep(Duration::from_millis(400)).await;
        assert_eq!(status(&sessions, &used), 404);
    }

    #[tokio::test]
    async fn the_most_idle_session_makes_room_when_there_is_none() {
        let rules = Rules { sessions: 2, streams: 2, idle: IDLE, spare: Duration::from_millis(50) };
        let live = Arc::new(Live::new(None, 10));
        let sessions = Sessions::new(rules, live, Arc::default(), CancellationToken::new());
        let used = open(&sessions, "a").await;
        let _entered = sessions.of(&used).unwrap().1.enter();
        let idle = open(&sessions, "a").await;
        assert_eq!(sessions.opening(&headers("a")).await.err().unwrap().status, 503);
        tokio::time::sleep(Duration::from_millis(60)).await;
        open(&sessions, "a").await;
        assert_eq!((status(&sessions, &used), status(&sessions, &idle)), (200, 404));
    }
}
