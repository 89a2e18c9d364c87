-- `seq` is the order things were written in; it breaks ties between equal times.
CREATE TABLE settings (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;

-- A comment is a memo with a parent. `tags` is a JSON array, `location` a JSON object.
CREATE TABLE memos (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    parent TEXT REFERENCES memos (id) ON DELETE CASCADE,
    state TEXT NOT NULL DEFAULT 'NORMAL',
    visibility TEXT NOT NULL,
    pinned INTEGER NOT NULL DEFAULT 0,
    content TEXT NOT NULL DEFAULT '',
    tags TEXT NOT NULL DEFAULT '[]',
    location TEXT,
    create_time TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    update_time TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
) STRICT;
CREATE INDEX memos_by_parent ON memos (parent);

CREATE TABLE attachments (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    memo TEXT REFERENCES memos (id) ON DELETE SET NULL,
    position INTEGER NOT NULL DEFAULT 0,
    filename TEXT NOT NULL,
    type TEXT NOT NULL,
    external_link TEXT NOT NULL,
    content BLOB NOT NULL,
    create_time TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
) STRICT;
CREATE INDEX attachments_by_memo ON attachments (memo, position);

CREATE TABLE reactions (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    memo TEXT NOT NULL REFERENCES memos (id) ON DELETE CASCADE,
    creator TEXT NOT NULL,
    type TEXT NOT NULL,
    create_time TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    UNIQUE (memo, creator, type)
) STRICT;

-- References from one memo to another. What a comment is about stands in `memos.parent`.
CREATE TABLE relations (
    memo TEXT NOT NULL REFERENCES memos (id) ON DELETE CASCADE,
    related TEXT NOT NULL REFERENCES memos (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    PRIMARY KEY (memo, related)
) STRICT;
CREATE INDEX relations_by_related ON relations (related);
