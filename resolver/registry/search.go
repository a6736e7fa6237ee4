package registry

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
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
	// At is the time at which the entries were as they are searched and found; the zero value is now. Of what was purged nothing is there.
	At time.Time
	// Tag is one of the member "tags" of the metadata. Member and Value are one of its members, and its value or one of its values,
	// as text. Both are compared without regard to case; "" is any.
	Tag, Member, Value string
	Statuses           []Status // one of these; nil is any
	// After is the name after which the search begins.
	After string
	// Limit is how many are found at most; 0 is all.
	Limit int
	// Within bounds how long it takes, by the clock of the Registry; 0 does not.
	Within time.Duration

	host *hostQuery // what Target says, where that is a host
}

// Searched says how far a search came.
type Searched struct {
	Read, Found int
	// Last is the name after which to go on: the last that was read. "" means that there is no more.
	Last string
	Late bool // it ended because of Within
}

// searchPage is how many entries are read at once: each page is a transaction of its own, as a long one
// would keep the store from tidying up what is written meanwhile.
const searchPage = 1000

// Search calls found with each entry that fits, in the order of their names, and returns how far it came.
// Text, and a Target that names no host, are searched by reading all entries below Below, since no index has the parts of
// targets. An error of found ends it.
func (r *Registry) Search(ctx context.Context, s Search, found func(Entry) error) (Searched, error) {
	s.Text, s.Target = strings.ToLower(s.Text), strings.ToLower(s.Target)
	done := Searched{Last: s.After}
	begun := r.config.Now()
	hits, is, err := r.byHost(ctx, &s)
	if err != nil {
		return done, err
	}
	pages := searchedPages{registry: r, search: &s}
	if is {
		pages.hits = &hits
	}
	for {
		page, more, err := pages.next(ctx, done.Last)
		if err != nil {
			return done, err
		}
		for _, e := range page {
			done.Read++
			done.Last = e.Name
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
		if !more {
			done.Last = ""
			return done, nil
		}
		if s.Within > 0 && r.config.Now().Sub(begun) >= s.Within {
			done.Late = true
			return done, nil
		}
	}
}

// searchedPages are the entries that a search reads.
type searchedPages struct {
	registry *Registry
	search   *Search
	hits     *hostHits // of a host; nil where all are read
	read     int       // pages
	names    []string  // of what has the host
	more     bool      // there are more than names
}

// next returns the next entries after a name, and whether there may be more.
func (p *searchedPages) next(ctx context.Context, after string) (page []Entry, more bool, err error) {
	dense := p.hits != nil && p.hits.rows*hostDense > int64(p.hits.all) && p.read < hostPages
	if p.hits == nil || dense {
		p.read++
		return p.registry.searchPage(ctx, *p.search, after)
	}
	if len(p.names) == 0 {
		if p.names, p.more, err = p.registry.namesAt(ctx, p.search, p.hits, after); err != nil {
			return nil, false, err
		}
	}
	n := min(len(p.names), searchPage)
	keys := make([]Key, n)
	for i, name := range p.names[:n] {
		keys[i] = Name(name)
	}
	p.names = p.names[n:]
	err = p.registry.config.Store.Read(ctx, func(tx Tx) error {
		page, err = tx.Entries(keys)
		return err
	})
	// A name that was purged meanwhile is skipped, and still says how far the search is.
	for i := range page {
		page[i].Key = keys[i]
	}
	return page, len(p.names) > 0 || p.more, err
}

// searchPage returns the next entries after a name, and whether there may be more.
func (r *Registry) searchPage(ctx context.Context, s Search, after string) (page []Entry, more bool, err error) {
	err = r.config.Store.Read(ctx, func(tx Tx) error {
		if s.AliasOf == "" || !s.At.IsZero() {
			page, err = tx.List(s.Kind, s.Below, after, searchPage)
			more = len(page) == searchPage
			if err == nil && !s.At.IsZero() {
				page, err = EntriesAt(tx, page, s.At)
			}
			return err
		}
		of := s.AliasOf + " "
		documents, err := tx.Documents(TableAliases, of+s.Below, of+after, searchPage)
		if err != nil {
			return err
		}
		keys := make([]Key, len(documents))
		for i, d := range documents {
			keys[i] = Name(strings.TrimPrefix(d.Key, of))
		}
		more = len(documents) == searchPage
		page, err = tx.Entries(keys)
		return err
	})
	return page, more, err
}

// fits reports whether an entry is one that is searched for, but for Below and AliasOf. The texts are in
// lower case.
func (s *Search) fits(e Entry) bool {
	if !e.Exists() || !s.At.IsZero() && s.AliasOf != "" && e.Alias != s.AliasOf {
		return false
	}
	if s.Statuses != nil && !slices.Contains(s.Statuses, e.Status) {
		return false
	}
	if s.Target != "" && !s.fitsTarget(&e) {
		return false
	}
	if s.Tag != "" && !hasMember(e.Metadata, "tags", s.Tag) {
		return false
	}
	if s.Member != "" && !hasMember(e.Metadata, s.Member, s.Value) {
		return false
	}
	return s.Text == "" || contains(e.Name, s.Text) || inTargets(e, s.Text)
}

func (s *Search) fitsTarget(e *Entry) bool {
	if s.host != nil {
		return s.host.fits(e, s.Target)
	}
	return inTargets(*e, s.Target)
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
