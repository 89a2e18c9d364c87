//! A folder with a document and allowlists, and a gateway over it.

use std::{
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use tempfile::TempDir;
use toolgate::{Gateway, gateway::Builder};

use super::Recorder;

/// A folder of its own; gone when dropped.
pub struct Workspace {
    folder: TempDir,
}

impl Workspace {
    /// The memo document and allowlist of the repository.
    pub fn memos() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let document = fs::read_to_string(root.join("spec/openapi.yaml")).unwrap();
        let allowlist = fs::read_to_string(root.join("allowlists/memos.yaml")).unwrap();
        Self::new(&document, &allowlist)
    }

    /// `openapi.yaml` and `allowlists/api.yaml` with these texts.
    pub fn new(document: &str, allowlist: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("allowlists")).unwrap();
        let workspace = Self { folder };
        workspace.write("openapi.yaml", document);
        workspace.write("allowlists/api.yaml", allowlist);
        workspace
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// In place: truncated, then written.
    pub fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    /// Written beside and renamed over, as most editors and generators do.
    pub fn replace(&self, name: &str, text: &str) {
        let beside = self.path(&format!("{name}.new"));
        fs::write(&beside, text).unwrap();
        fs::rename(beside, self.path(name)).unwrap();
    }

    /// The binary with these arguments, in this folder and with nothing in its environment.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolgate"));
        command.current_dir(self.path("")).env_clear().args(arguments).stdin(Stdio::null());
        command
    }

    /// The file `log` once these words stand in it, or after 20 s.
    pub fn logged(&self, words: &str) -> String {
        let start = Instant::now();
        while !self.read("log").contains(words) && start.elapsed() < Duration::from_secs(20) {
            thread::sleep(Duration::from_millis(20));
        }
        self.read("log")
    }

    /// A builder over the folder, without an upstream.
    pub fn builder(&self) -> Builder {
        Gateway::builder().document(self.path("openapi.yaml")).allowlists(self.path("allowlists"))
    }

    /// Serves it with calls going to `upstream` over HTTP.
    pub async fn serve(&self, upstream: &Recorder) -> Server {
        let origin = format!("http://{}", upstream.listen().await);
        Server::start(self.builder().upstream(origin).start().unwrap()).await
    }

    /// Serves it with calls going to `upstream` in this process.
    pub async fn serve_in_process(&self, upstream: &Recorder) -> Server {
        Server::start(self.builder().service(upstream.router()).start().unwrap()).await
    }
}

/// A gateway behind a listener on loopback.
pub struct Server {
    pub address: SocketAddr,
    pub gateway: Arc<Gateway>,
}

impl Server {
    pub async fn start(gateway: Gateway) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let serving = gateway.serve(listener, std::future::pending());
        tokio::spawn(serving);
        Self { address, gateway: Arc::new(gateway) }
    }
}
