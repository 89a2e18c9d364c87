//! A server for tests of documents that are URLs.

use std::{
    io::{BufRead, BufReader, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

/// Answers each request line with what the script says for it, and keeps the requests.
pub(crate) struct Server {
    address: SocketAddr,
    script: Arc<Mutex<Vec<(String, String)>>>,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub(crate) fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (script, requests) = (Arc::default(), Arc::default());
        let server = Self { address, script, requests };
        let (script, requests) = (Arc::clone(&server.script), Arc::clone(&server.requests));
        thread::spawn(move || {
            for stream in listener.incoming() {
                answer(stream.unwrap(), &script, &requests);
            }
        });
        server
    }

    /// From now on; `answer` is the status line's end, headers and body: `200 OK\r\nETag: "1"\r\n\r\nbody`.
    pub(crate) fn on(&self, path: &str, answer: &str) {
        let mut script = self.script.lock().unwrap();
        script.retain(|(known, _)| known != path);
        script.push((path.to_owned(), answer.to_owned()));
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

/// Answers one request.
pub(super) fn answer(
    mut stream: TcpStream,
    script: &Mutex<Vec<(String, String)>>,
    requests: &Mutex<Vec<String>>,
) {
    let lines = BufReader::new(&stream).lines().map(Result::unwrap);
    let head: Vec<_> = lines.take_while(|line| !line.is_empty()).collect();
    let path = head[0].split(' ').nth(1).unwrap().to_owned();
    requests.lock().unwrap().push(head.join("\n").to_lowercase());
    let script = script.lock().unwrap().clone();
    let answer = script.into_iter().find(|(known, _)| *known == path);
    let answer = answer.map_or("404 Not Found\r\n\r\n".to_owned(), |(_, answer)| answer);
    let answer = answer.replacen("\r\n", "\r\nConnection: close\r\n", 1);
    // Whoever had enough closes early.
    let _ = stream.write_all(format!("HTTP/1.1 {answer}").as_bytes());
}
