-- +goose Up
CREATE TABLE versions (
    seq  BIGINT   PRIMARY KEY,
    prev BIGINT   NOT NULL, -- the version before, 0 for none
    kind SMALLINT NOT NULL, -- 0 is a name, 1 a prefix
    name TEXT     COLLATE "C" NOT NULL,
    rec  BYTEA              -- NULL where all versions were purged
);
CREATE TABLE names (
    seq  BIGINT   NOT NULL, -- the current version
    kind SMALLINT NOT NULL,
    name TEXT     COLLATE "C" NOT NULL,
    PRIMARY KEY (kind, name)
);
CREATE TABLE documents (
    tab   SMALLINT NOT NULL,
    key   TEXT     COLLATE "C" NOT NULL,
    value BYTEA    NOT NULL,
    PRIMARY KEY (tab, key)
);
-- Records are short, and are compact already: compressing them costs more than it saves.
ALTER TABLE versions ALTER COLUMN rec SET STORAGE EXTERNAL;
