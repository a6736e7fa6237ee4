package registry

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urnd/urnd/resolver/registry/title"
)

// Kind says what a key is.
type Kind uint8

// The kinds. A name is one identifier; a prefix is the beginning of identifiers.
const (
	KindName Kind = iota
	KindPrefix
)

// Key identifies an entry. It is comparable.
type Key struct {
	Kind Kind
	// Name is a canonical name, or what canonical names begin with.
	Name string
}

// Name returns the key of a canonical name.
func Name(name string) Key { return Key{KindName, name} }

// Prefix returns the key of a prefix.
func Prefix(prefix string) Key { return Key{KindPrefix, prefix} }

// String returns the name, or the prefix followed by "*".
func (k Key) String() string {
	if k.Kind == KindPrefix {
		return k.Name + "*"
	}
	return k.Name
}

// Seq numbers the versions of all entries of a store, in the order in which they were committed. The
// first is 1.
type Seq int64

// Entry is one version of what the registry has of a key. Entries that were read are not to be
// changed.
type Entry struct {
	Key
	Seq     Seq // set by the store
	First   Seq // of its first version, which identifies the name; set by the store
	Version int // of this key; 1 is the first, and 0 means that there is no such entry
	Changed time.Time
	By      string // who made the version
	Note    string // why
	// Redacted says that the targets, metadata and contact of the version were removed.
	Redacted bool
	Record
}

// Exists reports whether there is such an entry.
func (e Entry) Exists() bool { return e.Version != 0 }

// IsOpen reports whether an entry is one for all: it is active, and not for trial.
func (e *Entry) IsOpen() bool { return e.Exists() && e.Status == Active && !e.Sandbox }

// Record is the content of an entry.
type Record struct {
	Status Status
	Since  time.Time // since when it has the status; set by the registry
	// Reason and Successors are those of a withdrawn name: URIs of what came instead of it.
	Reason     string
	Successors []string
	// Alias is the canonical name that this is another name of, "" for none. An alias has
	// no targets.
	Alias    string
	Targets  []Target
	Metadata string // a JSON object, "" for none
	Contact  string // whom to ask: a name, a mail address or a URI
	// Redirect is the status with which clients are redirected to the targets: 301, 302, 303, 307 or 308. That of a prefix is of all
	// names that begin with it and say none themselves. 0 says none.
	Redirect int
	// Pattern is of prefixes: what follows one in a name that is not registered itself, as a whole; a regular expression (RE2), "" for any.
	Pattern string
	// Authoritative is of prefixes: names below that are not registered do not exist.
	Authoritative bool
	// Sandbox is of prefixes, and of names that were registered below one: they may be purged.
	Sandbox bool
}

// Target is where a name leads.
type Target struct {
	// URI is the location; for prefixes what the rest of the name is appended to, or a URI
	// template (RFC 6570) with {suffix}, {name}, {nid} or {nss}.
	URI      string
	Type     string // the media type of the resource; "" if unknown
	Language string // its language, a tag of RFC 5646; "" if unknown
	// Priority orders targets, the least first; those with the same one stay in their order.
	Priority int
	// From and Until bound when the target is valid; zero values do not. It is not valid at Until.
	From, Until time.Time
	Note        string
	// Rel is how the target is related to what is named: a relation type of RFC 8288 or a URI, also one as short as "gs1:pip"; "" if it is the
	// thing itself. Title is for people, in the language. Context is for whom the target is, typically a country.
	Rel, Title, Context string
}

// Status is the status of an entry.
type Status uint8

// The statuses.
const (
	Active    Status = iota // it leads to its targets
	Reserved                // it is assigned, and leads nowhere yet
	Withdrawn               // it leads nowhere any more
)

var statusNames = [...]string{"active", "reserved", "withdrawn"}

// String returns the status as one word.
func (s Status) String() string { return statusNames[s] }

// MarshalText implements encoding.TextMarshaler.
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler, without regard to case; "" is Active.
func (s *Status) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*s = Active
		return nil
	}
	for i, name := range statusNames {
		if strings.EqualFold(name, string(text)) {
			*s = Status(i)
			return nil
		}
	}
	return fmt.Errorf("%w: %q is not a status: it is active, reserved or withdrawn", ErrInvalid, text)
}

// Equal reports whether two records are equal as they are stored.
func (r *Record) Equal(other *Record) bool {
	return r.Status == other.Status && SameTime(r.Since, other.Since) && r.Reason == other.Reason &&
		r.Alias == other.Alias && r.Metadata == other.Metadata && r.Contact == other.Contact &&
		r.Redirect == other.Redirect && r.Pattern == other.Pattern &&
		r.Authoritative == other.Authoritative && r.Sandbox == other.Sandbox &&
		slices.Equal(r.Successors, other.Successors) && slices.EqualFunc(r.Targets, other.Targets, Target.Equal)
}

// Equal reports whether two targets are equal as they are stored.
func (t Target) Equal(other Target) bool {
	same := SameTime(t.From, other.From) && SameTime(t.Until, other.Until)
	t.From, t.Until = other.From, other.Until
	return same && t == other
}

// SameTime reports whether times are equal as they are stored: to the millisecond, in any zone.
func SameTime(a, b time.Time) bool { return a.IsZero() == b.IsZero() && a.UnixMilli() == b.UnixMilli() }

// TitleWords returns the words of the titles of an entry: those of its targets, and those in its metadata.
func TitleWords(e *Entry) []string {
	var titles []string
	for i := range e.Targets {
		if e.Targets[i].Title != "" {
			titles = append(titles, e.Targets[i].Title)
		}
	}
	return title.Words(append(titles, title.OfMetadata(e.Metadata)...)...)
}

// isRedirect reports whether a status is one of redirects to where a name leads: RFC 9110 section 15.4. 300, 304 and the others
// say something else.
func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	default:
		return false
	}
}

// ParseRedirect returns the status in a text, 0 for an empty one, which says none. The error wraps ErrInvalid.
func ParseRedirect(text string) (int, error) {
	if text == "" || text == "0" {
		return 0, nil
	}
	status, err := strconv.Atoi(text)
	if err != nil || !isRedirect(status) {
		return 0, Invalid("redirect_status", "redirect", "%.40q is no status of a redirect: it is 301, 302, 303, 307 or 308", text)
	}
	return status, nil
}
