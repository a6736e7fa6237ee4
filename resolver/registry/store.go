package registry

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/urnd/urnd/resolver/registry/title"
)

// Store holds entries with their history, and documents. It is safe for concurrent use, also by several processes.
// Errors of the store itself wrap ErrNoStore, ErrSchema or ErrDamaged; those of a function that is
// called are returned as they are.
type Store interface {
	// Lookup returns the current entry of a key, by one statement. One that does not exist is the
	// zero value. It does not wait for writers.
	Lookup(ctx context.Context, key Key) (Entry, error)
	// Floor returns the entry of the prefix that is the greatest one of those not after text, by
	// bytes, by one statement; the zero value if there is none.
	Floor(ctx context.Context, text string) (Entry, error)
	// Head returns the Seq of the last version or event, 0 if there is none.
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
	// Verify reports what is not as it was written, by the chain of digests, by what follows from versions, and by the checks
	// of the database. report and progress are called one at a time, progress with the Seq that it has come to, and the last
	// one. The error is not nil where it could not be verified.
	Verify(ctx context.Context, report func(problem string), progress func(done, all Seq)) error
	// Dump writes a portable backup: all that the store has at one moment, as lines of JSON that any store can Load, made at a time.
	Dump(ctx context.Context, to io.Writer, made time.Time, progress func(done, all Seq)) error
	// Load reads what Dump has written into a store that has nothing, in one transaction. It is ErrConflict where there is something,
	// and ErrDamaged where it is not as it was written.
	Load(ctx context.Context, from io.Reader, progress func(done, all Seq)) error
	Close() error
}

// Tx is a state of the store. It ends with the function that it was passed to.
type Tx interface {
	ResolvedTx
	HealthTx
	TokenTx
	MintTx
	LeaseTx

	// Entries returns the current entry of each key, in the order of keys; the zero value for
	// those that do not exist. Sorted keys are fastest.
	Entries(keys []Key) ([]Entry, error)
	// Floor is that of Store.
	Floor(text string) (Entry, error)
	// List returns at most limit current entries of a kind, in the order of the bytes of their names:
	// those that begin with prefix, and are after the name after.
	List(kind Kind, prefix, after string, limit int) ([]Entry, error)
	// Current returns at most limit keys of a kind in the order of the bytes of their names, those after a name, each with the
	// Seq of its current version.
	Current(kind Kind, after string, limit int) ([]Change, error)
	// Latest looks at the limit versions before a Seq, the newest first, and returns those that are current. last is the Seq of the last one that
	// was looked at, 0 where there are no more.
	Latest(before Seq, limit int) (current []Change, last Seq, err error)
	// ByHost returns at most limit current entries of names with a target at a host, or with domain at one below it, whose names
	// begin with below, in the order in which the names were registered: those registered after the name after. last is the last name that was
	// looked at, which is not always one of them, and "" where there are no more. It is ErrInvalid where too many hosts are below the domain,
	// and ErrUnknown where the name after is not registered.
	ByHost(host string, domain bool, below, after string, limit int) (page []Entry, last string, err error)
	// ByTitle returns at most limit current entries of names with a title that a query fits, whose names begin with below, in the order in
	// which the names were registered, as ByHost does it.
	ByTitle(q title.Query, below, after string, limit int) (page []Entry, last string, err error)
	// ByStatus is List of names with a status other than Active.
	ByStatus(status Status, below, after string, limit int) ([]Entry, error)
	// Aliases returns at most limit aliases of a name, in their order, after one of them.
	Aliases(name, after string, limit int) ([]string, error)
	// Aliased returns at most limit names that begin with prefix and have aliases, in their order, after one of them.
	Aliased(prefix, after string, limit int) ([]string, error)
	// Totals returns how many entries there are by namespace or scheme: see Namespace.
	Totals() (map[string]Totals, error)

	// Versions returns at most limit versions of a key, the newest first: those with a Seq below
	// before; 0 begins with the current one.
	Versions(key Key, before Seq, limit int) ([]Entry, error)
	// Before returns the version before each of some versions, the zero value before the first of a key.
	Before(versions []Entry) ([]Entry, error)
	// Changes returns at most limit changes after a Seq, the oldest first.
	Changes(after Seq, limit int) ([]Change, error)
	// Events returns at most limit versions and other events after a Seq, the oldest first. What was purged is not among them.
	Events(after Seq, limit int) ([]Event, error)

	// Commits returns at most limit commits whose Last is after a Seq, the oldest first, CommitsOf those of a change set,
	// LastCommit the last one, and CommitBy that with a digest; the zero value if there is none.
	Commits(after Seq, limit int) ([]Commit, error)
	CommitsOf(set, after Seq, limit int) ([]Commit, error)
	LastCommit() (Commit, error)
	CommitBy(digest [sha256.Size]byte) (Commit, error)
	// ChangeSet returns a change set; ErrUnknown if there is none. ChangeSets returns at most limit change sets after a number,
	// and ChangeSetsBefore those before one, the last first.
	ChangeSet(number Seq) (ChangeSet, error)
	ChangeSets(after Seq, limit int) ([]ChangeSet, error)
	ChangeSetsBefore(before Seq, limit int) ([]ChangeSet, error)

	// Documents returns at most limit documents of a table, in the order of the bytes of their
	// keys: those whose keys begin with prefix, and are after the key after.
	Documents(table Table, prefix, after string, limit int) ([]Document, error)
	// Document returns the value of a key of a table, nil if there is none.
	Document(table Table, key string) ([]byte, error)
}

// WriteTx is a Tx that changes the store. What it wrote is seen by its own statements.
type WriteTx interface {
	Tx
	ResolvedWriteTx
	HealthWriteTx
	TokenWriteTx
	MintWriteTx
	LeaseWriteTx

	// Append writes the versions After of changes, which become current and get their Seq, and removes all versions of keys,
	// given by their current entries, but for what the chain of commits needs. It is a commit of a change set, which is a new
	// one where its number is 0; its Number, Last and Rows are set.
	Append(set *ChangeSet, changes []Changed, purged []Entry) error
	// Redact removes targets, contact and metadata of versions that are not redacted, as a commit of a change set.
	Redact(set *ChangeSet, versions []Entry) error
	// Put sets documents of a table. A value of nil removes the document.
	Put(table Table, documents []Document) error
}

// MintTx reads counters of minting.
type MintTx interface {
	// MintCounter returns the next number of a pattern; ok is false where there is none.
	MintCounter(pattern string) (next uint64, ok bool, err error)
	// MintPatterns returns at most limit patterns that have a counter, in the order of their bytes: those after one.
	MintPatterns(after string, limit int) ([]string, error)
}

// MintWriteTx changes counters of minting.
type MintWriteTx interface {
	SetMintCounter(pattern string, next uint64) error
}

// Change says that a key has changed.
type Change struct {
	Seq Seq
	Key Key
}

// Commit is what one transaction has written: the versions and events from First to Last, of one change set. Its digest is of them and of
// the digest of the commit before, so that who has kept one can show later that nothing of what there was has changed.
type Commit struct {
	First, Last Seq
	Set         Seq
	Digest      [sha256.Size]byte
}

// Table is a table of documents: what the registry has beside entries.
type Table uint8

// The tables.
const (
	TableImports      Table = iota // how far imports are
	TableJobs                      // jobs of the API
	TableRequests                  // idempotency keys of requests
	TableMarks                     // when the last backup was made, and the like
	TableCertificates              // of the listeners, with their keys: they are in no backup
)

// Document is a value with its key.
type Document struct {
	Key   string // see CheckKey
	Value []byte // text
}

// CheckKey returns ErrInvalid for texts that are not keys: see CheckSought, or longer than MaxKey.
func CheckKey(text string) error {
	if len(text) > MaxKey {
		return fmt.Errorf("%w: %.40q... has more than %d bytes", ErrInvalid, text, MaxKey)
	}
	return CheckSought(text)
}

// CheckSought returns ErrInvalid for texts that no store compares with keys: with a NUL, or not UTF-8.
func CheckSought(text string) error {
	switch {
	case strings.IndexByte(text, 0) >= 0:
		return fmt.Errorf("%w: %.100q has a NUL", ErrInvalid, text)
	case !utf8.ValidString(text):
		return fmt.Errorf("%w: %.100q is not UTF-8", ErrInvalid, text)
	default:
		return nil
	}
}

// Ascending returns ErrDamaged unless the keys of a page of a store ascend, from least on. Those of a damaged index may not, and who
// asks for the page after the last key would never come to the end.
func Ascending[T any, K cmp.Ordered](page []T, least K, key func(*T) K) error {
	for i := range page {
		k := key(&page[i])
		if k < least || i > 0 && k == least {
			return fmt.Errorf("%w: an index is out of order at %#v", ErrDamaged, k)
		}
		least = k
	}
	return nil
}
