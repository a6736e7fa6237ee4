package list

import (
	"errors"
	"hash/maphash"
	"io"
	"net/netip"
	"strings"

	"github.com/urnd/urnd/uri"
)

// URLs is a set of URLs: of hosts, or of names with all names below them, each with a path and all paths
// below it, or with a path and a query. Scheme, port, userinfo and fragment are ignored. Exceptions take
// precedence. It is immutable and safe for concurrent use; the zero value is empty.
type URLs struct {
	// entries has the hosts, with hasURLs, and each host followed by a path, and by "?" and a query.
	entries table
	longest int // the length of the longest host for names below it, in bytes
	path    int // the length of the longest path, in bytes
}

// hasURLs is the flag of a host with entries: it saves look-ups of paths for other hosts.
const hasURLs byte = 1 << 7

// literalHost is the prefix of a host that is an address; its 16 bytes follow. No name contains this character.
const literalHost = "["

// Has reports whether a URL is in the set, given its host and literal address, as for Hosts.Has, its path,
// and its query without the "?", in the normal form of URIs (uri.URI.Normalize). It does not allocate.
func (u *URLs) Has(host string, literal netip.Addr, path, query string) bool {
	if u.entries.count == 0 {
		return false
	}
	if path == "" {
		path = "/"
	}
	if literal.IsValid() {
		key := literalKey(literal)
		found := u.below(string(key[:]), path, query)
		return found&nameItself != 0 && found&notItself == 0
	}
	found := u.below(host, path, query) & (nameItself | notItself)
	for dot := strings.LastIndexByte(host, '.'); dot >= 0; dot = strings.LastIndexByte(host[:dot], '.') {
		name := host[dot+1:]
		if len(name) > u.longest {
			break
		}
		flags := u.below(name, path, query)
		if flags&nameBelow != 0 {
			found |= nameItself
		}
		if flags&notBelow != 0 {
			found |= notItself
		}
	}
	return found&nameItself != 0 && found&notItself == 0
}

// below returns the flags of the entries of a host that match a path and a query.
func (u *URLs) below(host, path, query string) (found byte) {
	var hash maphash.Hash
	hash.SetSeed(u.entries.seed)
	_, _ = hash.WriteString(host)
	if u.entries.flags(hash.Sum64(), host)&hasURLs == 0 {
		return 0
	}
	hashed := 0 // bytes of the path that are hashed
	for end := 1; end <= min(len(path), u.path); end++ {
		if end < len(path) && path[end] != '/' && path[end-1] != '/' {
			continue // not at a segment boundary
		}
		_, _ = hash.WriteString(path[hashed:end])
		hashed = end
		found |= u.entries.flags(hash.Sum64(), host, path[:end])
	}
	if query != "" && len(path) <= u.path {
		_, _ = hash.WriteString("?")
		_, _ = hash.WriteString(query)
		found |= u.entries.flags(hash.Sum64(), host, path, "?", query)
	}
	return found
}

// literalKey returns the key of an address, in place of a host name.
func literalKey(addr netip.Addr) (key [17]byte) {
	bytes := addr.As16() // IPv4-mapped for an IPv4 address
	key[0] = literalHost[0]
	copy(key[1:], bytes[:])
	return key
}

// ParseURLs parses a list of URLs. The forms of lines may be mixed:
//
//	http://example.org/a/b         the path and all paths below it, with any query, as in lists of URLhaus, OpenPhish
//	example.org/a/b                the same
//	http://example.org/a?b=c       this path with this query only
//	http://example.org/            all URLs of the host
//	http://.example.org/a          of the host and of all names below it
//	||example.org/a^               the same, as in lists for AdBlock
//	|example.org/a^                of the host only
//	@@||example.org/a^             an exception of this list, which takes precedence over all other lines
//
// Paths are compared by whole segments: /a includes /a/b and not /ab. URLs are normalized, so that all
// spellings match. Scheme and port are ignored. Comments and public suffixes are handled as in ParseHosts.
// The error is that of r, or ErrTooLarge.
func ParseURLs(r io.Reader) (*URLs, Report, error) {
	u := new(URLs)
	report, err := read(r, "#", func(line string) (int, error) {
		if isAdBlockComment(line) {
			return 0, nil
		}
		added, err := parseURLLine(line)
		if err != nil {
			return 0, err
		}
		return 1, u.add(&added)
	})
	if err != nil {
		return nil, report, err
	}
	return u, report, nil
}

// url is an entry of a list of URLs.
type url struct {
	host     host
	path     string // in normal form, at least "/"
	query    string // with its "?", "" for any
	hostText string // the prefix of the path in the table
}

// add adds an entry.
func (u *URLs) add(added *url) error {
	flags := nameItself
	if added.host.below {
		flags |= nameBelow
		u.longest = max(u.longest, len(added.hostText))
	}
	if added.host.except {
		flags *= notItself
	}
	u.path = max(u.path, len(added.path))
	if !u.entries.add(added.hostText, hasURLs) || !u.entries.add(added.hostText+added.path+added.query, flags) {
		return ErrTooLarge
	}
	return nil
}

var (
	errNoURL   = errors.New("not a URL: write http://example.org/path")
	errURLHost = errors.New("a URL in a list must have a host, or a domain after a dot: write http://example.org/ " +
		"or http://.example.org/")
)

// cutURL returns the URL of a line, with a scheme, and its modifiers. The line is not a comment.
func cutURL(text string) (location string, below, except bool, err error) {
	if text[0] == '|' || strings.HasPrefix(text, "@@") || isCosmetic(text) {
		if text, below, except, err = cutAdBlock(text); err != nil {
			return "", false, false, err
		}
	}
	if !strings.Contains(text, "://") {
		if strings.Contains(text, "@") {
			// Such as mailto:a@example.org, which does not stand for all URLs of its host.
			return "", false, false, errNoURL
		}
		text = "http://" + text
	}
	if scheme, rest, ok := strings.Cut(text, "://."); ok { // a host does not begin with a dot: RFC 1034 section 3.1
		text, below = scheme+"://"+rest, true
	}
	return text, below, except, nil
}

// parseURLLine parses a line that is not a comment.
func parseURLLine(text string) (url, error) {
	text, below, except, err := cutURL(text)
	if err != nil {
		return url{}, err
	}
	location, err := parseLocation(text)
	if err != nil {
		return url{}, err
	}
	h, err := parseHost(location.Hostname())
	if err != nil {
		return url{}, err
	}
	added := url{host: h, path: location.Path(), hostText: h.name}
	if literals := h.literals; literals.first.IsValid() {
		if literals.first != literals.last {
			return url{}, errURLHost
		}
		key := literalKey(literals.first)
		added.hostText, below = string(key[:]), false
	}
	if h.wild || h.below {
		return url{}, errURLHost
	}
	if query, ok := location.Query(); ok && query != "" {
		added.query = "?" + query
	}
	added.host.below, added.host.except = below, except
	if below {
		err = checkWidth(h.name)
	}
	return added, err
}

// parseLocation parses a URL as in requests, or else as an IRI, and normalizes it.
func parseLocation(text string) (uri.URI, error) {
	u, err := uri.ParseRaw(text)
	if err == nil && u.Check() != nil || err != nil {
		if u, err = uri.FromIRI(text); err != nil {
			return uri.URI{}, errNoURL
		}
	}
	u = u.Normalize()
	if host, ok := u.Host(); !ok || host == "" || !strings.HasPrefix(u.Path(), "/") {
		return uri.URI{}, errNoURL
	}
	return u, nil
}
