//! A connection that knows whether the other side has answered.
//!
//! A request may only be repeated when no byte of a response arrived, and the HTTP library does not
//! tell a connection closed in silence from one closed inside a response's head. So every write
//! clears a flag and every byte read sets it. The flag travels in the connection's metadata.
//!
//! It also rests after a few reads in a row. The library reads heads of interim responses for as long
//! as there are any, without a look at whether the request still matters: a server that never stops
//! sending them would otherwise keep a thread, and its caller's time limit would never be seen.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    task::{Context, Poll, ready},
};

use hyper::rt::{Read, ReadBuf, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::{Connected, Connection};

/// Bytes of the first read of an answer.
const FIRST_READ: usize = 4096;

/// Reads in a row before others have their turn.
const READS: u32 = 4;

/// A stream with that flag. The flag publishes nothing else, so relaxed ordering is enough.
#[derive(Debug)]
pub(super) struct Line<T> {
    stream: T,
    heard: Heard,
    /// Reads since there was nothing to read.
    reads: u32,
}

#[derive(Clone, Debug, Default)]
struct Heard(Arc<AtomicBool>);

impl<T> Line<T> {
    pub(super) fn new(stream: T) -> Self {
        Self { stream, heard: Heard::default(), reads: 0 }
    }
}

/// Whether a byte arrived on this connection after the last request was written.
pub(super) fn heard(connection: &Connected) -> bool {
    let mut extensions = http::Extensions::new();
    connection.get_extras(&mut extensions);
    extensions.get::<Heard>().is_some_and(|heard| heard.0.load(Relaxed))
}

impl<T: Connection> Connection for Line<T> {
    fn connected(&self) -> Connected {
        self.stream.connected().extra(self.heard.clone())
    }
}

impl<T: Read + Unpin> Read for Line<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        if self.reads >= READS {
            self.reads = 0;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let read = self.as_mut().read(context, buffer);
        self.reads = if read.is_ready() { self.reads + 1 } else { 0 };
        read
    }
}

impl<T: Read + Unpin> Line<T> {
    fn read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        mut buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        if self.heard.0.load(Relaxed) {
            return Pin::new(&mut self.stream).poll_read(context, buffer);
        }
        // The caller's buffer does not tell how much was read into it, so the first bytes of an
        // answer take a detour.
        let mut space = [0; FIRST_READ];
        let room = buffer.remaining().min(FIRST_READ);
        let mut own = ReadBuf::new(space.get_mut(..room).unwrap_or_default());
        ready!(Pin::new(&mut self.stream).poll_read(context, own.unfilled()))?;
        if !own.filled().is_empty() {
            self.heard.0.store(true, Relaxed);
            buffer.put_slice(own.filled());
        }
        Poll::Ready(Ok(()))
    }
}

impl<T: Write + Unpin> Write for Line<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.heard.0.store(false, Relaxed);
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.heard.0.store(false, Relaxed);
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }
}
