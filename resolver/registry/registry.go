package registry

import (
	"context"
	"errors"
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
		return "", malformed("prefix", text, err)
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
		found, err = EntryAt(tx, key, at)
		return err
	})
	if err == nil && !found.Exists() {
		err = fmt.Errorf("%w: %s at %s", ErrUnknown, key, at.UTC().Format(time.RFC3339))
	}
	return found, err
}

// versionsPage is how many versions are read at once.
const versionsPage = 100

// EntryAt returns the entry of a key as it was at a time, the zero value if there was none.
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

// EntriesAt returns current entries as they were at a time: those that there were not are the zero value but for their Key.
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

var (
	// ErrUnknown means that a name or prefix is not registered.
	ErrUnknown = errors.New("not registered")
	// ErrInvalid means that what is to be registered is not valid.
	ErrInvalid = errors.New("not valid")
	// ErrConflict means that an entry has changed since, or is already there.
	ErrConflict = errors.New("conflict")
	// ErrExhausted means that not enough names are free to be minted.
	ErrExhausted = errors.New("not enough names are free")
	// ErrDenied means that someone may not change a name.
	ErrDenied = errors.New("not permitted")
	// ErrToken means that a secret is not that of a token that is valid.
	ErrToken = errors.New("the token is not valid, has expired or was revoked")
	// ErrNoStore means that the store cannot be used now.
	ErrNoStore = errors.New("the registry is not available")
	// ErrReadOnly means that a database can be asked, and accepts no changes, as a standby does.
	ErrReadOnly = errors.New("the database accepts no changes")
	// ErrReplaced means that the file of a store is not the one that was opened.
	ErrReplaced = errors.New("its file was removed or replaced while it was in use")
	// ErrReopen means that a store that could only be read must be opened again.
	ErrReopen = errors.New("it could not be written to, and has changed or can be now: it is to be opened again")
	// ErrSchema means that a store was written by a newer urnd.
	ErrSchema = errors.New("the registry was written by another version of urnd")
	// ErrDamaged means that the content of a store is not what was written.
	ErrDamaged = errors.New("the registry is damaged")
	// ErrSelection means that what a request chooses, or how much of it, is not valid.
	ErrSelection = errors.New("the parameters are not valid")
	// ErrLarge means that a document or a body is too large.
	ErrLarge = errors.New("the document is larger than is taken here")
	// ErrShare means that a token has as much at a time of what is bounded as one may have.
	ErrShare = errors.New("this token has its part already, and others have theirs; try again when something of it has ended")
	// ErrExports means that too many names are being exported, of all tokens.
	ErrExports = errors.New("too many exports at a time")
	// ErrJob means that there is no such job, ErrJobEnded that it has ended already, and ErrJobs that too many wait, of all tokens.
	ErrJob      = errors.New("there is no such job")
	ErrJobEnded = errors.New("the job cannot be cancelled")
	ErrJobs     = errors.New("too many jobs wait; try again later")
	// ErrNoJobs means that jobs cannot be kept.
	ErrNoJobs = errors.New("there is no directory for the bodies of jobs")
	// ErrKeyReused means that an idempotency key was sent with another request before.
	ErrKeyReused = errors.New("this Idempotency-Key was sent with another request before")
)

// Error is an error of a class, such as ErrInvalid, with a code by which pages find its text in the language of a reader, and forms the field that
// it is about. Its own text is in English.
type Error struct {
	Class error // by which errors.Is finds it: ErrInvalid, ErrDenied, ErrConflict; nil for none
	Code  string
	// Field is the member of a record, or of its target Target, as documents have it; "" where it is about none. Targets are counted from 1; 0 is none.
	Field  string
	Target int
	Values []string // of the message of Code: pairs of a name and a text
	Reason error    // in English
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

// With sets the values of the message.
func (e *Error) With(values ...string) *Error {
	e.Values = values
	return e
}

// Pointer is where the field is in the document of a name (RFC 6901), "" for no field.
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

// Invalid returns an ErrInvalid with a code, about a field.
func Invalid(code, field, format string, args ...any) *Error {
	return &Error{Class: ErrInvalid, Code: code, Field: field, Reason: fmt.Errorf(format, args...)}
}

// verifyPage is how many keys are read at once.
const verifyPage = 10_000

// Verify is that of the store, and reports the names and prefixes that are not in their canonical form, by which alone they are found.
func (r *Registry) Verify(ctx context.Context, report func(problem string), progress func(done, all Seq)) error {
	if err := r.config.Store.Verify(ctx, report, progress); err != nil {
		return err
	}
	for _, kind := range []Kind{KindName, KindPrefix} {
		for after, more := "", true; more; {
			var page []Change
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
		report(fmt.Sprintf("%s is not found: %v", key, err))
	case canonical != key:
		report(fmt.Sprintf("%s is not found: its canonical form is %s", key, canonical))
	}
}
