package uri

import "strings"

// Gopher is the part of a "gopher" URL after its authority: RFC 1738 section 3.4. All fields are decoded, as
// sent to a server.
type Gopher struct {
	Type      byte // '1', a menu, if it is absent
	Selector  string
	Search    string
	HasSearch bool
	Plus      string // Gopher+ string
	HasPlus   bool
}

var (
	ruleSelector = newRule("gopher_line_end", "selector", "RFC 1738 section 3.4.1",
		"neither a selector nor a search contains a carriage return or line feed")
	ruleUNASCII = newRule("gopher_nul", "UNASCII", "RFC 1436 appendix",
		"neither a selector nor a search contains a NUL, not even percent-encoded")
	ruleGopherType = newRule("gopher_type", "gtype", "RFC 1738 section 3.4.1",
		"a type is one character, which is not a control")
)

// Gopher returns the parts of a "gopher" URL. The error is a *ParseError.
func (u URI) Gopher() (Gopher, error) {
	if !u.hasScheme("gopher") {
		return Gopher{}, failure(u.s, 0, RuleOtherScheme)
	}
	if err := u.checkServerNoUser(); err != nil {
		return Gopher{}, err
	}
	g := Gopher{Type: '1'}
	// No character is reserved within the path, not even "?".
	path, at, err := u.pathText()
	if err != nil {
		return Gopher{}, err
	}
	if len(path) < 2 {
		return g, nil
	}
	size := 1 // of the type, which is one byte, percent-encoded or not
	if path[1] == '%' {
		size = 3
	}
	g.Type = decode(path[1 : 1+size])[0]
	if isControl(g.Type) {
		return Gopher{}, failure(u.s, at+1, ruleGopherType)
	}
	at += 1 + size
	parts := strings.SplitN(path[1+size:], "%09", 3)
	// The third part, an electronic form (section 3.4.9), has several lines.
	for _, part := range parts[:min(len(parts), 2)] {
		if i := indexEncoded(part, isGopherEnd); i >= 0 {
			if strings.HasPrefix(part[i:], "%00") {
				return Gopher{}, failure(u.s, at+i, ruleUNASCII)
			}
			return Gopher{}, failure(u.s, at+i, ruleSelector)
		}
		at += len(part) + len("%09")
	}
	g.Selector = decode(parts[0])
	if len(parts) > 1 {
		g.Search, g.HasSearch = decode(parts[1]), true
	}
	if len(parts) > 2 {
		g.Plus, g.HasPlus = decode(parts[2]), true
	}
	return g, nil
}

// isGopherEnd reports whether RFC 1436 excludes b from UNASCII. It also excludes the tab, which separates the
// parts here.
func isGopherEnd(b byte) bool { return isLineEnd(b) || b == 0 }

// gopherForm adds a missing type. In "/?" it is not missing: the type is "?".
func gopherForm(dst []byte, start int, hasQuery bool) []byte {
	if hasQuery {
		return dst
	}
	switch string(dst[start:]) {
	case "":
		return append(dst, '/', '1')
	case "/":
		return append(dst, '1')
	}
	return dst
}
