package list

import (
	"errors"
	"net/netip"
	"strings"
)

// hostParser parses the lines of a list of hosts.
type hostParser struct {
	hosts   *Hosts
	entries []host // of the current line
}

// host is an entry of a list of hosts.
type host struct {
	name     string // in canonical form; "" for addresses
	below    bool   // all names below it match, too
	except   bool   // the entry is an exception
	wild     bool   // name is a pattern
	literals addressRange
}

// line adds the entries of a line, and returns their number.
func (p *hostParser) line(text string) (int, error) {
	var err error
	p.entries, err = parseHostLine(p.entries[:0], text)
	if err != nil {
		return 0, err
	}
	for i := range p.entries {
		if err := p.add(&p.entries[i]); err != nil {
			return i, err
		}
	}
	return len(p.entries), nil
}

func (p *hostParser) add(h *host) error {
	switch {
	case h.literals.first.IsValid() && h.except:
		p.hosts.except.ranges = append(p.hosts.except.ranges, h.literals)
		return nil
	case h.literals.first.IsValid():
		p.hosts.networks.ranges = append(p.hosts.networks.ranges, h.literals)
		return nil
	case h.wild:
		return p.hosts.addPattern(h.name)
	}
	flags := nameItself
	if h.below {
		flags |= nameBelow
	}
	if h.except {
		flags *= notItself // shifts the flags to those of exceptions
	}
	return p.hosts.add(h.name, flags)
}

// parseHostLine appends the entries of a line; a comment has none.
func parseHostLine(entries []host, text string) ([]host, error) {
	if isCanonical(text) { // the usual case in long lists
		h, err := parseHost(text)
		return append(entries, h), err
	}
	if isAdBlockComment(text) {
		return entries, nil
	}
	if isAdBlock(text) {
		h, err := parseAdBlockHost(text)
		return append(entries, h), err
	}
	if i := strings.IndexAny(text, " \t"); i >= 0 {
		return parseHostsFileLine(entries, text[:i], text[i:])
	}
	h, err := parseHost(text)
	return append(entries, h), err
}

// parseHost parses a name, a name with a leading dot, which includes all names below it, a pattern, an
// address or a network.
func parseHost(text string) (host, error) {
	if mayBeLiteral(text) {
		literals, err := parseRange(strings.TrimSuffix(strings.TrimPrefix(text, "["), "]"))
		if err == nil || errors.Is(err, errAll) {
			return host{literals: literals}, err
		}
	}
	switch {
	case strings.Contains(text, "/"):
		return host{}, errURL
	case strings.Contains(text, ":"):
		return host{}, errPort
	}
	text, below := strings.CutPrefix(text, ".")
	name, err := canonicalName(text)
	h := host{name: name, below: below, wild: isPattern(name)}
	switch {
	case err != nil:
		return host{}, err
	case h.wild && below:
		return host{}, errDotted
	case h.wild || below:
		return h, checkWidth(name)
	}
	return h, nil
}

var errHostsFile = errors.New("this line maps a host to an address, and blocks nothing: write 0.0.0.0, or only the " +
	"name")

// parseHostsFileLine appends the names of a line of a hosts file, except those of the machine itself.
func parseHostsFileLine(entries []host, first, names string) ([]host, error) {
	addr, err := netip.ParseAddr(first)
	if err != nil {
		return entries, errors.New("more than one host on a line: write each host on a line of its own")
	}
	for text := range strings.FieldsSeq(names) {
		if isOwnName(text) {
			continue
		}
		if !isSink(addr) {
			return entries, errHostsFile
		}
		name, err := canonicalName(text)
		switch {
		case err != nil:
			return entries, err
		case isPattern(name):
			return entries, errName
		}
		entries = append(entries, host{name: name})
	}
	return entries, nil
}

// isOwnName reports whether hosts files use the name for the machine itself and its networks, even in lists
// that block names.
func isOwnName(name string) bool {
	switch name {
	case "localhost", "localhost.localdomain", "localhost4", "localhost6", "local", "broadcasthost", "0.0.0.0",
		"ip6-localhost",
		"ip6-loopback", "ip6-localnet", "ip6-mcastprefix", "ip6-allnodes", "ip6-allrouters", "ip6-allhosts":
		return true
	}
	return false
}
