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

// Kind distinguishes names from prefixes.
type Kind uint8

// The kinds. A name is a single identifier, a prefix the beginning of identifiers.
const (
	KindName Kind = iota
	KindPrefix
)

// Key identifies an entry. It is comparable.
type Key struct {
	Kind Kind
	// Name is a canonical name, or the canonical form of a prefix.
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

// Seq numbers the versions and events of a store in commit order, starting at 1.
type Seq int64

// Entry is one version of a key. Entries that were read must not be modified.
type Entry struct {
	Key
	Seq     Seq // set by the store
	First   Seq // Seq of the first version, which identifies the name; set by the store
	Version int // counts the versions of this key from 1; 0 means that the entry does not exist
	Changed time.Time
	By      string // author of the version
	Note    string // reason for the change
	// Redacted means that the targets, metadata and contact of the version were removed.
	Redacted bool
	Record
}

// Exists reports whether the entry exists.
func (e Entry) Exists() bool { return e.Version != 0 }

// Public reports whether an entry is public: it is active, and not in a sandbox.
func (e *Entry) Public() bool { return e.Exists() && e.Status == Active && !e.Sandbox }

// Record is the content of an entry.
type Record struct {
	Status Status
	Since  time.Time // time at which Status was assumed; set by the registry
	// Reason and Successors apply to a withdrawn name. Successors are URIs that replace it.
	Reason     string
	Successors []string
	// Alias is the canonical name of which this name is an alias, "" if it is none. An alias has no targets.
	Alias    string
	Targets  []Target
	Metadata string // a JSON object, "" for none
	Contact  string // person or office to contact: a name, a mail address or a URI
	// Redirect is the status code with which clients are redirected to the targets: 301, 302, 303, 307 or 308.
	// The status code of a prefix applies to all names that begin with it and have none of their own. 0 is
	// unset.
	Redirect int
	// Pattern applies to prefixes: a regular expression (RE2) that the whole rest of an unregistered name
	// behind the prefix must match, "" for any rest.
	Pattern string
	// Authoritative applies to prefixes: unregistered names that begin with it do not exist.
	Authoritative bool
	// Sandbox applies to prefixes, and to names that were registered below such a prefix: these entries may be
	// purged.
	Sandbox bool
}

// Target is a location to which a name resolves.
type Target struct {
	// URI is the location. For a prefix it is the URI to which the rest of the name is appended, or a URI
	// template (RFC 6570) with the variables {suffix}, {name}, {nid} and {nss}.
	URI      string
	Type     string // media type of the resource; "" if unknown
	Language string // language tag of the resource (RFC 5646); "" if unknown
	// Priority orders targets, lowest first; targets with equal priority keep their order.
	Priority int
	// From (inclusive) and Until (exclusive) limit the time in which the target is valid; a zero value is no
	// limit.
	From, Until time.Time
	Note        string
	// Rel is the relation of the target to the named resource: a relation type of RFC 8288, a URI, or a compact
	// URI such as "gs1:pip"; "" if the target is the resource itself. Title is for humans, in Language. Context
	// is the audience of the target, typically a country.
	Rel, Title, Context string
}

// Status is the status of an entry.
type Status uint8

// The statuses.
const (
	Active    Status = iota // it resolves to its targets
	Reserved                // it is assigned, but does not resolve yet
	Withdrawn               // it no longer resolves
)

var statusNames = [...]string{"active", "reserved", "withdrawn"}

// String returns the status as a single word.
func (s Status) String() string { return statusNames[s] }

// MarshalText implements encoding.TextMarshaler.
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler. It ignores case; "" is Active.
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
	return fmt.Errorf("%w: invalid status %q: use active, reserved or withdrawn", ErrInvalid, text)
}

// Equal reports whether two records are equal in their stored form.
func (r *Record) Equal(other *Record) bool {
	return r.Status == other.Status && SameTime(r.Since, other.Since) && r.Reason == other.Reason &&
		r.Alias == other.Alias && r.Metadata == other.Metadata && r.Contact == other.Contact &&
		r.Redirect == other.Redirect && r.Pattern == other.Pattern &&
		r.Authoritative == other.Authoritative && r.Sandbox == other.Sandbox &&
		slices.Equal(r.Successors, other.Successors) && slices.EqualFunc(r.Targets, other.Targets, Target.Equal)
}

// Equal reports whether two targets are equal in their stored form.
func (t Target) Equal(other Target) bool {
	same := SameTime(t.From, other.From) && SameTime(t.Until, other.Until)
	t.From, t.Until = other.From, other.Until
	return same && t == other
}

// SameTime reports whether two times are equal in their stored form: to the millisecond, in any zone.
func SameTime(a, b time.Time) bool { return a.IsZero() == b.IsZero() && a.UnixMilli() == b.UnixMilli() }

// TitleWords returns the words of the titles of an entry, from its targets and its metadata.
func TitleWords(e *Entry) []string {
	var titles []string
	for i := range e.Targets {
		if e.Targets[i].Title != "" {
			titles = append(titles, e.Targets[i].Title)
		}
	}
	return title.Words(append(titles, title.FromMetadata(e.Metadata)...)...)
}

// isRedirect reports whether a status code redirects to the target of a name (RFC 9110 section 15.4). 300, 304
// and the other 3xx codes have a different meaning.
func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect,
		http.StatusPermanentRedirect:
		return true
	default:
		return false
	}
}

// ParseRedirect returns the status code in a text, 0 (unset) for an empty one. The error wraps ErrInvalid.
func ParseRedirect(text string) (int, error) {
	if text == "" || text == "0" {
		return 0, nil
	}
	status, err := strconv.Atoi(text)
	if err != nil || !isRedirect(status) {
		return 0, Invalid("redirect_status", "redirect",
			"invalid redirect status %.40q: use 301, 302, 303, 307 or 308", text)
	}
	return status, nil
}
