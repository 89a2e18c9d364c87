//! One file, read whole or not at all, without ever waiting for another process.
//!
//! Pipes, devices, sockets and folders are refused by what they are before anything is opened. A
//! fault's words depend on the kind of fault alone, so that the same trouble gives the same digest.

use std::{
    fs::{self, File, Metadata, OpenOptions},
    io::{self, Read},
    os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt},
    path::Path,
};

use super::scan::Stamp;

/// What reading came to.
pub(super) struct Reading {
    /// The bytes, or in words why there are none.
    pub(super) content: Result<Vec<u8>, String>,
    /// What was read; `None` when nothing is there.
    pub(super) stamp: Option<Stamp>,
    /// Nobody can find the file any more: it was replaced, and only this place still holds the old one.
    pub(super) orphan: bool,
}

/// How much is read at most, and what it is called in words.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cap {
    /// Bytes.
    pub(super) bytes: usize,
    /// The limit's name for `--limit`; `None` when it is fixed.
    pub(super) limit: Option<&'static str>,
}

impl Cap {
    /// In words, why a longer content is refused; never its size, which may still grow.
    pub(super) fn fault(self) -> String {
        let words = format!("is over {} bytes", self.bytes);
        match self.limit {
            Some(limit) => format!("{words}; raise it with `--limit {limit}=BYTES`"),
            None => words,
        }
    }
}

/// Reads a file.
///
/// # Errors
/// When it changed while it was read.
pub(super) fn read(path: &Path, cap: Cap) -> Result<Reading, Changed> {
    let fault = |words, stamp| Ok(Reading { content: Err(words), stamp, orphan: false });
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) => return fault(missing(path, &error), None),
    };
    let stamp = Stamp::of(&metadata);
    if let Some(words) = no_file(&metadata) {
        return fault(words.to_owned(), Some(stamp));
    }
    // Asked before the file must hold still: one that grows for ever would else never be refused.
    if metadata.len() > cap.bytes as u64 {
        return fault(cap.fault(), Some(stamp));
    }
    match bytes(path, &stamp, cap) {
        Ok(Some(content)) => {
            Ok(Reading { content, stamp: Some(stamp), orphan: metadata.nlink() == 0 })
        }
        Ok(None) => Err(Changed),
        Err(error) => fault(unreadable(&error), Some(stamp)),
    }
}

/// It changed while it was read.
pub(super) struct Changed;

/// The content of the file that `stamp` was taken of; `None` when it is another one by now.
fn bytes(path: &Path, stamp: &Stamp, cap: Cap) -> io::Result<Option<Result<Vec<u8>, String>>> {
    let flags = libc::O_NONBLOCK | libc::O_NOCTTY;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    if Stamp::of(&file.metadata()?) != *stamp {
        return Ok(None);
    }
    let content = capped(&file, cap)?;
    let same = Stamp::of(&file.metadata()?) == *stamp;
    Ok(same.then_some(content))
}

fn capped(file: &File, cap: Cap) -> io::Result<Result<Vec<u8>, String>> {
    let mut bytes = Vec::new();
    // One byte more than allowed tells a file that is just full from one that grew meanwhile.
    file.take(cap.bytes as u64 + 1).read_to_end(&mut bytes)?;
    Ok(if bytes.len() > cap.bytes { Err(cap.fault()) } else { Ok(bytes) })
}

fn no_file(metadata: &Metadata) -> Option<&'static str> {
    let kind = metadata.file_type();
    if kind.is_file() {
        None
    } else if kind.is_dir() {
        Some("is a folder, not a file")
    } else if kind.is_fifo() {
        Some("is a pipe, not a file")
    } else if kind.is_socket() {
        Some("is a socket, not a file")
    } else {
        Some("is a device, not a file")
    }
}

fn missing(path: &Path, error: &io::Error) -> String {
    if error.raw_os_error() == Some(libc::ELOOP) {
        return "is a link that leads back to itself".to_owned();
    }
    if error.kind() != io::ErrorKind::NotFound {
        return unreadable(error);
    }
    match fs::read_link(path) {
        Ok(target) => format!("is a link to `{}`, which does not exist", target.display()),
        Err(_) if is_address(path) => "does not exist; a URL begins with `http://`".to_owned(),
        Err(_) => "does not exist".to_owned(),
    }
}

/// Whether a path has a part like `localhost:8000`, which is what people type for a URL.
fn is_address(path: &Path) -> bool {
    path.components().filter_map(|part| part.as_os_str().to_str()).any(|part| {
        part.rsplit_once(':').is_some_and(|(host, port)| {
            !host.is_empty() && !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit())
        })
    })
}

/// In words, why a file or folder cannot be read.
pub(super) fn unreadable(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "does not exist".to_owned(),
        io::ErrorKind::PermissionDenied => {
            "cannot be read by the user this runs as: permission denied".to_owned()
        }
        io::ErrorKind::NotADirectory => {
            "cannot be reached: a part of its path is no folder".to_owned()
        }
        _ => format!("cannot be read: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink, os::unix::net::UnixListener, path::PathBuf};

    use super::*;

    const CAP: Cap = Cap { bytes: 8, limit: Some("document") };

    fn check(expected: Result<&str, &str>, make: impl FnOnce(&Path) -> PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = make(folder.path());
        let Ok(reading) = read(&path, CAP) else { panic!("changed") };
        let content = reading.content.map(|bytes| String::from_utf8(bytes).unwrap());
        assert_eq!(content.as_deref().map_err(String::as_str), expected);
        assert!(!reading.orphan);
    }

    fn fifo(path: &Path) {
        let made = std::process::Command::new("mkfifo").arg(path).status().unwrap();
        assert!(made.success());
    }

    #[test]
    fn a_file_is_read_whole_up_to_the_cap() {
        check(Ok("12345678"), |folder| written(folder, "12345678"));
        check(Ok(""), |folder| written(folder, ""));
        let over = "is over 8 bytes; raise it with `--limit document=BYTES`";
        check(Err(over), |folder| written(folder, "123456789"));
        check(Ok("1"), |folder| {
            written(folder, "1");
            symlink("spec.yaml", folder.join("link")).unwrap();
            folder.join("link")
        });
    }

    fn written(folder: &Path, text: &str) -> PathBuf {
        let path = folder.join("spec.yaml");
        fs::write(&path, text).unwrap();
        path
    }

    #[test]
    fn what_is_no_file_is_refused_by_name_without_waiting() {
        check(Err("is a folder, not a file"), Path::to_owned);
        check(Err("is a device, not a file"), |_| "/dev/zero".into());
        check(Err("is a pipe, not a file"), |folder| {
            fifo(&folder.join("pipe"));
            folder.join("pipe")
        });
        check(Err("is a socket, not a file"), |folder| {
            drop(UnixListener::bind(folder.join("socket")).unwrap());
            folder.join("socket")
        });
    }

    #[test]
    fn a_pipe_that_took_the_place_of_a_file_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let stamp = Stamp::at(&written(folder.path(), "1")).unwrap();
        fifo(&folder.path().join("pipe"));
        assert!(bytes(&folder.path().join("pipe"), &stamp, CAP).unwrap().is_none());
    }

    #[test]
    fn what_leads_nowhere_is_refused_by_name() {
        check(Err("does not exist"), |folder| folder.join("no"));
        check(Err("does not exist; a URL begins with `http://`"), |folder| {
            folder.join("localhost:8000").join("openapi.json")
        });
        check(Err("is a link to `no`, which does not exist"), |folder| {
            symlink("no", folder.join("link")).unwrap();
            folder.join("link")
        });
        check(Err("is a link that leads back to itself"), |folder| {
            symlink("b", folder.join("a")).unwrap();
            symlink("a", folder.join("b")).unwrap();
            folder.join("a")
        });
        check(Err("cannot be reached: a part of its path is no folder"), |folder| {
            written(folder, "").join("below")
        });
    }

    #[test]
    fn a_file_whose_every_name_is_gone_is_an_orphan() {
        use std::os::fd::AsRawFd;
        let folder = tempfile::tempdir().unwrap();
        let path = written(folder.path(), "old");
        let file = File::open(&path).unwrap();
        fs::remove_file(&path).unwrap();
        let held = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
        let Ok(reading) = read(&held, CAP) else { panic!("changed") };
        assert!(reading.orphan && reading.content.is_ok());
    }
}
