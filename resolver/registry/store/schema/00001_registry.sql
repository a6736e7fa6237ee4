-- Times are milliseconds since 1970. A status is 0 (active), 1 (reserved) or 2 (withdrawn); a kind is 0 (name) or 1 (prefix).
-- Flags are 1 or NULL.

-- The authors of changes.
CREATE TABLE author (
    id   BIGINT NOT NULL PRIMARY KEY,
    name TEXT   NOT NULL UNIQUE
);

-- A change set: an import, a job, a command or a request.
CREATE TABLE change_set (
    id      BIGINT NOT NULL PRIMARY KEY, -- the seq of its first version or event
    kind    TEXT   NOT NULL,             -- '' for a request or command
    author  BIGINT NOT NULL REFERENCES author (id),
    note    TEXT,                        -- the reason
    time    BIGINT NOT NULL,             -- its start
    reverts BIGINT,                      -- the reverted change set
    last    BIGINT NOT NULL,             -- the seq of its last version or event so far; other sets may have seqs between
    size    BIGINT NOT NULL CHECK (size > 0) -- the number of its versions and events
);

-- Transactions.
CREATE TABLE commits (
    last       BIGINT NOT NULL PRIMARY KEY, -- the seq of its last version or event
    first      BIGINT NOT NULL UNIQUE,
    change_set BIGINT NOT NULL REFERENCES change_set (id),
    digest     BYTEA  NOT NULL CHECK (length(digest) = 32),
    CHECK (first <= last)
);
CREATE INDEX commits_change_set ON commits (change_set, last);

-- Purges and redactions of versions.
CREATE TABLE event (
    seq    BIGINT   NOT NULL PRIMARY KEY,
    type   TEXT     NOT NULL CHECK (type IN ('purge', 'redaction')),
    kind   SMALLINT NOT NULL CHECK (kind IN (0, 1)),
    key    TEXT     COLLATE "C" NOT NULL,
    time   BIGINT   NOT NULL,
    author BIGINT   NOT NULL REFERENCES author (id),
    reason TEXT
);

-- Versions of names and prefixes; seq numbers versions and events in the order of commit, without gaps.
CREATE TABLE version (
    seq           BIGINT   NOT NULL PRIMARY KEY,
    name          BIGINT,           -- name.id; NULL if purged
    number        BIGINT,           -- among the versions of the name, from 1
    time          BIGINT,
    author        BIGINT   REFERENCES author (id),
    status        SMALLINT CHECK (status BETWEEN 0 AND 2),
    since         BIGINT,           -- the start of its status; NULL is time
    redirect      SMALLINT CHECK (redirect IN (301, 302, 303, 307, 308)),
    authoritative SMALLINT CHECK (authoritative = 1), -- prefixes: unregistered names below do not exist
    sandbox       SMALLINT CHECK (sandbox = 1),       -- can be purged
    alias         TEXT     COLLATE "C",               -- the name that it is an alias of
    note          TEXT,             -- the reason of the version
    reason        TEXT,             -- of a withdrawal
    successors    TEXT,             -- of a withdrawal: a JSON array of URIs
    pattern       TEXT,             -- prefixes: a regular expression
    contact       TEXT,
    metadata      TEXT,             -- a JSON object, as received
    salt          BYTEA    CHECK (length(salt) = 16),
    digest        BYTEA    NOT NULL CHECK (length(digest) = 32), -- see Digests
    redacted      BIGINT   REFERENCES event (seq), -- event that removed salt, targets, contact, metadata
    purged        BIGINT   REFERENCES event (seq), -- event that removed all but the digest
    CHECK ((purged IS NULL) = (name IS NOT NULL AND number IS NOT NULL AND time IS NOT NULL AND status IS NOT NULL)),
    CHECK ((salt IS NULL) = (redacted IS NOT NULL OR purged IS NOT NULL))
);
CREATE UNIQUE INDEX version_number ON version (name, number) WHERE number > 1;
CREATE INDEX version_redacted ON version (redacted) WHERE redacted IS NOT NULL;
CREATE INDEX version_purged ON version (purged) WHERE purged IS NOT NULL;

-- Registered names and prefixes.
CREATE TABLE name (
    kind    SMALLINT NOT NULL CHECK (kind IN (0, 1)),
    key     TEXT     COLLATE "C" NOT NULL, -- the canonical name or prefix
    id      BIGINT   NOT NULL,             -- the seq of its first version
    version BIGINT   NOT NULL,             -- the seq of the current version
    status  SMALLINT NOT NULL,
    alias   TEXT     COLLATE "C",
    PRIMARY KEY (kind, key)
) /* without rowid */;
-- An index, not a column constraint: SQLite then knows that the index has the key too, and does not read the table.
CREATE UNIQUE INDEX name_id ON name (id);
CREATE INDEX name_alias ON name (alias, key) WHERE alias IS NOT NULL;
CREATE INDEX name_status ON name (kind, status, key) WHERE status > 0;

-- Hosts of targets.
CREATE TABLE host (
    id       BIGINT NOT NULL PRIMARY KEY,
    reversed TEXT   COLLATE "C" NOT NULL UNIQUE -- labels in reverse order: "org.example.www"
);

-- Targets of versions.
CREATE TABLE target (
    version  BIGINT   NOT NULL,
    position SMALLINT NOT NULL,
    uri      TEXT     NOT NULL,
    host     BIGINT,   -- host.id; NULL without host
    current  BIGINT,   -- name.id if the version is current, else NULL
    priority BIGINT,   -- NULL is 0
    starts   BIGINT,   -- start of validity
    ends     BIGINT,
    relation TEXT,     -- NULL is the resource itself
    type     TEXT,     -- a media type
    language TEXT,
    context  TEXT,
    title    TEXT,
    note     TEXT,
    PRIMARY KEY (version, position)
) /* without rowid */;
CREATE INDEX target_host ON target (host, current) WHERE current IS NOT NULL;

-- Words of titles, without case and diacritics.
CREATE TABLE title_word (
    word TEXT   COLLATE "C" NOT NULL,
    name BIGINT NOT NULL, -- name.id
    PRIMARY KEY (word, name)
) /* without rowid */;

-- Counts of names.
CREATE TABLE total (
    namespace TEXT   COLLATE "C" NOT NULL PRIMARY KEY, -- "urn:nbn", "https"
    active    BIGINT NOT NULL,
    reserved  BIGINT NOT NULL,
    withdrawn BIGINT NOT NULL,
    aliases   BIGINT NOT NULL, -- included in the statuses
    targets   BIGINT NOT NULL,
    prefixes  BIGINT NOT NULL
);

-- Counts of resolutions. A name may have been purged; '' is all names, 'other' names beyond the limits.
CREATE TABLE resolved (
    name   TEXT   COLLATE "C" NOT NULL,
    period TEXT   COLLATE "C" NOT NULL CHECK (length(period) IN (7, 10)), -- a day, "2031-05-01", or a month, "2030-04"; UTC
    people BIGINT NOT NULL CHECK (people >= 0),
    bots   BIGINT NOT NULL CHECK (bots >= 0),
    PRIMARY KEY (name, period)
) /* without rowid */;

-- Targets that are not healthy, were not until lately, or have moved.
CREATE TABLE health (
    name     TEXT   COLLATE "C" NOT NULL,
    hash     TEXT   COLLATE "C" NOT NULL, -- the first 12 bytes of the SHA-256 of the URI, hexadecimal
    uri      TEXT   NOT NULL,
    state    TEXT   COLLATE "C" NOT NULL CHECK (state IN ('healthy', 'suspect', 'unhealthy', 'inaccessible')),
    since    BIGINT, -- the start of the state
    checked  BIGINT, -- the last check
    failures BIGINT NOT NULL CHECK (failures >= 0), -- in a row
    error    TEXT,   -- of the last check
    moved    TEXT,   -- the permanent redirect
    detail   TEXT   NOT NULL, -- JSON: outcome and status of the last check, first failure, last changes of state
    PRIMARY KEY (name, hash)
) /* without rowid */;
CREATE INDEX health_state ON health (state, name, hash);

-- Tokens of the API. Names are not unique.
CREATE TABLE token (
    id       TEXT   COLLATE "C" NOT NULL PRIMARY KEY,
    name     TEXT   NOT NULL,
    role     TEXT   NOT NULL CHECK (role IN ('reader', 'writer', 'admin')),
    prefixes TEXT,            -- a JSON array; NULL is all
    actions  TEXT,            -- a JSON array; NULL is all of its role
    note     TEXT,
    created  BIGINT NOT NULL,
    made_by  TEXT   NOT NULL,
    expires  BIGINT CHECK (expires > created), -- NULL is never
    used     TEXT   COLLATE "C" CHECK (length(used) = 10), -- the day of last use, "2031-05-01"
    hash     BYTEA  NOT NULL CHECK (length(hash) = 32), -- the SHA-256 of its secret
    root     TEXT             -- token.id of the first token of the chain that made it; may be revoked
) /* without rowid */;

-- Counters of minting.
CREATE TABLE mint (
    pattern TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    next    TEXT NOT NULL -- the next number, decimal, below 2^64
) /* without rowid */;

-- Work that one instance does.
CREATE TABLE lease (
    name   TEXT   COLLATE "C" NOT NULL PRIMARY KEY,
    holder TEXT   NOT NULL,
    until  BIGINT NOT NULL
) /* without rowid */;

-- JSON values by key.
CREATE TABLE import   (key TEXT COLLATE "C" NOT NULL PRIMARY KEY, value TEXT NOT NULL) /* without rowid */; -- progress of imports
CREATE TABLE job      (key TEXT COLLATE "C" NOT NULL PRIMARY KEY, value TEXT NOT NULL) /* without rowid */; -- jobs of the API
CREATE TABLE request  (key TEXT COLLATE "C" NOT NULL PRIMARY KEY, value TEXT NOT NULL) /* without rowid */; -- idempotency keys
CREATE TABLE mark     (key TEXT COLLATE "C" NOT NULL PRIMARY KEY, value TEXT NOT NULL) /* without rowid */; -- last backup, progress of checks
CREATE TABLE certificate (key TEXT COLLATE "C" NOT NULL PRIMARY KEY, value TEXT NOT NULL) /* without rowid */; -- of the listeners, with private keys
