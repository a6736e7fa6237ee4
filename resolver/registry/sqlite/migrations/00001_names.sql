-- +goose Up
PRAGMA application_id = 0x75726e64; -- "urnd"
CREATE TABLE versions (
    seq  INTEGER PRIMARY KEY,
    prev INTEGER NOT NULL, -- the version before, 0 for none
    kind INTEGER NOT NULL, -- 0 is a name, 1 a prefix
    name TEXT    NOT NULL,
    rec  BLOB              -- NULL where all versions were purged
);
CREATE TABLE names (
    kind INTEGER NOT NULL,
    name TEXT    NOT NULL,
    seq  INTEGER NOT NULL, -- the current version
    PRIMARY KEY (kind, name)
) WITHOUT ROWID;
CREATE TABLE documents (
    tab   INTEGER NOT NULL,
    key   TEXT    NOT NULL,
    value BLOB    NOT NULL,
    PRIMARY KEY (tab, key)
) WITHOUT ROWID;
