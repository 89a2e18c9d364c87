//! Documents that are URLs: fetched by a thread of their own, handed out as bytes.
//!
//! Who reads inputs never waits for a network: a [`Remote`] answers at once with what was fetched last,
//! or with the fault that came of it, and tells whoever asked [`Remote::on_change`] when that changes.
//! Documents are asked for again on a timer, with the validators of the last answer. The thread starts
//! with the first URL and ends with the [`Remote`]; it is the one place here that is asynchronous.

mod address;
mod fetch;
mod page;
#[cfg(test)]
pub(crate) mod server;

use std::{
    collections::BTreeMap,
    fmt, io,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

use tokio::{
    runtime,
    sync::{Notify, mpsc},
    time::timeout,
};

use super::Sources;
use crate::tls::Roots;
use address::Address;
pub(super) use address::shown;
use fetch::{Client, Known, Outcome};

/// Between two looks at a document elsewhere.
const AWAY: Duration = Duration::from_secs(60);

/// Between two looks at a document of this machine, and at one that never answered so far.
const NEAR: Duration = Duration::from_secs(2);

/// For one document, redirects and tries of a base URL included.
const TIME: Duration = Duration::from_secs(10);

/// The documents that are URLs.
#[derive(Debug)]
pub struct Remote {
    poll: bool,
    roots: Roots,
    /// For one look at one document.
    time: Duration,
    store: Arc<Store>,
    /// To the thread, once there is one; its end ends the thread.
    orders: Mutex<Option<mpsc::UnboundedSender<Order>>>,
}

/// What is known of a URL.
#[derive(Debug)]
pub(super) enum Fetched {
    /// It was not fetched yet.
    Pending,
    /// Its content, or in words why there is none.
    Done(Content),
}

type Content = Result<Arc<[u8]>, String>;

/// A URL to look after.
#[derive(Debug)]
struct Order {
    url: String,
    number: u64,
    cap: usize,
}

#[derive(Default)]
struct Store {
    state: Mutex<State>,
    arrived: Condvar,
    refresh: Notify,
}

#[derive(Default)]
struct State {
    documents: BTreeMap<String, Document>,
    orders: u64,
    on_change: Option<Arc<dyn Fn() + Send + Sync>>,
}

#[derive(Debug)]
struct Document {
    /// Of the order that looks after it; an order whose number is gone ends.
    number: u64,
    content: Option<Content>,
}

impl Default for Remote {
    fn default() -> Self {
        Self::new(true, Roots::default())
    }
}

impl Remote {
    /// Knows no URL yet. Without `poll`, a document that answered once is asked again only by
    /// [`Remote::refresh`]. Over HTTPS, `roots` are trusted too.
    pub fn new(poll: bool, roots: Roots) -> Self {
        Self { poll, roots, time: TIME, store: Arc::default(), orders: Mutex::default() }
    }

    /// Calls `listener` whenever a document's content or fault changes, in place of the listener before.
    /// It is called on the fetching thread and must not wait.
    pub fn on_change(&self, listener: impl Fn() + Send + Sync + 'static) {
        self.store.state().on_change = Some(Arc::new(listener));
    }

    /// Asks for every document now.
    pub fn refresh(&self) {
        self.store.refresh.notify_waiters();
    }

    /// Stops looking after documents that `sources` does not name.
    pub fn retain(&self, sources: &Sources) {
        let named = |url: &String| sources.all().any(|input| *input.name == *shown(url));
        self.store.state().documents.retain(|url, _| named(url));
    }

    /// Waits until some document arrived, or a second.
    pub(crate) fn wait(&self) {
        let state = self.store.state();
        let pending =
            |state: &mut State| state.documents.values().any(|document| document.content.is_none());
        let second = Duration::from_secs(1);
        drop(self.store.arrived.wait_timeout_while(state, second, pending));
    }

    /// What is known of a URL; one that is new is ordered.
    pub(super) fn content(&self, url: &str, cap: usize) -> Fetched {
        let mut state = self.store.state();
        if let Some(document) = state.documents.get(url) {
            return document.content.clone().map_or(Fetched::Pending, Fetched::Done);
        }
        state.orders += 1;
        let number = state.orders;
        state.documents.insert(url.to_owned(), Document { number, content: None });
        drop(state);
        match self.order(Order { url: url.to_owned(), number, cap }) {
            Ok(()) => Fetched::Pending,
            Err(error) => Fetched::Done(Err(format!("cannot be fetched: {error}"))),
        }
    }

    fn order(&self, order: Order) -> io::Result<()> {
        let mut orders = self.orders.lock().unwrap_or_else(PoisonError::into_inner);
        let sender = match &*orders {
            Some(sender) if !sender.is_closed() => sender.clone(),
            _ => orders.insert(self.spawn()?).clone(),
        };
        // The thread was there a moment ago; if it is not any more, the next pass starts another.
        let _ = sender.send(order);
        Ok(())
    }

    fn spawn(&self) -> io::Result<mpsc::UnboundedSender<Order>> {
        let (sender, orders) = mpsc::unbounded_channel();
        let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
        let (store, pace) = (Arc::clone(&self.store), Pace { poll: self.poll, time: self.time });
        let client = Arc::new(Client::new(self.roots.clone()));
        thread::Builder::new().name("toolgate-remote".into()).spawn(move || {
            runtime.block_on(serve(orders, store, client, pace));
            // A look-up of a name may still hang; nobody waits for it.
            runtime.shutdown_background();
        })?;
        Ok(sender)
    }
}

/// How documents are asked for.
#[derive(Clone, Copy, Debug)]
struct Pace {
    poll: bool,
    time: Duration,
}

/// Looks after each ordered document until nobody can order any more.
async fn serve(
    mut orders: mpsc::UnboundedReceiver<Order>,
    store: Arc<Store>,
    client: Arc<Client>,
    pace: Pace,
) {
    while let Some(order) = orders.recv().await {
        let (url, number, store) = (order.url.clone(), order.number, Arc::clone(&store));
        let task = look_after(order, Arc::clone(&store), Arc::clone(&client), pace);
        let task = tokio::spawn(task);
        tokio::spawn(async move {
            // Else whoever waits for the document would wait for ever.
            if task.await.is_err() {
                store.put(&url, number, Err("cannot be fetched: toolgate's own fault".to_owned()));
            }
        });
    }
}

async fn look_after(order: Order, store: Arc<Store>, client: Arc<Client>, pace: Pace) {
    let Order { url, number, cap } = order;
    let address = match Address::parse(&url) {
        Ok(address) => address,
        Err(words) => return store.put(&url, number, Err(words)),
    };
    let mut known = Known::default();
    while store.wants(&url, number) {
        // Made before the look, so that no request meanwhile is lost.
        let refresh = store.refresh.notified();
        let outcome = timeout(pace.time, client.fetch(&address, &mut known, cap)).await;
        let late = || Outcome::Fault(format!("did not answer within {:?}", pace.time));
        let content = match outcome.unwrap_or_else(|_| late()) {
            Outcome::Content(bytes) => Ok(bytes),
            Outcome::Fault(words) => Err(words),
        };
        store.put(&url, number, content);
        let asked = match pause(known.answered(), address.is_loopback(), pace.poll) {
            Some(pause) => timeout(pause, refresh).await.is_ok(),
            None => {
                refresh.await;
                true
            }
        };
        if asked {
            known.distrust();
        }
    }
}

/// How long until a document is asked for again by itself.
fn pause(answered: bool, loopback: bool, poll: bool) -> Option<Duration> {
    match (answered, loopback) {
        (false, _) => Some(NEAR),
        (true, true) => poll.then_some(NEAR),
        (true, false) => poll.then_some(AWAY),
    }
}

impl Store {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wants(&self, url: &str, number: u64) -> bool {
        self.state().documents.get(url).is_some_and(|document| document.number == number)
    }

    fn put(&self, url: &str, number: u64, content: Content) {
        let mut state = self.state();
        let listener = state.on_change.clone();
        let Some(document) = state.documents.get_mut(url) else { return };
        if document.number != number || document.content.as_ref() == Some(&content) {
            return;
        }
        document.content = Some(content);
        drop(state);
        self.arrived.notify_all();
        if let Some(listener) = listener {
            listener();
        }
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("documents", &self.state().documents.len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::{io::Write, net::TcpListener, time::Instant};

    use super::{
        server::{Server, answer},
        *,
    };

    const CEILING: Duration = Duration::from_secs(20);

    fn until(remote: &Remote, url: &str, expected: Result<&str, &str>) {
        let start = Instant::now();
        loop {
            let now = match remote.content(url, 100) {
                Fetched::Done(content) => {
                    Some(content.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
                }
                Fetched::Pending => None,
            };
            if now.as_ref().map(|now| now.as_deref().map_err(String::as_str)) == Some(expected) {
                return;
            }
            assert!(start.elapsed() < CEILING, "{now:?}, not {expected:?}");
            remote.wait();
            thread::sleep(Duration::from_millis(5));
        }
    }

    fn check(path: &str, expected: Result<&str, &str>, script: &[(&str, &str)]) {
        let server = Server::new();
        script.iter().for_each(|(path, answer)| server.on(path, answer));
        until(&Remote::default(), &server.url(path), expected);
    }

    #[test]
    fn a_document_is_fetched_by_its_url_or_below_a_base_url() {
        check("/a.yaml", Ok("one"), &[("/a.yaml", "200 OK\r\n\r\none")]);
        check("/", Ok("json"), &[("/openapi.json", "200 OK\r\n\r\njson")]);
        check("", Ok("yaml"), &[("/openapi.yaml", "200 OK\r\n\r\nyaml")]);
        let page = "200 OK\r\nContent-Type: text/html\r\n\r\n<html>";
        check("/", Ok("yaml"), &[("/openapi.json", page), ("/openapi.yaml", "200 OK\r\n\r\nyaml")]);
        check("/api/", Ok("json"), &[("/api/openapi.json", "200 OK\r\n\r\njson")]);
    }

    fn page(text: &str) -> String {
        format!("200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<!doctype html>{text}")
    }

    #[test]
    fn a_documentation_page_leads_to_its_document() {
        let document = ("/v1/api.json", "200 OK\r\n\r\none");
        let swagger = page("<script>SwaggerUIBundle({ url: '/v1/api.json' })</script>");
        check("/docs", Ok("one"), &[("/docs", &swagger), document]);
        check("/", Ok("one"), &[("/docs", &swagger), document]);
        let redoc = page("<redoc spec-url='../v1/api.json'></redoc>");
        check(
            "/",
            Ok("one"),
            &[("/redoc", &page("nothing")), ("/swagger-ui/index.html", &redoc), document],
        );
        check("/", Ok("one"), &[("/", &page("<div data-url=\"v1/api.json\">")), document]);
        let two = page("url: '/gone.json', url: 'v1/api.json'");
        check("/docs", Ok("one"), &[("/docs", &two), document]);
        let moved = ("/docs", "301 Moved\r\nLocation: /v1/docs/\r\n\r\n");
        let relative = page("<redoc spec-url='../api.json'>");
        check("/docs", Ok("one"), &[moved, ("/v1/docs/", &relative), document]);
        let text = "200 OK\r\nContent-Type: text/html\r\n\r\nopenapi: 3.1.0";
        check("/a.yaml", Ok("openapi: 3.1.0"), &[("/a.yaml", text)]);
    }

    #[test]
    fn a_documentation_page_leads_nowhere_else() {
        let other = page("<redoc spec-url='https://example.com/api.json'>");
        let words =
            "leads to a document elsewhere, `https://example.com/api.json`; name that URL instead";
        check("/docs", Err(words), &[("/docs", &other)]);
        let hop = page("url: '/api.json'");
        let away = ("/api.json", "302 Found\r\nLocation: http://127.0.0.2/api.json\r\n\r\n");
        let words = "redirects to another origin, `http://127.0.0.2`; name that URL instead";
        check("/docs", Err(words), &[("/docs", &hop), away]);
        check(
            "/docs",
            Err("leads to `/api.json`, which answered 404 Not Found"),
            &[("/docs", &hop)],
        );
        let words = "leads to `/api.json`, which is a web page too";
        check("/docs", Err(words), &[("/docs", &hop), ("/api.json", &page(""))]);
        let words =
            "answered with a web page that leads to no document; name the document's own URL";
        check("/docs", Err(words), &[("/docs", &page("hello"))]);
    }

    #[test]
    fn a_document_found_over_a_page_is_asked_for_where_it_was() {
        let (server, remote) = (Server::new(), Remote::default());
        server.on("/docs", &page("url: '/api.json'"));
        server.on("/api.json", "200 OK\r\nETag: \"1\"\r\n\r\none");
        until(&remote, &server.url("/"), Ok("one"));
        let before = server.requests().len();
        server.on("/api.json", "200 OK\r\nETag: \"2\"\r\n\r\ntwo");
        until(&remote, &server.url("/"), Ok("two"));
        let more = server.requests().split_off(before);
        assert!(more.iter().all(|head| head.starts_with("get /api.json ")), "{more:?}");
        assert!(more[0].contains("\nif-none-match: \"1\""), "{more:?}");
    }

    #[test]
    fn not_modified_is_believed_only_of_what_was_asked() {
        let (server, remote) = (Server::new(), Remote::default());
        server.on("/a", "304 Not Modified\r\n\r\n");
        until(&remote, &server.url("/a"), Err("answered 304 Not Modified"));
        server.on("/a", "200 OK\r\nETag: \"1\"\r\n\r\none");
        until(&remote, &server.url("/a"), Ok("one"));
        // It broke off, so whoever answers next may be another one that counts its tags anew.
        server.on("/a", "200 OK\r\nContent-Length: 50\r\n\r\nhalf");
        let broke = "broke off: end of file before message length reached";
        until(&remote, &server.url("/a"), Err(broke));
        let before = server.requests().len();
        server.on("/a", "200 OK\r\nETag: \"1\"\r\n\r\ntwo");
        until(&remote, &server.url("/a"), Ok("two"));
        let next = &server.requests()[before];
        assert!(!next.contains("if-none-match"), "{next}");
    }

    #[test]
    fn a_person_who_asks_gets_the_whole_document() {
        let (server, remote) = (Server::new(), Remote::new(false, Roots::default()));
        server.on("/a", "200 OK\r\nETag: \"1\"\r\n\r\none");
        until(&remote, &server.url("/a"), Ok("one"));
        server.on("/a", "200 OK\r\nETag: \"1\"\r\n\r\ntwo");
        let start = Instant::now();
        while server.requests().len() < 2 {
            assert!(start.elapsed() < CEILING);
            remote.refresh();
            thread::sleep(Duration::from_millis(10));
        }
        until(&remote, &server.url("/a"), Ok("two"));
        assert!(!server.requests()[1].contains("if-none-match"));
    }

    #[test]
    fn a_server_that_takes_too_long_is_given_up() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/a", listener.local_addr().unwrap());
        let remote =
            Remote { time: Duration::from_millis(300), ..Remote::new(false, Roots::default()) };
        thread::spawn(move || {
            for stream in listener.incoming() {
                let _ =
                    stream.unwrap().write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf");
                thread::sleep(Duration::from_secs(60));
            }
        });
        until(&remote, &url, Err("did not answer within 300ms"));
    }

    #[test]
    fn what_gives_no_document_is_a_fault_in_words() {
        check("/a.yaml", Err("answered 404 Not Found"), &[]);
        check(
            "/a.yaml",
            Err("answered 500 Internal Server Error"),
            &[("/a.yaml", "500 Internal Server Error\r\n\r\n")],
        );
        let nowhere = "has no `openapi.json`, no `openapi.yaml` and no documentation page that leads to a \
                       document; name the document's own URL";
        check("/", Err(nowhere), &[]);
        check(
            "/a.yaml",
            Err(
                "answered 401 Unauthorized; no credentials are sent for a document: save it as a file",
            ),
            &[("/a.yaml", "401 Unauthorized\r\n\r\n")],
        );
        let over = "is over 100 bytes; raise it with `--limit document=BYTES`";
        let long = format!("200 OK\r\n\r\n{}", "x".repeat(101));
        check("/a.yaml", Err(over), &[("/a.yaml", &long)]);
        check(
            "/a.yaml",
            Err("answered in a content encoding that was not asked for"),
            &[("/a.yaml", "200 OK\r\nContent-Encoding: gzip\r\n\r\n")],
        );
        check(
            "/a.yaml",
            Err("broke off: end of file before message length reached"),
            &[("/a.yaml", "200 OK\r\nContent-Length: 50\r\n\r\nhalf")],
        );
    }

    #[test]
    fn redirects_are_followed_within_the_origin_and_not_for_ever() {
        let to = |path: &str| format!("302 Found\r\nLocation: {path}\r\n\r\n");
        let end = ("/4", "200 OK\r\n\r\nend");
        let (two, three, four) = (to("/2"), to("/3"), to("/4"));
        check("/1", Ok("end"), &[("/1", &two), ("/2", &three), ("/3", &four), end]);
        check(
            "/0",
            Err("redirects more than 3 times"),
            &[("/0", &to("/1")), ("/1", &two), ("/2", &three), ("/3", &four), end],
        );
        let other = "redirects to another origin, `http://127.0.0.2`; name that URL instead";
        check("/1", Err(other), &[("/1", &to("http://127.0.0.2/"))]);
    }

    #[test]
    fn a_document_is_asked_for_again_with_the_validators_of_its_answer() {
        let (server, remote) = (Server::new(), Remote::default());
        server.on("/a", "200 OK\r\nETag: \"1\"\r\nLast-Modified: then\r\n\r\none");
        until(&remote, &server.url("/a"), Ok("one"));
        server.on("/a", "304 Not Modified\r\n\r\n");
        let start = Instant::now();
        while server.requests().len() < 2 {
            assert!(start.elapsed() < CEILING);
            thread::sleep(Duration::from_millis(10));
        }
        let second = &server.requests()[1];
        assert!(second.contains("\nif-none-match: \"1\""), "{second}");
        assert!(second.contains("\nif-modified-since: then"), "{second}");
        until(&remote, &server.url("/a"), Ok("one"));
    }

    #[test]
    fn a_fault_heals_into_what_was_there_before_or_is_new() {
        let (server, remote) = (Server::new(), Remote::default());
        let changes = Arc::new(Mutex::new(0));
        let counted = Arc::clone(&changes);
        remote.on_change(move || *counted.lock().unwrap() += 1);
        server.on("/a", "200 OK\r\nETag: \"1\"\r\n\r\none");
        until(&remote, &server.url("/a"), Ok("one"));
        server.on("/a", "503 Service Unavailable\r\n\r\n");
        until(&remote, &server.url("/a"), Err("answered 503 Service Unavailable"));
        server.on("/a", "304 Not Modified\r\n\r\n");
        until(&remote, &server.url("/a"), Ok("one"));
        server.on("/a", "200 OK\r\n\r\ntwo");
        remote.refresh();
        until(&remote, &server.url("/a"), Ok("two"));
        assert_eq!(*changes.lock().unwrap(), 4);
    }

    #[test]
    fn a_server_that_is_not_there_yet_is_asked_until_it_is() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        drop(listener);
        let remote = Remote::new(false, Roots::default());
        let url = format!("http://{address}/a");
        until(&remote, &url, Err("cannot be fetched: Connection refused (os error 111)"));
        let listener = TcpListener::bind(address).unwrap();
        thread::spawn(move || {
            let script = Mutex::new(vec![("/a".to_owned(), "200 OK\r\n\r\nhere".to_owned())]);
            answer(listener.accept().unwrap().0, &script, &Mutex::default());
        });
        until(&remote, &url, Ok("here"));
    }

    #[test]
    fn without_polling_only_a_request_asks_again() {
        let check = |answered, loopback, poll, expected: Option<u64>| {
            assert_eq!(pause(answered, loopback, poll), expected.map(Duration::from_secs));
        };
        check(true, true, true, Some(2));
        check(true, false, true, Some(60));
        check(false, false, true, Some(2));
        check(false, false, false, Some(2));
        check(true, true, false, None);
        check(true, false, false, None);
    }

    #[test]
    fn a_proxy_of_the_environment_is_never_asked() {
        // The environment cannot be changed here, so the same test binary runs once more.
        let tests = "source::remote::tests::a_document_is_fetched_by_its_url_or_below_a_base_url";
        let mut again = std::process::Command::new(std::env::current_exe().unwrap());
        again.args(["--exact", tests]);
        for name in ["http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy", "ALL_PROXY"] {
            again.env(name, "http://127.0.0.1:1");
        }
        let output = again.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("1 passed"), "{text}");
    }
}
