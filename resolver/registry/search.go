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

// Search selects entries: those that match all of its fields.
type Search struct {
	Kind Kind
	// Prefix is a prefix of the names, compared by bytes. Only these names are read.
	Prefix string
	// AliasOf selects the aliases of a canonical name. Only these are read. "" is any.
	AliasOf string
	// Text is a substring of the name or of a target, Target a substring of a target; both ignore the case of
	// ASCII letters. A Target that is a complete host name of some target, such as example.org, selects that
	// host and its subdomains; one that begins with "//" or a scheme and "//", and ends with a host, selects
	// that host only. Both use an index, and so does a Target with a host that is terminated, as in
	// "//example.org/".
	Text, Target string
	// Title are words of the titles of targets and in the metadata: see title.ParseQuery. Only names with these
	// words are read.
	Title string
	// PublicOnly selects public entries only: see Entry.Public.
	PublicOnly bool
	// At is the time as of which entries are searched and returned; the zero value is now. Purged entries are
	// not found.
	At time.Time
	// Tag is a value of the metadata member "tags". Member is the name of a metadata member, Value its value or
	// one of its values, as text. Values are compared without regard to case; "" is any.
	Tag, Member, Value string
	Statuses           []Status // any of these; nil is any status
	// NewestFirst orders by the last change, newest first, instead of by name: it reads the versions backwards. It
	// cannot be combined with At.
	NewestFirst bool
	// After is the SearchProgress.Last of the search that this one continues.
	After string
	// Limit is the maximum number of results; 0 is unlimited.
	Limit int
	// Timeout limits the duration of the search, by the clock of the Registry; 0 is unlimited.
	Timeout time.Duration

	host  *hostQuery  // host in Target, if it is known
	title title.Query // parsed Title, nil if that is ""
}

// Validate returns ErrInvalid if the Title of a search cannot be parsed.
func (s *Search) Validate() error {
	if s.Title == "" {
		return nil
	}
	if _, err := title.ParseQuery(s.Title); err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return nil
}

// SearchProgress is the progress of a search.
type SearchProgress struct {
	Read, Found int
	// Last is where to continue: the last name that was read, or with NewestFirst the Seq of its version. "" is the
	// end.
	Last     string
	TimedOut bool // it was ended by Timeout
}

// searchPage is the maximum number of entries per page. Each page is a transaction of its own, since a long one
// would prevent the store from cleaning up concurrent writes. The first page is no larger than the limit of the
// search, and each page is searchGrowth times as large as the previous one.
const (
	searchPage   = 1000
	searchGrowth = 4
)

// Search calls found with each matching entry, and returns its progress. The order is that of the names, or
// order of registration when a host or a title is searched. Text, and a Target that is no host, need a scan of
// all entries that begin with Prefix, since no index covers substrings. An error of found ends the search and is
// returned.
func (r *Registry) Search(ctx context.Context, s Search, found func(Entry) error) (SearchProgress, error) {
	s.Text, s.Target = strings.ToLower(s.Text), strings.ToLower(s.Target)
	done := SearchProgress{Last: s.After}
	started := r.config.Now()
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
			if done.Last = e.Name; s.NewestFirst {
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
		if s.Timeout > 0 && r.config.Now().Sub(started) >= s.Timeout {
			done.TimedOut = true
			return done, nil
		}
	}
}

// searchPage returns at most size entries after a name, by the best index, and the last name that was read, ""
// at the end.
func (r *Registry) searchPage(
	ctx context.Context, s Search, after string, size int,
) (page []Entry, last string, err error) {
	err = r.config.Store.Read(ctx, func(tx Tx) error {
		looked := false
		switch {
		case s.NewestFirst:
			looked = true
			page, last, err = latestPage(tx, &s, after, size)
		case s.Kind != KindName || !s.At.IsZero():
			page, err = tx.List(s.Kind, s.Prefix, after, size)
		case s.AliasOf != "":
			page, err = aliasPage(tx, &s, after, size)
		case s.host != nil:
			looked = true
			page, last, err = tx.ByHost(s.host.name, s.host.domain, s.Prefix, after, size)
		case s.title != nil:
			looked = true
			page, last, err = tx.ByTitle(s.title, s.Prefix, after, size)
		case len(s.Statuses) == 1 && s.Statuses[0] != Active:
			page, err = tx.ByStatus(s.Statuses[0], s.Prefix, after, size)
		default:
			page, err = tx.List(s.Kind, s.Prefix, after, size)
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

// latestPage returns the entries of a kind that begin with Prefix among the next size versions before a Seq,
// which is encoded as in SearchProgress.Last.
func latestPage(tx Tx, s *Search, after string, size int) (page []Entry, last string, err error) {
	before := Seq(1) << 62
	if after != "" {
		number, err := strconv.ParseInt(after, 10, 64)
		if err != nil {
			return nil, "", ErrInvalidCursor
		}
		before = Seq(number)
	}
	changes, end, err := tx.Latest(before, size)
	var keys []Key
	for _, c := range changes {
		if c.Key.Kind == s.Kind && strings.HasPrefix(c.Key.Name, s.Prefix) {
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

// aliasPage returns the next aliases of a name.
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

// fits reports whether an entry matches the search; Prefix is checked only together with AliasOf, since other
// pages are read by it. Text and Target are in lower case.
func (s *Search) fits(e Entry) bool {
	if !e.Exists() || s.AliasOf != "" && (e.Alias != s.AliasOf || !strings.HasPrefix(e.Name, s.Prefix)) {
		return false
	}
	if s.Statuses != nil && !slices.Contains(s.Statuses, e.Status) || s.PublicOnly && !e.Public() {
		return false
	}
	return s.fitsMembers(&e) && (s.Text == "" || contains(e.Name, s.Text) || inTargets(e, s.Text))
}

// fitsMembers reports whether the targets, titles and metadata of an entry match the search.
func (s *Search) fitsMembers(e *Entry) bool {
	if s.Target != "" && !s.fitsTarget(e) || s.title != nil && !s.title.Matches(TitleWords(e)) {
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

// hasMember reports whether a metadata member has a value, or is a list with that value; "" matches any value.
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

// contains reports whether text contains lower, which is in lower case, ignoring case.
func contains(text, lower string) bool { return strings.Contains(strings.ToLower(text), lower) }

// hostQuery is the host in Search.Target.
type hostQuery struct {
	name   string
	domain bool // includes subdomains, and all targets at these hosts
}

// findHost sets the host of a search if Target names one and the index can be used. A text that may also be a
// substring of a host or path counts as a host only if some target has that host.
func (r *Registry) findHost(ctx context.Context, s *Search) error {
	if s.Kind != KindName || !s.At.IsZero() || s.AliasOf != "" || s.NewestFirst {
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
			return nil // too many subdomains: scan all entries
		}
		return err
	})
}

// hostQueryOf returns the host in a text in lower case, if it may contain one. certain is whether every target
// that contains the text has that host.
func hostQueryOf(text string) (q hostQuery, certain bool) {
	scheme, rest, ok := strings.Cut(text, "//")
	if ok && (scheme == "" || strings.HasSuffix(scheme, ":")) {
		host := HostOf(text)
		return hostQuery{name: host}, host != "" && strings.ContainsAny(rest, "/?#")
	}
	if ok || !strings.Contains(text, ".") || strings.Trim(text, "abcdefghijklmnopqrstuvwxyz0123456789.-_") != "" ||
		strings.Trim(text, ".-") != text {
		return hostQuery{}, false
	}
	return hostQuery{name: text, domain: true}, false
}

// HostOf returns the host of a URI in lower case, without a final dot, user information and port; "" if it has
// none. The host is between "//" and the end of the authority (RFC 3986 section 3.2).
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
	if bracket := strings.IndexByte(host, ']'); bracket > 0 { // an IPv6 address contains colons
		host = host[:bracket+1]
	} else if port := strings.IndexByte(host, ':'); port >= 0 {
		host = host[:port]
	}
	return strings.TrimSuffix(strings.ToLower(host), ".")
}
