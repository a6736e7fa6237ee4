package registry

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/urnd/urnd/uri"
)

// Config configures a Registry. OwnedPrefixes, Warning, CheckLevel, Suggest, CheckDigits and Audit are
// optional, all other fields are required.
type Config struct {
	Store Store
	// Canonical returns the canonical name of a URI. Its error says why the URI is not valid.
	Canonical func(text string) (string, error)
	// CanonicalPrefix returns the canonical form of a prefix: the beginning of all canonical names whose text
	// begins with text.
	CanonicalPrefix func(text string) (string, error)
	Now             func() time.Time
	// OwnedPrefixes are the owned prefixes: names outside of them are never requested from this registry, and are not
	// registered. nil owns all names.
	OwnedPrefixes []string
	// Warning returns a warning about a canonical name that is valid but suspicious, such as one with a wrong
	// check digit, or nil. The field may be nil.
	Warning func(name string) error
	// CheckLevel returns an error for a valid canonical name that cannot be registered, such as an identifier in a
	// web address that is resolved at another level, or nil. The field may be nil.
	CheckLevel func(name string) error
	// Suggest returns the names that an invalid text probably means, best first. The field may be nil.
	Suggest func(text string) []string
	// CheckDigits has the check digit algorithms for minted numbers, by prefix of the name, such as
	// "urn:isbn:".
	CheckDigits map[string]CheckDigit
	// Audit is called after each committed change. The field may be nil.
	Audit func(ctx context.Context, actor Actor, changes []Changed)
}

// CheckDigit completes the numbers of a namespace.
type CheckDigit struct {
	Digits int // length of a number without its check digit
	// Compute returns the check digit for a number of that many digits.
	Compute func(digits string) byte
}

// Changed is a change of one key. Before is the zero value for a new key.
type Changed struct{ Before, After Entry }

// Registry reads and changes entries. It is safe for concurrent use. All of its state is in the store.
type Registry struct{ config Config }

// New returns a Registry.
func New(config Config) *Registry { return &Registry{config} }

// Store returns the store, for data other than entries.
func (r *Registry) Store() Store { return r.config.Store }

// Now returns the current time as it is stored: in UTC, truncated to milliseconds.
func (r *Registry) Now() time.Time { return r.config.Now().UTC().Truncate(time.Millisecond) }

// CheckDigits returns the check digit algorithms by prefix of the name, for callers that mint.
func (r *Registry) CheckDigits() map[string]CheckDigit { return r.config.CheckDigits }

// Canonical returns the canonical name of a URI. The error wraps a *uri.ParseError.
func (r *Registry) Canonical(text string) (string, error) { return r.config.Canonical(text) }

// CanonicalPrefix returns the canonical form of a prefix. The prefix need not be one that can be registered.
// The error wraps ErrInvalid.
func (r *Registry) CanonicalPrefix(text string) (string, error) {
	prefix, err := r.config.CanonicalPrefix(text)
	if err != nil {
		return "", malformed("prefix", text, err)
	}
	return prefix, nil
}

// SearchPrefix returns the canonical form of a search prefix. Unlike a registered prefix it may end inside a scheme, a
// NID or an authority, as "urn", "urn:nb" and "https://exam" do; these parts are case-insensitive (RFC 3986
// sections 3.1 and 3.2.2, RFC 8141 section 3.1) and are returned in lower case. The error wraps ErrInvalid.
func (r *Registry) SearchPrefix(text string) (string, error) {
	prefix, err := r.CanonicalPrefix(text)
	if err != nil && isShort(text) {
		return strings.ToLower(text), nil
	}
	return prefix, err
}

// isShort reports whether text ends inside a scheme, the NID of a URN, or an authority.
func isShort(text string) bool {
	scheme, rest, _ := strings.Cut(text, ":")
	_, err := uri.Parse(scheme + ":")
	return err == nil && !strings.ContainsAny(strings.TrimPrefix(rest, "//"), "/?#%@:")
}

// Warning returns a warning about the name of a canonical key, which can be registered nevertheless; nil if there
// is none.
func (r *Registry) Warning(key Key) error {
	if r.config.Warning == nil || key.Kind != KindName {
		return nil
	}
	return r.config.Warning(key.Name)
}

// Get returns the current entry of a key. The error is ErrUnknown if the key has none.
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

// At returns the entry of a key as of a time. The error is ErrUnknown if the key did not exist at that time.
func (r *Registry) At(ctx context.Context, key Key, at time.Time) (found Entry, err error) {
	err = r.config.Store.Read(ctx, func(tx Tx) error {
		found, err = EntryAt(tx, key, at)
		return err
	})
	if err == nil && !found.Exists() {
		err = fmt.Errorf("%w: %s at %s", ErrUnknown, key, at.UTC().Format(time.RFC3339))
	}
	return found, err
}

// versionsPage is how many versions are read per page.
const versionsPage = 100

// EntryAt returns the entry of a key as of a time, the zero value if the key did not exist at that time.
func EntryAt(tx Tx, key Key, at time.Time) (Entry, error) {
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

// EntriesAt returns the given current entries as of a time. An entry that did not exist at that time is the
// zero value except for its Key.
func EntriesAt(tx Tx, current []Entry, at time.Time) ([]Entry, error) {
	entries := make([]Entry, len(current))
	for i := range current {
		entries[i] = current[i]
		if !current[i].Changed.After(at) {
			continue
		}
		var err error
		if entries[i], err = EntryAt(tx, current[i].Key, at); err != nil {
			return nil, err
		}
		entries[i].Key = current[i].Key
	}
	return entries, nil
}

// History returns at most limit versions of a key with a Seq below before, newest first; 0 starts at the
// current version. ErrUnknown means that the key has no versions.
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

// List returns at most limit entries of a kind whose names begin with prefix and follow the name after, in the
// order of their names.
func (r *Registry) List(ctx context.Context, kind Kind, prefix, after string, limit int) (entries []Entry, err error) {
	err = r.config.Store.Read(ctx, func(tx Tx) error {
		entries, err = tx.List(kind, prefix, after, limit)
		return err
	})
	return entries, err
}

var (
	// ErrUnknown means that a name or prefix is not registered.
	ErrUnknown = errors.New("not registered")
	// ErrInvalid means that a name or record is not valid.
	ErrInvalid = errors.New("not valid")
	// ErrConflict means that an entry was changed meanwhile, or already exists.
	ErrConflict = errors.New("conflict")
	// ErrExhausted means that too few unassigned names remain to mint the requested number.
	ErrExhausted = errors.New("not enough free names")
	// ErrDenied means that an actor lacks the permission for an operation.
	ErrDenied = errors.New("not permitted")
	// ErrInvalidToken means that a secret belongs to no valid token.
	ErrInvalidToken = errors.New("invalid, expired or revoked token")
	// ErrUnavailable means that the store is temporarily unavailable.
	ErrUnavailable = errors.New("registry unavailable")
	// ErrReadOnly means that a database can be read but rejects writes, as a standby does.
	ErrReadOnly = errors.New("the database is read-only")
	// ErrReplaced means that the file of a store is no longer the file that was opened.
	ErrReplaced = errors.New("file removed or replaced while in use")
	// ErrReopen means that a store that was opened read-only must be opened again, because it has changed or
	// has become writable.
	ErrReopen = errors.New("store changed or became writable, reopen it")
	// ErrSchema means that a store was written by another version of urnd.
	ErrSchema = errors.New("registry written by another version of urnd")
	// ErrDamaged means that the content of a store differs from what was written.
	ErrDamaged = errors.New("registry damaged")
	// ErrInvalidParameters means that the parameters by which a request selects or limits its results are not valid.
	ErrInvalidParameters = errors.New("invalid parameters")
	// ErrTooLarge means that a document or a body exceeds its limit.
	ErrTooLarge = errors.New("document too large")
	// ErrTokenLimit means that a token has used up its own concurrency limit.
	ErrTokenLimit = errors.New("concurrency limit of the token reached; try again when one of its requests has ended")
	// ErrExportLimit means that the limit of concurrent exports of all tokens is reached.
	ErrExportLimit = errors.New("too many concurrent exports")
	// ErrUnknownJob means that a job does not exist, ErrJobEnded that it has already ended, and ErrJobLimit that the
	// queue of all tokens is full.
	ErrUnknownJob = errors.New("no such job")
	ErrJobEnded   = errors.New("job cannot be cancelled")
	ErrJobLimit   = errors.New("too many queued jobs; try again later")
	// ErrJobsDisabled means that jobs cannot be stored.
	ErrJobsDisabled = errors.New("no directory for job bodies: start urnd with a state directory (StateDirectory of " +
		"systemd)")
	// ErrKeyReused means that an idempotency key was already used for a different request.
	ErrKeyReused = errors.New("Idempotency-Key already used for a different request")
)

// Error is an error of a class, such as ErrInvalid. By its code, pages find a translated message; by its field,
// forms mark the input that caused it. Its own text is in English.
type Error struct {
	Class error // the sentinel that errors.Is matches: ErrInvalid, ErrDenied, ErrConflict; nil for none
	Code  string
	// Field is the JSON member of the record that caused the error, or of its target number Target; "" if the
	// error concerns no field. Targets are numbered from 1; 0 is no target.
	Field  string
	Target int
	Values []string // parameters of the message of Code: pairs of name and value
	Reason error    // the cause, in English
}

// Error implements error.
func (e *Error) Error() string {
	if e.Class == nil {
		return e.Reason.Error()
	}
	return e.Class.Error() + ": " + e.Reason.Error()
}

// Unwrap returns the class and the reason.
func (e *Error) Unwrap() []error { return []error{e.Class, e.Reason} }

// With sets the parameters of the message and returns e.
func (e *Error) With(values ...string) *Error {
	e.Values = values
	return e
}

// Pointer returns the JSON Pointer (RFC 6901) of the field in the document of a name, "" for no field.
func (e *Error) Pointer() string {
	switch {
	case e.Target > 0 && e.Field != "":
		return fmt.Sprintf("/targets/%d/%s", e.Target-1, e.Field)
	case e.Field != "":
		return "/" + e.Field
	default:
		return ""
	}
}

// Invalid returns an Error of class ErrInvalid with a code, about a field.
func Invalid(code, field, format string, args ...any) *Error {
	return &Error{Class: ErrInvalid, Code: code, Field: field, Reason: fmt.Errorf(format, args...)}
}

// verifyPage is how many keys are read per page.
const verifyPage = 10_000

// Verify verifies the store, and also reports names and prefixes that are not in canonical form: lookups use
// the canonical form only, and would never find them.
func (r *Registry) Verify(ctx context.Context, report func(problem string), progress func(done, all Seq)) error {
	if err := r.config.Store.Verify(ctx, report, progress); err != nil {
		return err
	}
	for _, kind := range []Kind{KindName, KindPrefix} {
		for after, more := "", true; more; {
			var page []ChangedKey
			err := r.config.Store.Read(ctx, func(tx Tx) (err error) {
				page, err = tx.Current(kind, after, verifyPage)
				return err
			})
			if err != nil {
				return fmt.Errorf("verifying the registry: %w", err)
			}
			for _, c := range page {
				r.verifyKey(c.Key, report)
				after = c.Key.Name
			}
			more = len(page) == verifyPage
		}
	}
	return nil
}

func (r *Registry) verifyKey(key Key, report func(problem string)) {
	canonical, err := r.CanonicalKey(key)
	switch {
	case err != nil:
		report(fmt.Sprintf("%s cannot be looked up: %v", key, err))
	case canonical != key:
		report(fmt.Sprintf("%s cannot be looked up: its canonical form is %s", key, canonical))
	}
}
