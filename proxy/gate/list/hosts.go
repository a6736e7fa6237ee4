package list

import (
	"errors"
	"io"
	"net/netip"
	"strings"
)

// Hosts is a set of hosts: names, names with all names below them, patterns, addresses and networks, and
// exceptions, which take precedence. It is immutable and safe for concurrent use; the zero value is empty.
type Hosts struct {
	names table
	// The length of the longest name with flags for names below it, in bytes: limits the look-ups of a long host.
	longest  int
	patterns map[string][]string
	// networks are the hosts that are addresses; except are the exceptions among them.
	networks, except Networks
}

// The flags of a name.
const (
	nameItself  byte = 1 << iota // the name itself
	nameBelow                    // all names below it
	notItself                    // exception for the name itself
	notBelow                     // exception for all names below it
	oneLabel                     // the names one label below it, for the pattern "*.name"
	hasPatterns                  // patterns has patterns with this suffix, "" for patterns that end in a wildcard
)

// maxPatterns limits the patterns with the same suffix, which are compared one by one.
const maxPatterns = 256

var errPatterns = errors.New("more than 256 patterns have the same labels after their last wildcard")

// add adds a name without wildcards.
func (h *Hosts) add(name string, flags byte) error {
	if flags&^(nameItself|notItself) != 0 {
		h.longest = max(h.longest, len(name))
	}
	if !h.names.add(name, flags) {
		return ErrTooLarge
	}
	return nil
}

// addPattern adds a pattern. Patterns of the form "*.name" are flags of the name, so their number does not matter.
func (h *Hosts) addPattern(pattern string) error {
	if name, ok := strings.CutPrefix(pattern, "*."); ok && !isPattern(name) {
		return h.add(name, oneLabel)
	}
	_, end, _ := strings.Cut(pattern[strings.LastIndexAny(pattern, "*?"):], ".")
	if len(h.patterns[end]) >= maxPatterns {
		return errPatterns
	}
	if h.patterns == nil {
		h.patterns = make(map[string][]string)
	}
	h.patterns[end] = append(h.patterns[end], pattern)
	return h.add(end, hasPatterns)
}

// Has reports whether a host is in the set. The host must be in canonical form: in lower case, without a final dot, in
// the ASCII form of IDNA. literal is its address if it is one, else the zero value. Has does not allocate.
func (h *Hosts) Has(host string, literal netip.Addr) bool {
	if literal.IsValid() {
		return h.networks.Has(literal) && !h.except.Has(literal)
	}
	if h.names.count == 0 {
		return false
	}
	found := h.names.lookup(host) & (nameItself | notItself)
	if h.longest > 0 || h.patterns != nil {
		found |= h.above(host)
	}
	return found&nameItself != 0 && found&notItself == 0
}

// above returns the flags nameItself and notItself of a host that follow from the names above it.
func (h *Hosts) above(host string) (found byte) {
	if h.names.lookup("")&hasPatterns != 0 && h.matchesPattern("", host) {
		found |= nameItself
	}
	for dot := strings.LastIndexByte(host, '.'); dot >= 0; dot = strings.LastIndexByte(host[:dot], '.') {
		name := host[dot+1:]
		if len(name) > h.longest {
			break
		}
		flags := h.names.lookup(name)
		if flags&nameBelow != 0 ||
			flags&oneLabel != 0 && strings.IndexByte(host[:dot], '.') < 0 ||
			flags&hasPatterns != 0 && h.matchesPattern(name, host) {
			found |= nameItself
		}
		if flags&notBelow != 0 {
			found |= notItself
		}
	}
	return found
}

// matchesPattern reports whether a host matches one of the patterns with a suffix. A host that exceeds the
// length of names does not match, to limit the time.
func (h *Hosts) matchesPattern(end, host string) bool {
	if len(host) > maxName {
		return false
	}
	for _, pattern := range h.patterns[end] {
		if matchPattern(pattern, host) {
			return true
		}
	}
	return false
}

// ParseHosts parses a list of hosts. The forms of lines may be mixed:
//
//	example.org             the name alone, as in lists for Squid (dstdomain) and AdGuard Home ("domains only")
//	.example.org            the name and all names below it, as in lists for Squid
//	*.cdn-?.example.org     names that match a pattern with as many labels, as in the rules of urnd
//	192.0.2.1, 192.0.2.0/24, 2001:db8::1
//	0.0.0.0 a.example b.example   names alone, as in hosts files that block them; 127.0.0.1, :: and ::1 like 0.0.0.0
//	||example.org^          the name and all names below it, as in lists for AdBlock and AdGuard
//	|example.org^           the name alone
//	@@||example.org^        an exception of this list, which takes precedence over all other lines
//
// A "!" at the start of a line begins a comment; a header such as "[Adblock Plus 2.0]" is ignored, too. An
// entry with all names below a public suffix is skipped. The error is that of r, or ErrTooLarge.
func ParseHosts(r io.Reader) (*Hosts, Report, error) {
	p := hostParser{hosts: new(Hosts)}
	report, err := read(r, "#", p.line)
	if err != nil {
		return nil, report, err
	}
	p.hosts.networks.merge()
	p.hosts.except.merge()
	return p.hosts, report, nil
}
