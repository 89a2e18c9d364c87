//! One look at a document over HTTP.
//!
//! No proxy is ever asked, whatever the environment says: a document of this machine must not leave
//! it. Connections are not kept, since the server on the other side restarts as it likes. Faults are
//! in words that depend on the kind of fault alone.

use std::{error::Error, sync::Arc, sync::OnceLock};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Empty, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::legacy::{self, connect::HttpConnector},
    rt::TokioExecutor,
};
use url::Url;

use super::{
    address::{Address, redirected, shown},
    page::links,
};
use crate::{source::file::Cap, tls::Roots};

/// Redirects that are followed for one document.
const REDIRECTS: usize = 3;

const ACCEPT: &str = "application/json, application/yaml, text/yaml, */*;q=0.5";

/// What the last good answer was, to ask whether it still holds.
#[derive(Debug, Default)]
pub(super) struct Known {
    good: Option<Good>,
}

#[derive(Clone, Debug)]
struct Good {
    /// Where it was found.
    candidate: Url,
    bytes: Arc<[u8]>,
    /// `If-None-Match`, `If-Modified-Since`.
    conditions: HeaderMap,
}

impl Known {
    /// Whether there was ever a good answer.
    pub(super) fn answered(&self) -> bool {
        self.good.is_some()
    }

    /// Asks for the whole document next time: after a restart, a server may say "not modified" of what
    /// it never sent, and a person who asks wants to be sure.
    pub(super) fn distrust(&mut self) {
        if let Some(good) = &mut self.good {
            good.conditions.clear();
        }
    }
}

/// What a look came to.
#[derive(Debug)]
pub(super) enum Outcome {
    /// The document, new or as it was.
    Content(Arc<[u8]>),
    /// In words, why there is none.
    Fault(String),
}

/// Why one candidate gave no document.
enum Miss {
    /// Something answered, but not with a document: another name may.
    Absent(String),
    /// A web page, which may lead to one; its address after redirects.
    Page(Url, Arc<[u8]>),
    /// Nothing else would do better.
    Fault(String),
}

type Connection<C> = legacy::Client<C, Empty<Bytes>>;

/// Makes requests; certificates are loaded with the first `https`.
#[derive(Debug)]
pub(super) struct Client {
    roots: Roots,
    plain: OnceLock<Connection<HttpConnector>>,
    tls: OnceLock<Result<Connection<HttpsConnector<HttpConnector>>, String>>,
}

impl Client {
    /// Trusts the system's roots and these.
    pub(super) fn new(roots: Roots) -> Self {
        Self { roots, plain: OnceLock::new(), tls: OnceLock::new() }
    }

    /// Looks once: where the document was before, else wherever it may be.
    pub(super) async fn fetch(&self, address: &Address, known: &mut Known, cap: usize) -> Outcome {
        let outcome = match self.search(address, known, cap).await {
            Ok(good) => {
                let bytes = Arc::clone(&good.bytes);
                known.good = Some(good);
                return Outcome::Content(bytes);
            }
            Err(outcome) => outcome,
        };
        match outcome {
            Miss::Absent(words) => Outcome::Fault(words),
            Miss::Page(..) => Outcome::Fault("answered with a web page".to_owned()),
            Miss::Fault(words) => {
                known.distrust();
                Outcome::Fault(words)
            }
        }
    }

    async fn search(&self, address: &Address, known: &Known, cap: usize) -> Result<Good, Miss> {
        let cap = Cap { bytes: cap, limit: Some("document") };
        let mut places = address.candidates();
        if let Some(good) = &known.good {
            places.retain(|place| *place != good.candidate);
            places.insert(0, good.candidate.clone());
        }
        let mut missing = None;
        for place in places {
            let good = known.good.as_ref().filter(|good| good.candidate == place);
            let found = match self.look(&place, good, cap).await {
                Err(Miss::Page(page, text)) => self.shown(&page, &text, cap).await,
                found => found,
            };
            match found {
                Err(Miss::Absent(words)) => missing = missing.or(Some(words)),
                found => return found,
            }
        }
        let nowhere = "has no `openapi.json`, no `openapi.yaml` and no documentation page that leads to \
                       a document; name the document's own URL";
        let missing = missing.filter(|_| !address.is_base() || known.answered());
        Err(Miss::Absent(missing.unwrap_or_else(|| nowhere.to_owned())))
    }

    /// The document that a page shows. Only of the page's own origin: that is the one the user named.
    async fn shown(&self, page: &Url, text: &[u8], cap: Cap) -> Result<Good, Miss> {
        let mut missing =
            "answered with a web page that leads to no document; name the document's own URL"
                .to_owned();
        for link in links(text) {
            let Ok(place) = page.join(&link) else { continue };
            if place.origin() != page.origin() {
                let place = shown(place.as_str());
                missing =
                    format!("leads to a document elsewhere, `{place}`; name that URL instead");
                continue;
            }
            match self.look(&place, None, cap).await {
                Err(Miss::Absent(words)) => {
                    missing = format!("leads to `{}`, which {words}", place.path());
                }
                Err(Miss::Page(..)) => {
                    missing = format!("leads to `{}`, which is a web page too", place.path());
                }
                found => return found,
            }
        }
        Err(Miss::Absent(missing))
    }

    async fn look(&self, place: &Url, good: Option<&Good>, cap: Cap) -> Result<Good, Miss> {
        let conditions = good.map(|good| good.conditions.clone()).unwrap_or_default();
        let (url, response) = self.follow(place.clone(), &conditions).await.map_err(Miss::Fault)?;
        let status = response.status();
        // "Not modified" answers a question only; unasked it says nothing.
        if let (StatusCode::NOT_MODIFIED, Some(good), false) = (status, good, conditions.is_empty())
        {
            return Ok(good.clone());
        }
        if status != StatusCode::OK {
            return Err(Miss::Absent(refused(status)));
        }
        let (html, conditions) = (is_html(response.headers()), conditions_of(response.headers()));
        let bytes = body(response, cap).await.map_err(Miss::Fault)?;
        // Some servers call every text a page.
        if html && bytes.trim_ascii_start().starts_with(b"<") {
            return Err(Miss::Page(url, bytes));
        }
        Ok(Good { candidate: place.clone(), bytes, conditions })
    }

    async fn follow(
        &self,
        mut url: Url,
        conditions: &HeaderMap,
    ) -> Result<(Url, Response<Incoming>), String> {
        for _ in 0..=REDIRECTS {
            let response = self.send(&url, conditions).await?;
            let status = response.status();
            let location = response.headers().get(header::LOCATION);
            let (true, Some(location)) =
                (status.is_redirection() && status != StatusCode::NOT_MODIFIED, location)
            else {
                return Ok((url, response));
            };
            url = redirected(&url, &String::from_utf8_lossy(location.as_bytes()))?;
        }
        Err(format!("redirects more than {REDIRECTS} times"))
    }

    async fn send(&self, url: &Url, conditions: &HeaderMap) -> Result<Response<Incoming>, String> {
        let mut request = Request::builder()
            .method(Method::GET)
            .uri(url.as_str())
            .header(header::ACCEPT, ACCEPT)
            .header(header::ACCEPT_ENCODING, "identity")
            .header(header::USER_AGENT, concat!("toolgate/", env!("CARGO_PKG_VERSION")))
            .body(Empty::new())
            .map_err(|error| format!("is no URL to ask for: {error}"))?;
        request.headers_mut().extend(conditions.clone());
        let response = if url.scheme() == "https" {
            self.tls()?.request(request).await
        } else {
            self.plain().request(request).await
        };
        response.map_err(|error| format!("cannot be fetched: {}", cause(&error)))
    }

    fn plain(&self) -> &Connection<HttpConnector> {
        self.plain.get_or_init(|| builder().build(HttpConnector::new()))
    }

    fn tls(&self) -> Result<&Connection<HttpsConnector<HttpConnector>>, String> {
        let made = self.tls.get_or_init(|| {
            let tls = self.roots.client().map_err(|words| format!("cannot be fetched: {words}"))?;
            let connector = HttpsConnectorBuilder::new().with_tls_config(tls);
            Ok(builder().build(connector.https_only().enable_http1().build()))
        });
        made.as_ref().map_err(Clone::clone)
    }
}

fn builder() -> legacy::Builder {
    let mut builder = legacy::Client::builder(TokioExecutor::new());
    builder.pool_max_idle_per_host(0);
    builder
}

fn is_html(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).map(HeaderValue::as_bytes);
    kind.is_some_and(|kind| kind.starts_with(b"text/html"))
}

fn conditions_of(headers: &HeaderMap) -> HeaderMap {
    let pairs =
        [(header::ETAG, header::IF_NONE_MATCH), (header::LAST_MODIFIED, header::IF_MODIFIED_SINCE)];
    let condition = |(from, to)| Some((to, headers.get(from)?.clone()));
    pairs.into_iter().filter_map(condition).collect()
}

fn refused(status: StatusCode) -> String {
    let way_out = match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            "; no credentials are sent for a document: save it as a file"
        }
        _ => "",
    };
    format!("answered {status}{way_out}")
}

async fn body(response: Response<Incoming>, cap: Cap) -> Result<Arc<[u8]>, String> {
    let encoding = response.headers().get(header::CONTENT_ENCODING);
    if encoding.is_some_and(|encoding| encoding != "identity") {
        return Err("answered in a content encoding that was not asked for".to_owned());
    }
    match Limited::new(response.into_body(), cap.bytes).collect().await {
        Ok(body) => Ok(Arc::from(&*body.to_bytes())),
        Err(error) if error.is::<LengthLimitError>() => Err(cap.fault()),
        Err(error) => Err(format!("broke off: {}", cause(&*error))),
    }
}

/// The innermost cause, which is the part a person can act on.
fn cause(error: &(dyn Error + 'static)) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}
