-- The registry. Times are milliseconds since 1970, in UTC. A status is 0 (active), 1 (reserved) or 2 (withdrawn); a kind is
-- 0 (a name) or 1 (a prefix: what names begin with). Flags are 1, or NULL where they are not set.

-- Who makes changes.
CREATE TABLE author (
    id   BIGINT NOT NULL PRIMARY KEY,
    name TEXT   NOT NULL UNIQUE
);

-- What was changed together: an import, a job, a command, or one request.
CREATE TABLE change_set (
    id      BIGINT NOT NULL PRIMARY KEY, -- the seq of its first version or event
    kind    TEXT   NOT NULL,             -- '' is a change of one request or command
    author  BIGINT NOT NULL REFERENCES author (id),
    note    TEXT,                        -- why
    time    BIGINT NOT NULL,             -- when it was begun
    reverts BIGINT,                      -- the change set that it takes back
    last    BIGINT NOT NULL,             -- the seq of its last version or event so far; those of other sets may lie between
    size    BIGINT NOT NULL CHECK (size > 0) -- how many versions and events it has
);

-- One row a transaction. The digest is of what the transaction has written, and of the digest of the commit before.
CREATE TABLE commits (
    last       BIGINT NOT NULL PRIMARY KEY, -- the seq of its last version or event
    first      BIGINT NOT NULL UNIQUE,
    change_set BIGINT NOT NULL REFERENCES change_set (id),
    digest     BYTEA  NOT NULL CHECK (length(digest) = 32),
    CHECK (first <= last)
);
CREATE INDEX commits_change_set ON commits (change_set, last);

-- What happened to versions. It has a seq among those of versions.
CREATE TABLE event (
    seq    BIGINT   NOT NULL PRIMARY KEY,
    type   TEXT     NOT NULL CHECK (type IN ('purge', 'redaction')),
    kind   SMALLINT NOT NULL CHECK (kind IN (0, 1)),
    key    TEXT     COLLATE "C" NOT NULL,
    time   BIGINT   NOT NULL,
    author BIGINT   NOT NULL REFERENCES author (id),
    reason TEXT
);

-- The versions of names and prefixes, numbered by seq, without gaps, in the order in which they were committed.
CREATE TABLE version (
    seq           BIGINT   NOT NULL PRIMARY KEY,
    name          BIGINT,           -- name.id; NULL where it was purged
    number        BIGINT,           -- of the versions of the name; 1 is the first
    time          BIGINT,
    author        BIGINT   REFERENCES author (id),
    status        SMALLINT CHECK (status BETWEEN 0 AND 2),
    since         BIGINT,           -- when it got its status; NULL is time
    redirect      SMALLINT CHECK (redirect IN (301, 302, 303, 307, 308)),
    authoritative SMALLINT CHECK (authoritative = 1), -- of prefixes: what is not registered below does not exist
    sandbox       SMALLINT CHECK (sandbox = 1),       -- it may be purged
    alias         TEXT     COLLATE "C",               -- the name that this is another name of
    note          TEXT,             -- why the version was made
    reason        TEXT,             -- of what is withdrawn
    successors    TEXT,             -- of what is withdrawn: a JSON array of URIs
    pattern       TEXT,             -- of prefixes: a regular expression
    contact       TEXT,
    metadata      TEXT,             -- a JSON object, as it came
    salt          BYTEA    CHECK (length(salt) = 16),
    digest        BYTEA    NOT NULL CHECK (length(digest) = 32), -- of salt, targets, contact and metadata; where it was purged, of all of it
    redacted      BIGINT   REFERENCES event (seq), -- what has removed salt, targets, contact and metadata
    purged        BIGINT   REFERENCES event (seq), -- what has removed all but the digest
    CHECK ((purged IS NULL) = (name IS NOT NULL AND number IS NOT NULL AND time IS NOT NULL AND status IS NOT NULL)),
    CHECK ((salt IS NULL) = (redacted IS NOT NULL OR purged IS NOT NULL))
);
CREATE UNIQUE INDEX version_number ON version (name, number) WHERE number > 1;
CREATE INDEX version_redacted ON version (redacted) WHERE redacted IS NOT NULL;
CREATE INDEX version_purged ON version (purged) WHERE purged IS NOT NULL;

-- The names and prefixes that are registered, each with its current version.
CREATE TABLE name (
    kind    SMALLINT NOT NULL CHECK (kind IN (0, 1)),
    key     TEXT     COLLATE "C" NOT NULL, -- the canonical name, or what canonical names begin with
    id      BIGINT   NOT NULL,             -- the seq of its first version
    version BIGINT   NOT NULL,             -- the seq of the current version, of which status and alias are
    status  SMALLINT NOT NULL,
    alias   TEXT     COLLATE "C",
    PRIMARY KEY (kind, key)
) /* without rowid */;
-- An index, and no constraint of a column: SQLite then knows that it has the key, too, and does not read the table.
CREATE UNIQUE INDEX name_id ON name (id);
CREATE INDEX name_alias ON name (alias, key) WHERE alias IS NOT NULL;
CREATE INDEX name_status ON name (kind, status, key) WHERE status > 0;

-- The hosts of targets. reversed is the name with its labels in reverse order, so that a domain is a range.
CREATE TABLE host (
    id       BIGINT NOT NULL PRIMARY KEY,
    reversed TEXT   COLLATE "C" NOT NULL UNIQUE -- "org.example.www"
);

-- Where versions lead, in their order.
CREATE TABLE target (
    version  BIGINT   NOT NULL,
    position SMALLINT NOT NULL,
    uri      TEXT     NOT NULL,
    host     BIGINT,   -- host.id; NULL where the URI has none
    current  BIGINT,   -- name.id where the version is the current one of the name, else NULL
    priority BIGINT,   -- NULL is 0
    starts   BIGINT,   -- from when on it is valid
    ends     BIGINT,
    relation TEXT,     -- NULL is the thing itself
    type     TEXT,     -- a media type
    language TEXT,
    context  TEXT,
    title    TEXT,
    note     TEXT,
    PRIMARY KEY (version, position)
) /* without rowid */;
CREATE INDEX target_host ON target (host, current) WHERE current IS NOT NULL;

-- The words of the titles of names: of those of their current targets, and in their metadata; without case and diacritics.
CREATE TABLE title_word (
    word TEXT   COLLATE "C" NOT NULL,
    name BIGINT NOT NULL, -- name.id, of names alone
    PRIMARY KEY (word, name)
) /* without rowid */;

-- How many names there are, by namespace or scheme.
CREATE TABLE total (
    namespace TEXT   COLLATE "C" NOT NULL PRIMARY KEY, -- "urn:nbn", "https"
    active    BIGINT NOT NULL,
    reserved  BIGINT NOT NULL,
    withdrawn BIGINT NOT NULL,
    aliases   BIGINT NOT NULL, -- among those
    targets   BIGINT NOT NULL,
    prefixes  BIGINT NOT NULL
);

-- How often names were resolved. A name is one that was answered once: it may be purged since, and was then counted; it is also '' for all
-- names together, and 'other' for those for which the daemon had no room.
CREATE TABLE resolved (
    name   TEXT   COLLATE "C" NOT NULL,
    period TEXT   COLLATE "C" NOT NULL CHECK (length(period) IN (7, 10)), -- a day, "2031-05-01", or of long ago a month, "2030-04"; UTC
    people BIGINT NOT NULL CHECK (people >= 0),
    bots   BIGINT NOT NULL CHECK (bots >= 0),
    PRIMARY KEY (name, period)
) /* without rowid */;

-- The health of the targets of names: of those that are not healthy, or were not until lately, or have moved.
CREATE TABLE health (
    name     TEXT   COLLATE "C" NOT NULL,
    hash     TEXT   COLLATE "C" NOT NULL, -- of the URI: the first 12 bytes of its SHA-256, in hexadecimal
    uri      TEXT   NOT NULL,
    state    TEXT   COLLATE "C" NOT NULL CHECK (state IN ('healthy', 'suspect', 'unhealthy', 'inaccessible')),
    since    BIGINT, -- since when it has the state
    checked  BIGINT, -- when it was checked last
    failures BIGINT NOT NULL CHECK (failures >= 0), -- in a row
    error    TEXT,   -- of the last check
    moved    TEXT,   -- where it has moved for good
    detail   TEXT   NOT NULL, -- a JSON object: outcome and status of the last check, the first failure, the last changes of the state
    PRIMARY KEY (name, hash)
) /* without rowid */;
CREATE INDEX health_state ON health (state, name, hash);

-- Clients of the API. Names are not unique: who may stand for all that a token may do may make another one with its name.
CREATE TABLE token (
    id       TEXT   COLLATE "C" NOT NULL PRIMARY KEY,
    name     TEXT   NOT NULL,
    role     TEXT   NOT NULL CHECK (role IN ('reader', 'writer', 'admin')),
    prefixes TEXT,            -- a JSON array of what names begin with that it is for; NULL is all
    actions  TEXT,            -- a JSON array of what it is for, of what its role may do; NULL is all
    note     TEXT,
    created  BIGINT NOT NULL,
    made_by  TEXT   NOT NULL,
    expires  BIGINT CHECK (expires > created), -- NULL is never
    used     TEXT   COLLATE "C" CHECK (length(used) = 10), -- the day of its last use, "2031-05-01"
    hash     BYTEA  NOT NULL CHECK (length(hash) = 32), -- the SHA-256 of its secret
    root     TEXT             -- the token.id, which may be revoked since, of the first token that was made by another one and from which it descends
) /* without rowid */;

-- The counters of minting.
CREATE TABLE mint (
    pattern TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    next    TEXT NOT NULL -- the next number in decimal, below 2^64, which BIGINT does not hold
) /* without rowid */;

-- Which instance does what.
CREATE TABLE lease (
    name   TEXT   COLLATE "C" NOT NULL PRIMARY KEY,
    holder TEXT   NOT NULL,
    until  BIGINT NOT NULL
) /* without rowid */;

-- What is read as a whole: JSON, by a key.
CREATE TABLE import   (key TEXT COLLATE "C" NOT NULL PRIMARY KEY, value TEXT NOT NULL) /* without rowid */; -- how far imports are
CREATE TABLE job      (key TEXT COLLATE "C" NOT NULL PRIMARY KEY, value TEXT NOT NULL) /* without rowid */; -- jobs of the API
CREATE TABLE request  (key TEXT COLLATE "C" NOT NULL PRIMARY KEY, value TEXT NOT NULL) /* without rowid */; -- idempotency keys
CREATE TABLE mark     (key TEXT COLLATE "C" NOT NULL PRIMARY KEY, value TEXT NOT NULL) /* without rowid */; -- when the last backup was made, how far the checks of targets are
CREATE TABLE certificate (key TEXT COLLATE "C" NOT NULL PRIMARY KEY, value TEXT NOT NULL) /* without rowid */; -- of the listeners, with their keys
