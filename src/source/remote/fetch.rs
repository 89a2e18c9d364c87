//! One look at a document over HTTP.
//!
//! No proxy is ever asked, whatever the environment says: a document of this machine must not leave
//! it. Connections are not kept, since the server on the other side restarts as it likes. Faults are
//! in words that depend on the kind of fault alone.

use std::{error::Error, sync::Arc, sync::OnceLock};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Empty, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::legacy::{self, connect::HttpConnector},
    rt::TokioExecutor,
};
use url::Url;

use super::address::{Address, redirected};
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
    /// Which of the candidates it was.
    candidate: Url,
    bytes: Arc<[u8]>,
    /// `If-None-Match`, `If-Modified-Since`.
    conditions: Vec<(HeaderName, HeaderValue)>,
}

impl Known {
    /// Whether there was ever a good answer.
    pub(super) fn answered(&self) -> bool {
        self.good.is_some()
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

    /// Looks once.
    pub(super) async fn fetch(&self, address: &Address, known: &mut Known, cap: usize) -> Outcome {
        let cap = Cap { bytes: cap, limit: Some("document") };
        let mut missing = None;
        for candidate in address.candidates() {
            let good = known.good.clone().filter(|good| good.candidate == candidate);
            match self.look(candidate, good, address.is_base(), cap).await {
                Ok(good) => {
                    let bytes = Arc::clone(&good.bytes);
                    known.good = Some(good);
                    return Outcome::Content(bytes);
                }
                Err(Miss::Absent(words)) => missing = Some(words),
                Err(Miss::Fault(words)) => return Outcome::Fault(words),
            }
        }
        let nowhere = "has neither `openapi.json` nor `openapi.yaml`; name the document's own URL";
        let missing = missing.filter(|_| !address.is_base());
        Outcome::Fault(missing.unwrap_or_else(|| nowhere.to_owned()))
    }

    async fn look(
        &self,
        candidate: Url,
        good: Option<Good>,
        guessed: bool,
        cap: Cap,
    ) -> Result<Good, Miss> {
        let conditions = good.iter().flat_map(|good| good.conditions.clone()).collect();
        let response = self.follow(candidate.clone(), &conditions).await.map_err(Miss::Fault)?;
        let status = response.status();
        if let (StatusCode::NOT_MODIFIED, Some(good)) = (status, good) {
            return Ok(good);
        }
        if status != StatusCode::OK {
            return Err(Miss::Absent(format!("answered {status}")));
        }
        // A site that shows its front page under every name has no document under this one.
        if guessed && is_html(response.headers()) {
            return Err(Miss::Absent("answered with a web page".to_owned()));
        }
        let conditions = conditions_of(response.headers());
        let bytes = body(response, cap).await.map_err(Miss::Fault)?;
        Ok(Good { candidate, bytes, conditions })
    }

    async fn follow(
        &self,
        mut url: Url,
        conditions: &HeaderMap,
    ) -> Result<Response<Incoming>, String> {
        for _ in 0..=REDIRECTS {
            let response = self.send(&url, conditions).await?;
            let status = response.status();
            let location = response.headers().get(header::LOCATION);
            let (true, Some(location)) =
                (status.is_redirection() && status != StatusCode::NOT_MODIFIED, location)
            else {
                return Ok(response);
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

fn conditions_of(headers: &HeaderMap) -> Vec<(HeaderName, HeaderValue)> {
    let pairs =
        [(header::ETAG, header::IF_NONE_MATCH), (header::LAST_MODIFIED, header::IF_MODIFIED_SINCE)];
    let condition = |(from, to)| Some((to, headers.get(from)?.clone()));
    pairs.into_iter().filter_map(condition).collect()
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
