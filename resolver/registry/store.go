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

// Store persists entries with their history, and documents. It is safe for concurrent use by several goroutines
// and several processes. Errors of the store itself wrap ErrUnavailable, ErrSchema or ErrDamaged; errors of a
// callback are returned unchanged.
type Store interface {
	// Lookup returns the current entry of a key, by a single statement; the zero value if there is none. It
	// does not wait for writers.
	Lookup(ctx context.Context, key Key) (Entry, error)
	// Floor returns the entry of the greatest prefix that is not greater than text, in byte order, by a single
	// statement; the zero value if there is none.
	Floor(ctx context.Context, text string) (Entry, error)
	// Head returns the Seq of the last version or event, 0 for an empty store.
	Head(ctx context.Context) (Seq, error)
	// Read calls f with a snapshot of the store. It does not wait for writers.
	Read(ctx context.Context, f func(Tx) error) error
	// Write calls f in a write transaction. Only one runs at a time, across all processes. If Write returns
	// nil, all that f wrote is durable. If it returns an error, nothing was written, unless the connection was
	// lost during the commit.
	Write(ctx context.Context, f func(WriteTx) error) error
	// Bulk is Write without a guarantee of durability: a power failure may undo the last transactions, each as
	// a whole.
	Bulk(ctx context.Context, f func(WriteTx) error) error
	// Notifications returns a channel that receives when something may have changed. It may be nil, and may miss
	// changes.
	Notifications() <-chan struct{}
	// Verify reports corruption, by the chain of digests, by redundant tables that follow from the versions,
	// and by the integrity check of the database. The calls of report and progress are serialized; progress
	// gets the Seq verified so far, and the last Seq of the store. The error is not nil if verification could
	// not complete.
	Verify(ctx context.Context, report func(problem string), progress func(done, all Seq)) error
	// Dump writes a portable backup: a snapshot of the whole store as JSON lines, readable by Load of any Store
	// implementation. made is its creation time.
	Dump(ctx context.Context, to io.Writer, made time.Time, progress func(done, all Seq)) error
	// Load reads the output of Dump into an empty store, in one transaction. The error is ErrConflict if the
	// store is not empty, and ErrDamaged if the input differs from what Dump wrote.
	Load(ctx context.Context, from io.Reader, progress func(done, all Seq)) error
	Close() error
}

// Tx is a snapshot of the store. It is valid until the callback that received it returns.
type Tx interface {
	ResolutionTx
	HealthTx
	TokenTx
	MintTx
	LeaseTx

	// Entries returns the current entry of each key, in the order of keys; the zero value for a key without an
	// entry. Sorted keys are fastest.
	Entries(keys []Key) ([]Entry, error)
	// Floor is the same as Store.Floor.
	Floor(text string) (Entry, error)
	// List returns at most limit current entries of a kind whose names begin with prefix and are greater than
	// after, in byte order of the names.
	List(kind Kind, prefix, after string, limit int) ([]Entry, error)
	// Current returns at most limit keys of a kind whose names are greater than after, in byte order of the
	// names, each with the Seq of its current version.
	Current(kind Kind, after string, limit int) ([]ChangedKey, error)
	// Latest reads the limit versions before a Seq, newest first, and returns those that are current. last is
	// the Seq of the last version that it read, 0 at the end.
	Latest(before Seq, limit int) (current []ChangedKey, last Seq, err error)
	// ByHost returns at most limit current entries of names that have a target at a host (with domain also at a
	// subdomain of it) and begin with below, in order of registration, starting behind the name after. last is
	// the last name that it read, which is not always a result, and "" at the end. The error is ErrInvalid if
	// the domain has too many subdomains, and ErrUnknown if after is not registered.
	ByHost(host string, domain bool, below, after string, limit int) (page []Entry, last string, err error)
	// ByTitle returns at most limit current entries of names whose titles match a query and that begin with
	// below. Order and paging are those of ByHost.
	ByTitle(q title.Query, below, after string, limit int) (page []Entry, last string, err error)
	// ByStatus is List, restricted to names with a status, which must not be Active.
	ByStatus(status Status, below, after string, limit int) ([]Entry, error)
	// Aliases returns at most limit aliases of a name, in byte order, greater than after.
	Aliases(name, after string, limit int) ([]string, error)
	// Aliased returns at most limit names that begin with prefix and have aliases, in byte order, greater than
	// after.
	Aliased(prefix, after string, limit int) ([]string, error)
	// Totals returns the number of entries by namespace or scheme: see Namespace.
	Totals() (map[string]Totals, error)

	// Versions returns at most limit versions of a key with a Seq below before, newest first; 0 starts at the
	// current version.
	Versions(key Key, before Seq, limit int) ([]Entry, error)
	// Predecessors returns the predecessor of each version; the zero value for the first version of a key.
	Predecessors(versions []Entry) ([]Entry, error)
	// Changes returns at most limit changes after a Seq, oldest first.
	Changes(after Seq, limit int) ([]ChangedKey, error)
	// Events returns at most limit versions and other events after a Seq, oldest first, without purged
	// versions.
	Events(after Seq, limit int) ([]Event, error)

	// Commits returns at most limit commits whose Last is after a Seq, oldest first. CommitsInSet returns those of
	// a change set, LastCommit the newest commit, and CommitByDigest the commit with a digest; the zero value if
	// there is none.
	Commits(after Seq, limit int) ([]Commit, error)
	CommitsInSet(set, after Seq, limit int) ([]Commit, error)
	LastCommit() (Commit, error)
	CommitByDigest(digest [sha256.Size]byte) (Commit, error)
	// ChangeSet returns a change set; the error is ErrUnknown if there is none. ChangeSets returns at most
	// limit change sets after a number, oldest first, ChangeSetsBefore those before a number, newest first.
	ChangeSet(number Seq) (ChangeSet, error)
	ChangeSets(after Seq, limit int) ([]ChangeSet, error)
	ChangeSetsBefore(before Seq, limit int) ([]ChangeSet, error)

	// Documents returns at most limit documents of a table whose keys begin with prefix and are greater than
	// after, in byte order of the keys.
	Documents(table Table, prefix, after string, limit int) ([]Document, error)
	// Document returns the value of a key of a table, nil if there is none.
	Document(table Table, key string) ([]byte, error)
}

// WriteTx is a Tx that can also write. Its reads see its own writes.
type WriteTx interface {
	Tx
	ResolutionWriteTx
	HealthWriteTx
	TokenWriteTx
	MintWriteTx
	LeaseWriteTx

	// Append writes the version After of each change, which becomes the current one and gets its Seq, and
	// purges all versions of the given keys, identified by their current entries, except for the digests that
	// the chain of commits needs. All of it is one commit of the change set; a set with Number 0 is a new one.
	// Append sets the Number, Last and Rows of set.
	Append(set *ChangeSet, changes []Changed, purged []Entry) error
	// Redact removes targets, contact and metadata of versions that are not yet redacted, as one commit of a
	// change set.
	Redact(set *ChangeSet, versions []Entry) error
	// Put sets documents of a table. A nil value removes the document.
	Put(table Table, documents []Document) error
}

// MintTx reads the counters of minting.
type MintTx interface {
	// MintCounter returns the next number of a pattern; ok is false if the pattern has no counter.
	MintCounter(pattern string) (next uint64, ok bool, err error)
	// MintPatterns returns at most limit patterns that have a counter and are greater than after, in byte
	// order.
	MintPatterns(after string, limit int) ([]string, error)
}

// MintWriteTx changes the counters of minting.
type MintWriteTx interface {
	SetMintCounter(pattern string, next uint64) error
}

// ChangedKey is a key with the Seq of its change.
type ChangedKey struct {
	Seq Seq
	Key Key
}

// Commit is the result of one transaction: the versions and events from First to Last, all of one change set.
// Its digest covers them and the digest of the previous commit, so that a stored digest later proves that
// nothing before it has been altered.
type Commit struct {
	First, Last Seq
	Set         Seq
	Digest      [sha256.Size]byte
}

// Table is a table of documents: the data of the registry other than entries.
type Table uint8

// The tables.
const (
	TableImports      Table = iota // progress of imports
	TableJobs                      // jobs of the API
	TableRequests                  // idempotency keys of requests
	TableMarks                     // time of the last backup and similar marks
	TableCertificates              // certificates of listeners with their private keys: excluded from backups
)

// Document is a value with its key.
type Document struct {
	Key   string // see CheckKey
	Value []byte // UTF-8 text
}

// CheckKey returns ErrInvalid for a text that cannot be a key: one that CheckSearchText rejects, or one longer than
// MaxKey.
func CheckKey(text string) error {
	if len(text) > MaxKey {
		return fmt.Errorf("%w: %.40q... exceeds %d bytes", ErrInvalid, text, MaxKey)
	}
	return CheckSearchText(text)
}

// CheckSearchText returns ErrInvalid for a text that cannot be compared with keys: one with a NUL, or one that is
// not UTF-8.
func CheckSearchText(text string) error {
	switch {
	case strings.IndexByte(text, 0) >= 0:
		return fmt.Errorf("%w: NUL in %.100q", ErrInvalid, text)
	case !utf8.ValidString(text):
		return fmt.Errorf("%w: invalid UTF-8 in %.100q", ErrInvalid, text)
	default:
		return nil
	}
}

// CheckAscending returns ErrDamaged unless the keys of a page of a store are greater than least and strictly
// ascending; the first key may be equal to least. A damaged index may violate that, and a caller that requests
// the page after the last key would loop forever.
func CheckAscending[T any, K cmp.Ordered](page []T, least K, key func(*T) K) error {
	for i := range page {
		k := key(&page[i])
		if k < least || i > 0 && k == least {
			return fmt.Errorf("%w: an index is out of order at %#v", ErrDamaged, k)
		}
		least = k
	}
	return nil
}
