package list

import (
	"errors"
	"io"
	"net/netip"
	"strings"
)

// Hosts is a set of hosts: names, names with all below them, patterns, addresses and networks, and exceptions, which go before all
// of these. It is immutable and safe for concurrent use; the zero value is empty.
type Hosts struct {
	names    table
	longest  int // name with flags that are for names below it, in bytes: it bounds what a long host costs
	patterns map[string][]string
	// networks are the hosts that are addresses; except has the exceptions.
	networks, except Networks
}

// The flags of a name.
const (
	nameItself  byte = 1 << iota // the name alone
	nameBelow                    // all names below it
	notItself                    // the same as exceptions
	notBelow                     //
	oneLabel                     // the names one label below it, as of the pattern "*.name"
	hasPatterns                  // patterns has patterns whose end it is, "" for patterns that end in a wildcard
)

// maxPatterns bounds the patterns with the same end, which are compared one by one.
const maxPatterns = 256

var errPatterns = errors.New("256 patterns have the same labels behind their last wildcard: no more are compared")

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

// addPattern adds a pattern. Those of the form "*.name" are found by the name, however many there are.
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

// Has reports whether a host is in the set. It is in canonical form: in lower case, without a final dot, labels of other scripts as
// IDNA encodes them; literal is its address where it is one, else the zero value. It does not allocate.
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

// above returns whether a host is in the set, or an exception, by the names above it.
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

// matchesPattern reports whether a host matches one of the patterns with an end. What is longer than names can be does not: it would
// take long.
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

// ParseHosts reads a list of hosts. A line has one of these forms, which may be mixed:
//
//	example.org             the name alone, as in lists for Squid (dstdomain) and AdGuard Home ("domains only")
//	.example.org            the name and all below it, as in lists for Squid
//	*.cdn-?.example.org     names by a pattern with as many labels, as in the rules of urnd
//	192.0.2.1, 192.0.2.0/24, 2001:db8::1
//	0.0.0.0 a.example b.example   names alone, as in hosts files that block them; 127.0.0.1, :: and ::1 are the same as 0.0.0.0
//	||example.org^          the name and all below it, as in lists for AdBlock and AdGuard; |example.org^ is the name alone
//	@@||example.org^        an exception of this list, which goes before all other lines
//
// "!" begins a comment at the start of a line, and a header such as "[Adblock Plus 2.0]" is one. An entry with all names below a
// public suffix is skipped. The error is that of r, or ErrTooLarge.
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
