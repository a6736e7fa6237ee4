package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urnd/urnd/resolver/registry/title"
)

// Search says which entries are searched for: those that all of its fields fit.
type Search struct {
	Kind Kind
	// Below is what the names begin with, by octets: only those are read.
	Below string
	// AliasOf is the canonical name that they are aliases of: only those are read. "" is any.
	AliasOf string
	// Text is a part of the name or of a target, and Target one of a target, without regard to the
	// case of ASCII letters. A Target that is the whole name of a host which a target has, such as example.org, is that host and those below
	// it; one that begins with "//", or a scheme and "//", and ends with a host, is that one. Both are found by an index, and so is a Target
	// with a host that something ends, as in "//example.org/".
	Text, Target string
	// Title are words of the titles of targets and in the metadata: see title.ParseQuery. Only names with them are read.
	Title string
	// Open is whether only what is open to all is found: active entries that are not for trial.
	Open bool
	// At is the time at which the entries were as they are searched and found; the zero value is now. Of what was purged nothing is there.
	At time.Time
	// Tag is one of the member "tags" of the metadata. Member and Value are one of its members, and its value or one of its values,
	// as text. Both are compared without regard to case; "" is any.
	Tag, Member, Value string
	Statuses           []Status // one of these; nil is any
	// Newest has what was changed last first, instead of the order of the names: by reading the versions backwards. Not with At.
	Newest bool
	// After is Searched.Last of the search that this one continues.
	After string
	// Limit is how many are found at most; 0 is all.
	Limit int
	// Within bounds how long it takes, by the clock of the Registry; 0 does not.
	Within time.Duration

	host  *hostQuery  // what Target says, where that is a host that is known
	title title.Query // of Title, nil where that is ""
}

// Validate returns ErrInvalid where a search has a Title that is none.
func (s *Search) Validate() error {
	if s.Title == "" {
		return nil
	}
	if _, err := title.ParseQuery(s.Title); err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return nil
}

// Searched says how far a search came.
type Searched struct {
	Read, Found int
	// Last is after what to go on: the last name that was read, or of Newest the number of its version. "" means that there is no more.
	Last string
	Late bool // it ended because of Within
}

// searchPage is how many entries are read at once at most: each page is a transaction of its own, as a long one
// would keep the store from tidying up what is written meanwhile. The first page has no more than are searched for, and each is
// searchGrowth times as long as the one before.
const (
	searchPage   = 1000
	searchGrowth = 4
)

// Search calls found with each entry that fits, in the order of their names, or where a host or a title is searched for in the order in which
// they were registered, and returns how far it came.
// Text, and a Target that names no host, are searched by reading all entries below Below, since no index has the parts of
// targets. An error of found ends it.
func (r *Registry) Search(ctx context.Context, s Search, found func(Entry) error) (Searched, error) {
	s.Text, s.Target = strings.ToLower(s.Text), strings.ToLower(s.Target)
	done := Searched{Last: s.After}
	begun := r.config.Now()
	if err := s.Validate(); err != nil {
		return done, err
	}
	s.title = title.Words(s.Title)
	if err := r.findHost(ctx, &s); err != nil {
		return done, err
	}
	size := searchPage
	if s.Limit > 0 {
		size = min(s.Limit, searchPage)
	}
	for {
		page, last, err := r.searchPage(ctx, s, done.Last, size)
		if err != nil {
			return done, err
		}
		size = min(size*searchGrowth, searchPage)
		for _, e := range page {
			done.Read++
			if done.Last = e.Name; s.Newest {
				done.Last = strconv.FormatInt(int64(e.Seq), 10)
			}
			if !s.fits(e) {
				continue
			}
			if err := found(e); err != nil {
				return done, err
			}
			if done.Found++; done.Found == s.Limit {
				return done, nil
			}
		}
		if done.Last = last; last == "" {
			return done, nil
		}
		if s.Within > 0 && r.config.Now().Sub(begun) >= s.Within {
			done.Late = true
			return done, nil
		}
	}
}

// searchPage returns at most size of the next entries after a name, by the best index that there is, and the last name that was looked at, ""
// if there are no more.
func (r *Registry) searchPage(ctx context.Context, s Search, after string, size int) (page []Entry, last string, err error) {
	err = r.config.Store.Read(ctx, func(tx Tx) error {
		looked := false
		switch {
		case s.Newest:
			looked = true
			page, last, err = latestPage(tx, &s, after, size)
		case s.Kind != KindName || !s.At.IsZero():
			page, err = tx.List(s.Kind, s.Below, after, size)
		case s.AliasOf != "":
			page, err = aliasPage(tx, &s, after, size)
		case s.host != nil:
			looked = true
			page, last, err = tx.ByHost(s.host.name, s.host.domain, s.Below, after, size)
		case s.title != nil:
			looked = true
			page, last, err = tx.ByTitle(s.title, s.Below, after, size)
		case len(s.Statuses) == 1 && s.Statuses[0] != Active:
			page, err = tx.ByStatus(s.Statuses[0], s.Below, after, size)
		default:
			page, err = tx.List(s.Kind, s.Below, after, size)
		}
		if !looked && len(page) == size {
			last = page[size-1].Name
		}
		if err == nil && !s.At.IsZero() {
			page, err = EntriesAt(tx, page, s.At)
		}
		return err
	})
	return page, last, err
}

// latestPage returns the entries of a kind that begin with Below among the next size versions before one, as Searched.Last has it.
func latestPage(tx Tx, s *Search, after string, size int) (page []Entry, last string, err error) {
	before := Seq(1) << 62
	if after != "" {
		number, err := strconv.ParseInt(after, 10, 64)
		if err != nil {
			return nil, "", ErrCursor
		}
		before = Seq(number)
	}
	changes, end, err := tx.Latest(before, size)
	var keys []Key
	for _, c := range changes {
		if c.Key.Kind == s.Kind && strings.HasPrefix(c.Key.Name, s.Below) {
			keys = append(keys, c.Key)
		}
	}
	if err == nil {
		page, err = tx.Entries(keys)
	}
	if end > 0 {
		last = strconv.FormatInt(int64(end), 10)
	}
	return page, last, err
}

// aliasPage returns the next aliases of a name that begin with Below.
func aliasPage(tx Tx, s *Search, after string, size int) ([]Entry, error) {
	aliases, err := tx.Aliases(s.AliasOf, after, size)
	if err != nil {
		return nil, err
	}
	keys := make([]Key, len(aliases))
	for i, alias := range aliases {
		keys[i] = Name(alias)
	}
	return tx.Entries(keys)
}

// fits reports whether an entry is one that is searched for, but for Below and AliasOf. The texts are in
// lower case.
func (s *Search) fits(e Entry) bool {
	if !e.Exists() || s.AliasOf != "" && (e.Alias != s.AliasOf || !strings.HasPrefix(e.Name, s.Below)) {
		return false
	}
	if s.Statuses != nil && !slices.Contains(s.Statuses, e.Status) || s.Open && !e.IsOpen() {
		return false
	}
	return s.fitsMembers(&e) && (s.Text == "" || contains(e.Name, s.Text) || inTargets(e, s.Text))
}

// fitsMembers reports whether the targets, the title and the metadata of an entry are those that are searched for.
func (s *Search) fitsMembers(e *Entry) bool {
	if s.Target != "" && !s.fitsTarget(e) || s.title != nil && !s.title.Fits(TitleWords(e)) {
		return false
	}
	if s.Tag != "" && !hasMember(e.Metadata, "tags", s.Tag) {
		return false
	}
	return s.Member == "" || hasMember(e.Metadata, s.Member, s.Value)
}

func (s *Search) fitsTarget(e *Entry) bool {
	return s.host != nil && s.host.domain || inTargets(*e, s.Target)
}

// hasMember reports whether metadata has a member with a value, or with a list that has it; any value where that is "".
func hasMember(metadata, member, value string) bool {
	if metadata == "" || !strings.Contains(metadata, `\`) && !contains(metadata, strings.ToLower(value)) {
		return false
	}
	var object map[string]any
	d := json.NewDecoder(strings.NewReader(metadata))
	d.UseNumber()
	if d.Decode(&object) != nil {
		return false
	}
	is := func(v any) bool { return strings.EqualFold(fmt.Sprint(v), value) }
	switch v := object[member].(type) {
	case nil:
		return false
	case []any:
		return value == "" || slices.ContainsFunc(v, is)
	default:
		return value == "" || is(v)
	}
}

func inTargets(e Entry, lower string) bool {
	return slices.ContainsFunc(e.Targets, func(t Target) bool { return contains(t.URI, lower) })
}

// contains reports whether text contains a part that is in lower case.
func contains(text, lower string) bool { return strings.Contains(strings.ToLower(text), lower) }

// hostQuery is what the text of Search.Target says of the host of targets.
type hostQuery struct {
	name   string
	domain bool // hosts below it are meant, too, and all of their targets
}

// findHost sets the host of a search whose text names one, if it can be searched for by its index: a text that may also be a part of a host or
// of a path names a host only if some target has it.
func (r *Registry) findHost(ctx context.Context, s *Search) error {
	if s.Kind != KindName || !s.At.IsZero() || s.AliasOf != "" || s.Newest {
		return nil
	}
	q, certain := hostQueryOf(s.Target)
	if q.name == "" || certain {
		if certain {
			s.host = &q
		}
		return nil
	}
	return r.config.Store.Read(ctx, func(tx Tx) error {
		some, _, err := tx.ByHost(q.name, q.domain, "", "", 1)
		if len(some) > 0 {
			s.host = &q
		}
		if errors.Is(err, ErrInvalid) {
			return nil // it has too many hosts below it: all entries are read
		}
		return err
	})
}

// hostQueryOf returns what a text in lower case says of a host, if it may name one. certain is whether a target with the text has that host.
func hostQueryOf(text string) (q hostQuery, certain bool) {
	scheme, rest, ok := strings.Cut(text, "//")
	if ok && (scheme == "" || strings.HasSuffix(scheme, ":")) {
		host := HostOf(text)
		return hostQuery{name: host}, host != "" && strings.ContainsAny(rest, "/?#")
	}
	if ok || !strings.Contains(text, ".") || strings.Trim(text, "abcdefghijklmnopqrstuvwxyz0123456789.-_") != "" || strings.Trim(text, ".-") != text {
		return hostQuery{}, false
	}
	return hostQuery{name: text, domain: true}, false
}

// HostOf returns the host of a URI, in lower case and without a final dot; "" if it has none: what is between "//" and what ends an
// authority, without user and port (RFC 3986 section 3.2).
func HostOf(text string) string {
	scheme, rest, ok := strings.Cut(text, "//")
	if !ok || scheme != "" && strings.IndexByte(scheme, ':') != len(scheme)-1 {
		return ""
	}
	host := rest
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		host = rest[:end]
	}
	host = host[strings.LastIndexByte(host, '@')+1:]
	if bracket := strings.IndexByte(host, ']'); bracket > 0 { // an address of IPv6 has colons
		host = host[:bracket+1]
	} else if port := strings.IndexByte(host, ':'); port >= 0 {
		host = host[:port]
	}
	return strings.TrimSuffix(strings.ToLower(host), ".")
}
