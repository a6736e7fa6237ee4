package registry

import "context"

// Store holds entries and documents. It is safe for concurrent use, also by several processes.
// Errors of the store itself wrap ErrNoStore, ErrSchema or ErrDamaged; those of a function that is
// called are returned as they are.
type Store interface {
	// Lookup returns the current entry of a key, by one question. One that does not exist is the
	// zero value. It does not wait for writers.
	Lookup(ctx context.Context, key Key) (Entry, error)
	// Floor returns the entry of the prefix that is the greatest one of those not after text, by
	// octets, by one question; the zero value if there is none.
	Floor(ctx context.Context, text string) (Entry, error)
	// Head returns the Seq of the last version, 0 if there is none.
	Head(ctx context.Context) (Seq, error)
	// Read calls f with the state of the store at one moment. It does not wait for writers.
	Read(ctx context.Context, f func(Tx) error) error
	// Write calls f in a transaction. There is one at a time, over all processes. Where Write
	// returns nil, all that f wrote is durable; where it returns an error, nothing of it is there,
	// unless the connection was lost while it was committed.
	Write(ctx context.Context, f func(WriteTx) error) error
	// Bulk is Write, but a power failure may undo the last ones, each as a whole.
	Bulk(ctx context.Context, f func(WriteTx) error) error
	// Hint returns a channel that receives when something may have changed; it may be nil, and
	// may miss changes.
	Hint() <-chan struct{}
	Close() error
}

// Tx is a state of the store. It ends with the function that it was passed to.
type Tx interface {
	// Entries returns the current entry of each key, in the order of keys; the zero value for
	// those that do not exist. Sorted keys are fastest.
	Entries(keys []Key) ([]Entry, error)
	// Floor is that of Store.
	Floor(text string) (Entry, error)
	// List returns at most limit current entries of a kind, in the order of the octets of their names:
	// those that begin with prefix, and are after the name after.
	List(kind Kind, prefix, after string, limit int) ([]Entry, error)
	// Versions returns at most limit versions of a key, the newest first: those with a Seq below
	// before; 0 begins with the current one.
	Versions(key Key, before Seq, limit int) ([]Entry, error)
	// Rows returns at most limit rows after a Seq, the oldest first.
	Rows(after Seq, limit int) ([]Row, error)
	// Current returns at most limit keys of a kind in the order of the octets of their names, those after a name, each with the
	// Seq of its current version.
	Current(kind Kind, after string, limit int) ([]Change, error)
	// Changes returns at most limit changes after a Seq, the oldest first.
	Changes(after Seq, limit int) ([]Change, error)
	// Keys returns the key of each row of a Seq, in their order; the zero value for those that there are not. Ascending ones are fastest.
	Keys(seqs []Seq) ([]Key, error)
	// Documents returns at most limit documents of a table, in the order of the octets of their
	// keys: those whose keys begin with prefix, and are after the key after.
	Documents(table Table, prefix, after string, limit int) ([]Document, error)
	// Document returns the value of a key of a table, nil if there is none.
	Document(table Table, key string) ([]byte, error)
}

// WriteTx is a Tx that changes the store. What it wrote is seen by its own questions.
type WriteTx interface {
	Tx
	// Append appends rows, in their order, with their Seq. Versions become current, and a key that was purged has no
	// current version any more.
	Append(rows []Row) error
	// Rewrite replaces the rows with the Seq that they have, which stay as current as they are.
	Rewrite(rows []Row) error
	// Put sets documents of a table. A value of nil removes the document.
	Put(table Table, documents []Document) error
}

// Change says that a key has changed.
type Change struct {
	Seq Seq
	Key Key
}

// Table is a table of documents: what the registry has beside entries.
type Table uint8

// The tables. Their numbers are in stores: they do not change.
const (
	TableAliases  Table = 1  // which aliases a name has: "NAME ALIAS"
	TableTotals   Table = 2  // how many entries there are
	TableTokens   Table = 3  // tokens of clients of the API
	TableMints    Table = 4  // counters of minting
	TableCounts   Table = 5  // resolutions: "NAME DAY"
	TableHealth   Table = 6  // health of targets
	TableLeases   Table = 7  // which instance does what
	TableImports  Table = 8  // how far imports are
	TableJobs     Table = 9  // jobs of the API
	TableRequests Table = 10 // idempotency keys of requests
	TableMarks    Table = 11 // when the last backup was made, and the like
	TableTree     Table = 12 // the tree of hashes over all versions
	TableCommits  Table = 13 // its root after each transaction
	TableSets     Table = 14 // change sets of more than one transaction, or with a reason
	TableHosts    Table = 15 // an index of the hosts of targets
)

// Document is a value with its key.
type Document struct {
	Key   string // no NUL
	Value []byte
}
