package uri

import "strings"

// Prospero is the part of a "prospero" URL after its authority: RFC 1738 section 3.11. All fields are decoded.
type Prospero struct {
	HSOName string // host-specific object name; opaque
	Fields  []Field
}

var (
	ruleProspero = newRule("prospero_object", "prosperourl", "RFC 1738 section 5",
		"a prospero URL names an object after the host")
	ruleFieldspec = newRule("prospero_field", "fieldspec", "RFC 1738 section 5",
		"a semicolon is followed by name=value")
)

// Prospero returns the parts of a "prospero" URL. The error is a *ParseError.
func (u URI) Prospero() (Prospero, error) {
	if !u.hasScheme("prospero") {
		return Prospero{}, failure(u.s, 0, RuleOtherScheme)
	}
	if err := u.checkServerNoUser(); err != nil {
		return Prospero{}, err
	}
	path, at, err := u.pathText()
	if err != nil {
		return Prospero{}, err
	}
	if len(path) < 2 || path[1] == ';' {
		return Prospero{}, failure(u.s, at+min(len(path), 1), ruleProspero)
	}
	parts := strings.Split(path[1:], ";")
	p := Prospero{HSOName: decode(parts[0])}
	at += 1 + len(parts[0])
	for _, part := range parts[1:] {
		name, value, ok := strings.Cut(part, "=")
		if !ok || name == "" || strings.Contains(value, "=") {
			return Prospero{}, failure(u.s, at+1, ruleFieldspec)
		}
		p.Fields = append(p.Fields, Field{Name: decode(name), Value: decode(value)})
		at += len(part) + 1
	}
	return p, nil
}
