package uri

// MaxLength is the longest text that is parsed, in octets. It keeps offsets
// small; a server sets far lower limits of its own.
const MaxLength = 1 << 24

// Parse parses an absolute URI: one that begins with a scheme. Nothing is
// repaired: spaces, controls, non-ASCII octets and stray percent signs are
// errors. The error is a *ParseError.
func Parse(s string) (URI, error) {
	u, err := ParseReference(s)
	if err != nil {
		return URI{}, err
	}
	if !u.IsAbsolute() {
		return URI{}, fault(s, 0, RuleURI)
	}
	return u, nil
}

// ParseReference parses a URI reference: absolute or relative, and the empty
// text is the reference to the current document (RFC 3986 section 4.1). The
// error is a *ParseError.
func ParseReference(s string) (URI, error) {
	if len(s) > MaxLength {
		return URI{}, fault(s, MaxLength, RuleLength)
	}
	u := URI{s: s, valid: true}
	i, err := u.parseScheme()
	if err != nil {
		return URI{}, err
	}
	if len(s) >= i+2 && s[i] == '/' && s[i+1] == '/' {
		start := i + 2
		if i, err = parseAuthority(s, start); err != nil {
			var ok bool
			if i, ok = u.parseRegistry(start); !ok {
				return URI{}, err
			}
		}
	}
	u.path = uint32(i) //nolint:gosec // MaxLength fits
	if i, err = scan(s, i, classPath, RulePath); err != nil {
		return URI{}, err
	}
	u.query = uint32(i) //nolint:gosec // MaxLength fits
	if i < len(s) && s[i] == '?' {
		if i, err = scan(s, i+1, classQuery, RuleQuery); err != nil {
			return URI{}, err
		}
	}
	u.frag = uint32(i) //nolint:gosec // MaxLength fits
	if i < len(s) {    // s[i] is "#": scan stops only there or at "?"
		if i, err = scan(s, i+1, classQuery, RuleFragment); err != nil {
			return URI{}, err
		}
		if i < len(s) {
			return URI{}, fault(s, i, RuleFragment)
		}
	}
	return u, nil
}

// parseScheme sets the scheme and returns the offset behind its colon, or 0
// where there is none. A colon in the first segment that ends no scheme is an
// error: RFC 3986 section 4.2.
func (u *URI) parseScheme() (int, error) {
	s := u.s
	for i := range len(s) {
		switch b := s[i]; {
		case b == ':':
			if i == 0 || !is(s[0], classAlpha) {
				return 0, fault(s, i, RuleNoScheme)
			}
			u.scheme = uint32(i)
			return i + 1, nil
		case !is(b, classScheme):
			return 0, u.checkNoScheme(i)
		}
	}
	return 0, nil
}

// checkNoScheme looks for a colon in the first segment from offset i on.
func (u *URI) checkNoScheme(i int) error {
	for j := i; j < len(u.s); j++ {
		switch u.s[j] {
		case '/', '?', '#':
			return nil
		case ':':
			return fault(u.s, i, RuleScheme)
		}
	}
	return nil
}

// scan returns the offset of the first "?" or "#" that does not belong to
// class c, or the end; any other octet outside c is an error.
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
				return 0, fault(s, i, RulePctEncoded)
			}
			i += 3
		case '?', '#':
			return i, nil
		default:
			return 0, fault(s, i, rule)
		}
	}
	return i, nil
}

// isTriple reports whether a complete percent-encoded octet begins at i.
func isTriple(s string, i int) bool {
	return i+2 < len(s) && s[i] == '%' && is(s[i+1], classHex) && is(s[i+2], classHex)
}
