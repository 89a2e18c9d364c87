//! The database: one SQLite file in a folder, with the token beside the memos.
//!
//! SQLite blocks, so handlers reach it only through [`Store::read`] and [`Store::write`], which run on a thread for
//! blocking work and hold one transaction each: a write that fails half way leaves nothing behind. What the tables
//! mean is in the modules of the resources; this one knows how to open, fill and share the file.

mod seed;

use std::fs::{self, DirBuilder};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::auth::Token;
use crate::error::Error;

const FILE: &str = "memos.db";
const SCHEMA: &str = include_str!("store/schema.sql");
/// The version of `SCHEMA`, kept in the file's own `user_version`, which is 0 in a new file.
const VERSION: i64 = 1;
/// How long to wait for another process that writes to the same file.
const PATIENCE: Duration = Duration::from_secs(5);

/// The memos and the token. Cloning it is cheap, and all clones share one database.
#[derive(Clone)]
pub struct Store {
    shared: Arc<Shared>,
}

struct Shared {
    connection: Mutex<Connection>,
    token: Token,
}

/// Why a database could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The folder cannot be made.
    #[error("the data folder `{}` cannot be made; choose another with `--data`", .0.display())]
    Folder(PathBuf, #[source] io::Error),
    /// The file cannot be opened, read or filled.
    #[error("the database `{}` cannot be used; remove it to start over, or choose another folder with `--data`", .0.display())]
    Database(PathBuf, #[source] rusqlite::Error),
    /// The file was written by a newer program.
    #[error("the database `{}` was written by a newer version; choose another folder with `--data`", .0.display())]
    Newer(PathBuf),
    /// The operating system gave no randomness for the token.
    #[error("the token cannot be made")]
    Token(#[source] getrandom::Error),
}

impl Store {
    /// Opens the database in `folder`, which is made when missing. A new one gets a token and three memos; they, and
    /// all that is written later, are there again at the next start.
    ///
    /// # Errors
    ///
    /// When the folder or the file cannot be used.
    pub fn open(folder: &Path) -> Result<Self, OpenError> {
        make_private(folder).map_err(|error| OpenError::Folder(folder.to_owned(), error))?;
        let file = folder.join(FILE);
        let fresh = Token::fresh().map_err(OpenError::Token)?;
        let (connection, version) =
            connect(&file, &fresh).map_err(|error| OpenError::Database(file.clone(), error))?;
        if version > VERSION {
            return Err(OpenError::Newer(file));
        }
        let token = token(&connection).map_err(|error| OpenError::Database(file, error))?;
        Ok(Self { shared: Arc::new(Shared { connection: Mutex::new(connection), token }) })
    }

    /// The token that makes a caller the owner. It stays the same as long as the database does.
    #[must_use]
    pub fn token(&self) -> &Token {
        &self.shared.token
    }

    /// How many memos there are, comments not counted.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub fn n_memos(&self) -> Result<usize, rusqlite::Error> {
        self.shared
            .lock()
            .query_row("SELECT count(*) FROM memos WHERE parent IS NULL", [], |row| row.get(0))
    }

    /// Runs `work` on one consistent state of the database.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        self.run(TransactionBehavior::Deferred, work).await
    }

    /// Runs `work` and keeps what it wrote if it succeeds, all of it or nothing.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        self.run(TransactionBehavior::Immediate, work).await
    }

    async fn run<T: Send + 'static>(
        &self,
        behavior: TransactionBehavior,
        work: impl FnOnce(&Connection) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let shared = Arc::clone(&self.shared);
        let task = tokio::task::spawn_blocking(move || {
            let mut connection = shared.lock();
            let transaction = Transaction::new(&mut connection, behavior)?;
            let value = work(&transaction)?;
            transaction.commit()?;
            Ok(value)
        });
        task.await.map_err(Error::internal)?
    }
}

impl Shared {
    /// A panic while the lock was held rolled its transaction back, so the connection is still good.
    fn lock(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes the folder so that only its owner may look into it: the token is in there.
fn make_private(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    if let Some(parent) = folder.parent() {
        fs::create_dir_all(parent)?;
    }
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Opens the file, fills it when it is new, and says which version it has.
fn connect(file: &Path, fresh: &Token) -> rusqlite::Result<(Connection, i64)> {
    let mut connection = Connection::open(file)?;
    connection.busy_timeout(PATIENCE)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    // Looked at inside the transaction: two programs may start on one new file.
    let transaction = Transaction::new(&mut connection, TransactionBehavior::Immediate)?;
    let mut version: i64 =
        transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if version == 0 {
        transaction.execute_batch(SCHEMA)?;
        transaction
            .execute("INSERT INTO settings (key, value) VALUES ('token', ?)", [fresh.reveal()])?;
        seed::plant(&transaction)?;
        transaction.pragma_update(None, "user_version", VERSION)?;
        version = VERSION;
    }
    transaction.commit()?;
    Ok((connection, version))
}

fn token(connection: &Connection) -> rusqlite::Result<Token> {
    connection
        .query_row("SELECT value FROM settings WHERE key = 'token'", [], |row| row.get(0))
        .map(Token::kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_and_memos_are_there_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new").join("data");
        let first = Store::open(&path).unwrap();
        assert_eq!(first.n_memos().unwrap(), 3);
        first.shared.lock().execute("DELETE FROM memos WHERE id = 'welcome'", []).unwrap();
        let kept = first.token().reveal().to_owned();
        drop(first);
        let second = Store::open(&path).unwrap();
        assert_eq!(second.token().reveal(), kept);
        assert_eq!(second.n_memos().unwrap(), 2);
    }

    #[test]
    fn two_databases_have_two_tokens() {
        let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let tokens = [one, two]
            .map(|folder| Store::open(folder.path()).unwrap().token().reveal().to_owned());
        assert_ne!(tokens[0], tokens[1]);
    }

    #[test]
    fn a_newer_database_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        store.shared.lock().pragma_update(None, "user_version", VERSION + 1).unwrap();
        drop(store);
        assert!(matches!(Store::open(folder.path()), Err(OpenError::Newer(_))));
    }

    #[test]
    fn a_file_that_is_no_database_is_an_error_that_names_it() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(
            folder.path().join(FILE),
            "no database, but a text that is long enough to be read as one".repeat(9),
        )
        .unwrap();
        let error = Store::open(folder.path()).err().unwrap();
        assert!(error.to_string().contains("memos.db"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_may_look_into_the_folder() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data");
        Store::open(&path).unwrap();
        assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o700);
    }

    #[tokio::test]
    async fn a_write_that_fails_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let outcome = store.write(|db| {
            db.execute("DELETE FROM memos", [])?;
            Err::<(), _>(Error::Unimplemented)
        });
        assert!(outcome.await.is_err());
        assert_eq!(store.n_memos().unwrap(), 3);
    }

    #[tokio::test]
    async fn a_panic_in_a_call_does_not_end_the_store() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let outcome = store.write(|db| -> Result<(), Error> {
            db.execute("DELETE FROM memos", [])?;
            panic!("on purpose")
        });
        assert!(matches!(outcome.await, Err(Error::Internal(_))));
        assert_eq!(store.n_memos().unwrap(), 3);
    }
}
