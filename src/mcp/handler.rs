//! What rmcp asks: one handler per modern request, legacy session or stdio connection.
//!
//! A modern request's handler holds that request's snapshot, so that everything rmcp asks about it
//! (the schema for header checks, then the call) is answered from one. A session's handler holds
//! none: each list and call takes its own, once. Tools are the only capability; every other method
//! is left to rmcp's default, which is "method not found".

use std::{borrow::Cow, sync::Arc};

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CacheScope, CallToolRequestParams, CallToolResponse, DiscoverResult, Implementation,
        ListToolsResult, MetaObject, PaginatedRequestParams, ProtocolVersion, ServerCapabilities,
        ServerConfig, SubscriptionFilter, Tool,
    },
    service::{NotificationContext, RequestContext, SubscriptionContext},
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{Edge, era::SUPPORTED, notify, tools};
use crate::snapshot::Snapshot;

const SERVER_INFO_KEY: &str = "io.modelcontextprotocol/serverInfo";

tokio::task_local! {
    /// The snapshot of the modern request that is being handled; read by [`Handler::of_request`].
    pub(super) static PINNED: Option<Arc<Snapshot>>;
}

/// Answers rmcp's questions.
pub(super) struct Handler {
    edge: Arc<Edge>,
    /// `None` in sessions and on stdio, and for requests that need none: a listen lives long.
    pinned: Option<Arc<Snapshot>>,
    stopping: CancellationToken,
}

impl Handler {
    /// For the request in whose scope it is made, or for a session when there is none.
    pub(super) fn of_request(edge: &Arc<Edge>) -> Self {
        let pinned = PINNED.try_with(Clone::clone).ok().flatten();
        Self { edge: Arc::clone(edge), pinned, stopping: edge.stopping.clone() }
    }

    /// For one stdio connection, whose listens end with `stopping`.
    pub(super) fn of_lines(edge: &Arc<Edge>, stopping: CancellationToken) -> Self {
        Self { edge: Arc::clone(edge), pinned: None, stopping }
    }

    /// To be asked once per list or call.
    fn snapshot(&self) -> Option<Arc<Snapshot>> {
        self.pinned.clone().or_else(|| self.edge.live.load())
    }
}

/// Whether a request is of the modern era; legacy requests have no version in `_meta`.
fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    context.meta.protocol_version().is_some_and(|version| !version.has_initialize())
}

fn server_info() -> Implementation {
    Implementation::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))
}

/// The `_meta` of every modern result; legacy results have none.
fn result_meta(context: &RequestContext<RoleServer>) -> Option<MetaObject> {
    is_modern(context).then(|| {
        let mut meta = MetaObject::default();
        meta.insert(SERVER_INFO_KEY.into(), json!(server_info()));
        meta
    })
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let tools = ServerCapabilities::builder().enable_tools().enable_tool_list_changed();
        let config = ServerConfig::new(tools.build())
            .with_server_info(server_info())
            .with_protocol_version(ProtocolVersion::V_2025_11_25);
        match self.snapshot().map(|snapshot| Arc::clone(snapshot.instructions())) {
            Some(instructions) if !instructions.is_empty() => {
                config.with_instructions(instructions.as_ref())
            }
            _ => config,
        }
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(SUPPORTED)
    }

    async fn discover(&self, _: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let mut result = DiscoverResult::from_server_info(SUPPORTED.to_vec(), self.get_info());
        result.cache_scope = CacheScope::Public;
        Ok(result)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut result = ListToolsResult::default();
        let cursor = request.and_then(|request| request.cursor);
        if let Some(snapshot) = self.snapshot() {
            let place = self.edge.listings.page(&snapshot, cursor.as_deref()).map_err(no_list)?;
            let place = place.ok_or_else(changed)?;
            result.tools.clone_from(&place.page().tools);
            result.next_cursor.clone_from(&place.page().next);
        } else if cursor.is_some() {
            return Err(changed());
        }
        if is_modern(&context) {
            result.ttl_ms = Some(0);
            result.cache_scope = Some(CacheScope::Public);
        }
        result.meta = result_meta(&context);
        Ok(result)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let snapshot = self.snapshot()?;
        let (_, tool) = snapshot.tool(name)?;
        // rmcp asks in order to check `Mcp-Param-*` headers, which few tools have.
        let annotated = has_header(tool.listed.get("inputSchema")?);
        annotated.then(|| serde_json::from_value(tool.listed.clone().into()).ok())?
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let result = tools::call(&self.edge, self.snapshot(), request, &context).await?;
        Ok(result.with_meta(result_meta(&context)).into())
    }

    fn accepted_subscription_filter(&self, _: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(SubscriptionFilter::builder().tools_list_changed().build())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        notify::listen(context, &self.stopping).await;
        Ok(())
    }

    async fn on_initialized(&self, _: NotificationContext<RoleServer>) {}
}

/// Whether a property on a plain `properties` chain carries `x-mcp-header`.
fn has_header(schema: &Value) -> bool {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.is_some_and(|properties| {
        properties
            .values()
            .any(|property| property.get("x-mcp-header").is_some() || has_header(property))
    })
}

fn changed() -> ErrorData {
    ErrorData::invalid_params("unknown cursor: the list changed, start over", None)
}

#[expect(clippy::needless_pass_by_value, reason = "handed to `map_err`")]
fn no_list(error: serde_json::Error) -> ErrorData {
    tracing::error!(%error, "the list of tools cannot be read");
    ErrorData::internal_error("the list of tools cannot be read", None)
}
