package webserver

import (
	"regexp"
	"slices"
	"strings"
)

// serving returns the server block for the host of the base: by its name, the longest wildcard, an
// expression, or the default.
func (n *nginx) serving(servers []*block) (best *block) {
	most := -1
	for i, s := range servers {
		rank, onPort := 0, false
		if i == 0 {
			rank = 1
		}
		for _, b := range s.children {
			if b.name() == "listen" && slices.Contains(b.words, "default_server") {
				rank = max(rank, 3)
			}
			if b.name() == "listen" && len(b.words) > 1 {
				onPort = onPort || portOf(b.words[1]) == n.port
			}
			if b.name() == "server_name" {
				for _, name := range b.words[1:] {
					rank = max(rank, 2*n.named(name))
				}
			}
		}
		if rank > 0 && onPort { // prefer the block on the port of the base's scheme
			rank++
		}
		if rank > max(most, 0) {
			best, most = s, rank
		}
	}
	return best
}

// capture sets the variables that the expression of a server_name captures.
func (n *nginx) capture(s *block) {
	if s == nil {
		return
	}
	for _, b := range s.children {
		for _, name := range b.words[1:] {
			expression, ok := strings.CutPrefix(name, "~")
			if b.name() != "server_name" || !ok || n.host == "" {
				continue
			}
			re, err := regexp.Compile(expression)
			if err != nil {
				continue
			}
			if re.MatchString(n.host) {
				n.captures(re, n.host, &scope{})
				n.captured = re.NumSubexp() > 0
				return
			}
		}
	}
}

// portOf returns the port of a listen directive, "80" if it has none.
func portOf(address string) string {
	port := address[strings.LastIndexByte(address, ':')+1:]
	if strings.Trim(port, "0123456789") != "" {
		return "80"
	}
	return port
}

// named returns how specifically a server_name matches the host of the base, 0 if it does not match.
func (n *nginx) named(name string) int {
	expression, isExpression := strings.CutPrefix(name, "~") // not lower-cased: \D differs from \d
	name = strings.ToLower(name)
	switch {
	case n.host == "":
	case name == n.host || name == "."+n.host:
		return 1 << 20
	case strings.HasPrefix(name, "*.") && strings.HasSuffix(n.host, name[1:]), strings.HasPrefix(name, ".") &&
		strings.HasSuffix(n.host, name):
		return 1<<10 + len(name)
	case strings.HasSuffix(name, ".*") && strings.HasPrefix(n.host, name[:len(name)-1]):
		return 1<<9 + len(name)
	case isExpression:
		if re, err := regexp.Compile(expression); err == nil && re.MatchString(n.host) {
			return 1 << 8
		}
	}
	return 0
}
