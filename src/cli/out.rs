//! Standard output: what another program may read, and nothing else.

use std::io::{ErrorKind, Write};

use super::{Exit, Failure};
use crate::diagnostic::Diagnostic;

/// Writes a text. A reader that went away (`toolgate tools | head`) has seen enough and is no fault.
pub(super) fn print(text: &str) -> Result<Exit, Failure> {
    write(&mut std::io::stdout().lock(), text)
}

fn write(out: &mut impl Write, text: &str) -> Result<Exit, Failure> {
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(Exit::Good),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(Exit::Good),
        Err(error) => {
            Err(Failure::Running(Diagnostic::error(format!("cannot write the output: {error}"))))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    struct Broken(ErrorKind);

    impl Write for Broken {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_text_is_written_whole() {
        let mut written = Vec::new();
        assert!(write(&mut written, "a\nb\n").is_ok());
        assert_eq!(written, b"a\nb\n");
    }

    #[test]
    fn a_closed_pipe_is_no_failure_but_a_full_disk_is() {
        assert!(write(&mut Broken(ErrorKind::BrokenPipe), "a").is_ok());
        assert!(write(&mut Broken(ErrorKind::StorageFull), "a").is_err());
    }
}
