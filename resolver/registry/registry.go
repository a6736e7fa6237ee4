package registry

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/urnd/urnd/uri"
)

// Config configures a Registry. All fields but Doubt, Level, Only, Suggest, CheckDigits and Audit must be set.
type Config struct {
	Store Store
	// Canonical returns the canonical name of a URI; its error says why it is not valid.
	Canonical func(text string) (string, error)
	// CanonicalPrefix returns what canonical names begin with where names begin with text.
	CanonicalPrefix func(text string) (string, error)
	Now             func() time.Time
	// Only are what the names begin with that a resolver asks for; nil is all. Others are not registered.
	Only []string
	// Doubt returns what is doubtful in a canonical name that is valid, such as a wrong check digit; nil where nothing is, and nil finds
	// nothing.
	Doubt func(name string) error
	// Level returns why nothing is registered at a canonical name although it is valid, as of identifiers in web addresses that are answered
	// from other levels; nil where it may be, and nil allows all.
	Level func(name string) error
	// Suggest returns what a text probably means that is no name of the registry, best first; nil knows nothing.
	Suggest func(text string) []string
	// CheckDigits are, by what names begin with, such as "urn:isbn:", those of numbers that are minted.
	CheckDigits map[string]CheckDigit
	// Audit is called after each change that was committed; nil is not.
	Audit func(ctx context.Context, actor Actor, changes []Changed)
}

// CheckDigit completes the numbers of a namespace.
type CheckDigit struct {
	Digits int // of a number without the check digit
	// Of returns the check digit of so many digits.
	Of func(digits string) byte
}

// Changed is a change of one key. Before is the zero value for a new one.
type Changed struct{ Before, After Entry }

// Registry reads and changes entries. It is safe for concurrent use, and has no state but that of
// its store.
type Registry struct{ config Config }

// New returns a Registry.
func New(config Config) *Registry { return &Registry{config} }

// Store returns the store, for what is beside entries.
func (r *Registry) Store() Store { return r.config.Store }

// Now returns the time, as it is stored.
func (r *Registry) Now() time.Time { return r.config.Now().UTC().Truncate(time.Millisecond) }

// CheckDigits returns what completes numbers, by what names begin with, for those who mint them.
func (r *Registry) CheckDigits() map[string]CheckDigit { return r.config.CheckDigits }

// Canonical returns the canonical name of a URI. The error wraps a *uri.ParseError.
func (r *Registry) Canonical(text string) (string, error) { return r.config.Canonical(text) }

// CanonicalPrefix returns what canonical names begin with where names begin with text, which need not be
// what a prefix may be registered as. The error
// wraps ErrInvalid.
func (r *Registry) CanonicalPrefix(text string) (string, error) {
	prefix, err := r.config.CanonicalPrefix(text)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return prefix, nil
}

// Below returns what canonical names begin with where names begin with text, for those who look for them: it may also end before a name does
// that could be one, as "urn", "urn:nb" and "https://exam" do, whose letters have no case (RFC 3986 section 3.1 and 3.2.2, RFC 8141 section 3.1).
// The error wraps ErrInvalid.
func (r *Registry) Below(text string) (string, error) {
	prefix, err := r.CanonicalPrefix(text)
	if err != nil && isShort(text) {
		return strings.ToLower(text), nil
	}
	return prefix, err
}

// isShort reports whether text is a scheme or the beginning of one, or ends within what follows that: the NID of a URN, or an authority.
func isShort(text string) bool {
	scheme, rest, _ := strings.Cut(text, ":")
	_, err := uri.Parse(scheme + ":")
	return err == nil && !strings.ContainsAny(strings.TrimPrefix(rest, "//"), "/?#%@:")
}

// Doubt returns what is doubtful in the name of a canonical key, which may be registered all the same; nil where nothing is.
func (r *Registry) Doubt(key Key) error {
	if r.config.Doubt == nil || key.Kind != KindName {
		return nil
	}
	return r.config.Doubt(key.Name)
}

// Get returns the current entry of a key; ErrUnknown if there is none.
func (r *Registry) Get(ctx context.Context, key Key) (Entry, error) {
	e, err := r.config.Store.Lookup(ctx, key)
	if err != nil {
		return Entry{}, fmt.Errorf("looking up %s: %w", key, err)
	}
	if !e.Exists() {
		return Entry{}, fmt.Errorf("%w: %s", ErrUnknown, key)
	}
	return e, nil
}

// At returns the entry of a key as it was at a time; ErrUnknown if there was none.
func (r *Registry) At(ctx context.Context, key Key, at time.Time) (found Entry, err error) {
	err = r.config.Store.Read(ctx, func(tx Tx) error {
		found, err = entryAt(tx, key, at)
		return err
	})
	if err == nil && !found.Exists() {
		err = fmt.Errorf("%w: %s at %s", ErrUnknown, key, at.UTC().Format(time.RFC3339))
	}
	return found, err
}

// versionsPage is how many versions are read at once.
const versionsPage = 100

// entryAt returns the entry of a key as it was at a time, the zero value if there was none.
func entryAt(tx Tx, key Key, at time.Time) (Entry, error) {
	before := Seq(0)
	for {
		page, err := tx.Versions(key, before, versionsPage)
		if err != nil {
			return Entry{}, err
		}
		for _, e := range page {
			if !e.Changed.After(at) {
				return e, nil
			}
			before = e.Seq
		}
		if len(page) < versionsPage {
			return Entry{}, nil
		}
	}
}

// EntriesAt returns current entries as they were at a time: those that there were not are the zero value but for their Key.
func EntriesAt(tx Tx, current []Entry, at time.Time) ([]Entry, error) {
	entries := make([]Entry, len(current))
	for i := range current {
		entries[i] = current[i]
		if !current[i].Changed.After(at) {
			continue
		}
		var err error
		if entries[i], err = entryAt(tx, current[i].Key, at); err != nil {
			return nil, err
		}
		entries[i].Key = current[i].Key
	}
	return entries, nil
}

// History returns at most limit versions of a key, the newest first: those before a Seq, 0 for all.
// ErrUnknown means that there are none at all.
func (r *Registry) History(ctx context.Context, key Key, before Seq, limit int) (versions []Entry, err error) {
	err = r.config.Store.Read(ctx, func(tx Tx) error {
		versions, err = tx.Versions(key, before, limit)
		return err
	})
	if err == nil && len(versions) == 0 && before == 0 {
		err = fmt.Errorf("%w: %s", ErrUnknown, key)
	}
	return versions, err
}

// List returns at most limit entries of a kind in the order of their names: those that begin with
// prefix, after a name.
func (r *Registry) List(ctx context.Context, kind Kind, prefix, after string, limit int) (entries []Entry, err error) {
	err = r.config.Store.Read(ctx, func(tx Tx) error {
		entries, err = tx.List(kind, prefix, after, limit)
		return err
	})
	return entries, err
}
