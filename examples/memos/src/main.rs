//! Runs the memo API, and prints how to reach it.

use std::io::{IsTerminal as _, Write as _};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;
use axum::Router;
use axum::serve::ListenerExt as _;
use clap::Parser;
use memos::{Store, clients};
use tokio::net::TcpListener;
use toolgate::Gateway;

/// How long calls that are under way may take after the program was told to stop.
const GRACE: Duration = Duration::from_secs(3);

/// Each reload is a line; of the protocol library only what is wrong.
const LOG: &str = "info,notify=off,rmcp=warn,rmcp::service=off";

/// A small memo API for agents to work with.
#[derive(Parser)]
#[command(name = "memos", version)]
struct Flags {
    /// Where the memos and the token are kept.
    #[arg(long, value_name = "DIR", default_value = "target/memos")]
    data: PathBuf,
    /// The OpenAPI document.
    #[arg(long, value_name = "FILE", default_value = "spec/openapi.yaml")]
    document: PathBuf,
    /// What agents may call.
    #[arg(long, value_name = "DIR|FILE", default_value = "allowlists")]
    allowlists: PathBuf,
    /// The address to listen on.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:5230")]
    listen: SocketAddr,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let flags = Flags::parse();
    tracing_subscriber::fmt()
        .with_env_filter(LOG)
        .with_target(false)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr)
        .init();
    let store = Store::open(&flags.data)?;
    let api = memos::router(store.clone());
    // Calls of tools never leave this process. Saved changes of both are live until `gateway` is dropped.
    let gateway = Gateway::builder()
        .document(&flags.document)
        .allowlists(&flags.allowlists)
        .service(api.clone())
        .start()?;
    let app = api.merge(gateway.router());
    let listener = TcpListener::bind(flags.listen).await.with_context(|| {
        format!("cannot listen on `{}`; choose another address with `--listen`", flags.listen)
    })?;
    let address = reachable(listener.local_addr()?);
    let n_tools = gateway.snapshot().map_or(0, |snapshot| snapshot.tools().count());
    let tools = format!("{n_tools} tools ({})", flags.allowlists.display());
    std::io::stdout().write_all(welcome(address, &tools, &store)?.as_bytes())?;
    serve(listener, app).await
}

/// What the program prints when it is ready.
fn welcome(address: SocketAddr, tools: &str, store: &Store) -> anyhow::Result<String> {
    let n_memos = store.n_memos()?;
    let token = store.token();
    let (api, mcp) = (format!("http://{address}"), format!("http://{address}/mcp"));
    let head = format!(
        "memos   {api:<29} a small memo API, memos in it: {n_memos}\n\
         mcp     {mcp:<29} {tools}\n\
         token   {}\n",
        token.reveal()
    );
    Ok(format!("{head}\n{}", clients::commands(&mcp, token)))
}

/// The address to type: one that listens everywhere is reached on loopback.
fn reachable(mut address: SocketAddr) -> SocketAddr {
    if address.ip().is_unspecified() {
        address.set_ip(std::net::Ipv4Addr::LOCALHOST.into());
    }
    address
}

/// Serves until the program is told to stop, then lets calls finish, but not for ever: a stream has no end.
async fn serve(listener: TcpListener, app: Router) -> anyhow::Result<()> {
    let listener = listener.tap_io(|stream| {
        // Answers are small, and waiting to fill a packet costs tens of milliseconds. Without it they still arrive.
        let _ = stream.set_nodelay(true);
    });
    let served = axum::serve(listener, app).with_graceful_shutdown(stop());
    tokio::select! {
        outcome = async { served.await } => outcome.context("cannot serve"),
        () = async { stop().await; tokio::time::sleep(GRACE).await } => Ok(()),
    }
}

/// Resolves at ctrl-c, or when the system asks the program to end.
async fn stop() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
            }
            return;
        }
    }
    let _ = tokio::signal::ctrl_c().await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_to_type_is_never_the_unspecified_one() {
        let check = |from: &str, to: &str| {
            assert_eq!(reachable(from.parse().unwrap()), to.parse().unwrap())
        };
        check("0.0.0.0:5230", "127.0.0.1:5230");
        check("[::]:5230", "127.0.0.1:5230");
        check("192.0.2.1:5230", "192.0.2.1:5230");
    }

    #[test]
    fn the_welcome_names_address_token_and_clients() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let text =
            welcome("127.0.0.1:5230".parse().unwrap(), "17 tools (allowlists)", &store).unwrap();
        assert!(
            text.starts_with(
                "memos   http://127.0.0.1:5230         a small memo API, memos in it: 3\n"
            ),
            "{text}"
        );
        assert!(
            text.contains("\nmcp     http://127.0.0.1:5230/mcp     17 tools (allowlists)\n"),
            "{text}"
        );
        assert!(text.contains(&format!("token   {}\n", store.token().reveal())), "{text}");
        assert!(
            text.contains("claude mcp add --transport http memos http://127.0.0.1:5230/mcp "),
            "{text}"
        );
    }
}
