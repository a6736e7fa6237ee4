package policy

import (
	"errors"
	"fmt"
	"net/netip"
	"path"
	"strings"

	"github.com/urnd/urnd/uri"
)

// host is a host of a Rule.
type host struct {
	name    string       // without a leading dot; "" for addresses
	below   bool         // all names below it match, too
	wild    bool         // name is a pattern
	network netip.Prefix // of addresses
}

func parseHosts(texts []string) ([]host, error) {
	hosts := make([]host, 0, len(texts))
	for _, text := range texts {
		h, err := parseHost(text)
		if err != nil {
			return nil, fmt.Errorf("host %q: %w", text, err)
		}
		hosts = append(hosts, h)
	}
	return hosts, nil
}

func parseHost(text string) (host, error) {
	if mayBeAddress(text) {
		if addr, err := netip.ParseAddr(strings.Trim(text, "[]")); err == nil {
			addr = plain(addr)
			return host{network: netip.PrefixFrom(addr, addr.BitLen())}, nil
		}
		if prefix, err := netip.ParsePrefix(text); err == nil {
			return host{network: prefix}, checkRange(prefix)
		}
	}
	name, below := strings.CutPrefix(uri.CanonicalHost(text), ".")
	wild := strings.ContainsAny(name, "*?")
	switch {
	case !isPattern(name):
		return host{},
			errors.New("not a host name, a pattern or an address; write labels of other scripts in IDNA encoding, xn--")
	case wild && below:
		return host{}, errors.New("a pattern must not begin with a dot")
	case wild && strings.Trim(name, "*") == "":
		return host{}, errors.New("the pattern matches only names without a dot; to match all hosts, leave out hosts")
	}
	return host{name: name, below: below, wild: wild}, nil
}

// mayBeAddress reports whether a text consists of the bytes of an address or a range. It avoids parsing other
// texts as one: the errors for a long list of names would take most of the time.
func mayBeAddress(text string) bool {
	return strings.ContainsAny(text, ":/") || isNumbers(strings.Trim(text, "[]"))
}

// isPattern reports whether a text consists of the bytes of a name or pattern, and has no empty label.
func isPattern(text string) bool {
	last := byte('.')
	for i := range len(text) {
		c := text[i]
		isName := 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '_' || c == '*' || c == '?'
		if !isName && (c != '.' || last == '.') {
			return false
		}
		last = c
	}
	return last != '.'
}

// holds reports whether a host matches h; literal is the host's address if it is one.
func (h host) holds(requested string, literal netip.Addr) bool {
	switch {
	case literal.IsValid() || h.network.IsValid():
		return h.network.Contains(literal)
	case h.wild:
		return matches(h.name, requested)
	}
	rest, ok := strings.CutSuffix(requested, h.name)
	return ok && (rest == "" || h.below && strings.HasSuffix(rest, "."))
}

// matches reports whether each label of a host matches the corresponding label of a pattern. Hosts are ASCII
// without slashes (RFC 3986 section 3.2.2), so path.Match compares bytes.
func matches(pattern, requested string) bool {
	for more := true; more; {
		var wanted, label string
		var moreLabels bool
		wanted, pattern, more = strings.Cut(pattern, ".")
		label, requested, moreLabels = strings.Cut(requested, ".")
		// The pattern cannot be malformed: it has no "[".
		if ok, _ := path.Match(wanted, label); !ok || more != moreLabels {
			return false
		}
	}
	return true
}
