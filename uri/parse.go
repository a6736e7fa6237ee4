package uri

// MaxLength is the maximum length of parsed text, in bytes. It keeps offsets small; a server sets far lower
// limits of its own.
const MaxLength = 1 << 24

// Parse parses an absolute URI: one with a scheme. Invalid input is never repaired: spaces, control characters,
// non-ASCII bytes and stray percent signs are errors. The error is a *ParseError.
func Parse(s string) (URI, error) {
	u, err := ParseReference(s)
	if err == nil && u.schemeEnd() == 0 {
		return URI{}, failure(s, 0, RuleURI)
	}
	return u, err
}

// ParseReference parses a URI reference, absolute or relative. The empty string is the reference to the current
// document (RFC 3986 section 4.4). The error is a *ParseError.
func ParseReference(s string) (URI, error) {
	if len(s) > MaxLength {
		return URI{}, failure(s, MaxLength, RuleLength)
	}
	scheme, err := parseScheme(s)
	if err != nil {
		return URI{}, err
	}
	path := 0
	if scheme > 0 {
		path = scheme + 1
	}
	if len(s) >= path+2 && s[path] == '/' && s[path+1] == '/' {
		if path, err = parseAuthority(s, scheme, path+2); err != nil {
			return URI{}, err
		}
	}
	query, err := scan(s, path, classPath, RulePath)
	if err != nil {
		return URI{}, err
	}
	frag := query
	if frag < len(s) && s[frag] == '?' {
		if frag, err = scan(s, frag+1, classQuery, RuleQuery); err != nil {
			return URI{}, err
		}
	}
	if frag < len(s) { // s[frag] is "#": scan stops only there or at "?"
		if err := checkFragment(s, frag+1); err != nil {
			return URI{}, err
		}
	}
	return newURI(s, scheme, path, query, frag), nil
}

// parseScheme returns the length of the scheme, 0 if there is none. A colon in the first segment that does not
// end a scheme is an error: RFC 3986 section 4.2.
func parseScheme(s string) (int, error) {
	for i := range len(s) {
		switch b := s[i]; {
		case is(b, classScheme):
		case b != ':':
			return 0, checkNoScheme(s, i)
		case i == 0 || !is(s[0], classAlpha):
			return 0, failure(s, i, RuleNoScheme)
		default:
			return i, nil
		}
	}
	return 0, nil
}

// checkNoScheme returns an error if the first segment has a colon after offset i.
func checkNoScheme(s string, i int) error {
	for j := i; j < len(s); j++ {
		switch s[j] {
		case '/', '?', '#':
			return nil
		case ':':
			return failure(s, i, RuleScheme)
		}
	}
	return nil
}

// checkFragment checks the fragment that starts at i.
func checkFragment(s string, i int) error {
	i, err := scan(s, i, classQuery, RuleFragment)
	if err == nil && i < len(s) {
		err = failure(s, i, RuleFragment)
	}
	return err
}

// scan returns the offset of the first "?" or "#" that is not in class c, or the end; any other byte outside c
// is an error.
func scan(s string, i int, c class, rule Rule) (int, error) {
	for i < len(s) {
		b := s[i]
		if is(b, c) {
			i++
			continue
		}
		switch b {
		case '%':
			if !isTriple(s, i) {
				return 0, failure(s, i, RulePctEncoded)
			}
			i += 3
		case '?', '#':
			return i, nil
		default:
			return 0, failure(s, i, rule)
		}
	}
	return i, nil
}

// isTriple reports whether a complete percent-encoding starts at i.
func isTriple(s string, i int) bool {
	return i+2 < len(s) && s[i] == '%' && is(s[i+1], classHex) && is(s[i+2], classHex)
}
