//! The three memos of a new database: one to read, one to work on, one that needs the token.

use rusqlite::{Connection, params};

use crate::{CREATOR, text};

const WELCOME: &str = "\
# Welcome

These memos are served to your agent as tools. Things to ask it for:

- list the memos, and write a new one
- tick off the groceries
- comment on this memo, or react to it

Which operations are tools is in `allowlists/memos.yaml`; change it while this runs. #start
";

const GROCERIES: &str = "\
# Groceries

- [x] bread
- [ ] green tea
- [ ] lemons

#home #shopping
";

const IDEAS: &str = "\
Ideas for the next release, not for everyone yet:

1. search by place
2. a weekly digest by mail

#work
";

/// Writes them, with one attachment, one relation and one reaction, so that no list is empty.
pub(super) fn plant(db: &Connection) -> rusqlite::Result<()> {
    memo(db, "ideas", "PRIVATE", false, IDEAS)?;
    memo(db, "groceries", "PUBLIC", false, GROCERIES)?;
    memo(db, "welcome", "PUBLIC", true, WELCOME)?;
    db.execute(
        "INSERT INTO attachments (id, memo, filename, type, external_link, content) VALUES (?, ?, ?, ?, ?, x'')",
        ["openapi", "welcome", "openapi.html", "text/html", "https://spec.openapis.org/oas/v3.0.3.html"],
    )?;
    db.execute(
        "INSERT INTO relations (memo, related, position) VALUES ('welcome', 'groceries', 0)",
        [],
    )?;
    db.execute(
        "INSERT INTO reactions (id, memo, creator, type) VALUES ('wave', 'welcome', ?, '👋')",
        [CREATOR],
    )?;
    Ok(())
}

fn memo(
    db: &Connection,
    id: &str,
    visibility: &str,
    pinned: bool,
    content: &str,
) -> rusqlite::Result<()> {
    let tags = serde_json::Value::from(text::tags(content)).to_string();
    let sql = "INSERT INTO memos (id, visibility, pinned, content, tags) VALUES (?, ?, ?, ?, ?)";
    db.execute(sql, params![id, visibility, pinned, content.trim_end(), tags]).map(|_| ())
}
