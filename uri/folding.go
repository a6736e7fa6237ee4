package uri

import "strings"

// Case is a transformation of the case of letters in an NSS.
type Case uint8

// The cases. All of them make percent-encodings upper case.
const (
	KeepCase Case = iota
	LowerCase
	UpperCase
)

// Folding is the set of differences between NSSs of a namespace that are insignificant: case, and bytes to
// leave out. The zero value is RFC 8141 alone. It is safe for concurrent use.
type Folding struct {
	// table maps each byte before the first until, or every byte if until is 0; bytes mapped to 0 are left out.
	// nil changes nothing.
	table *[256]byte
	until byte
}

// NewFolding returns a Folding that changes the case of letters and leaves out the bytes of strip, up to the
// first byte until, or everywhere if until is 0.
func NewFolding(c Case, strip string, until byte) Folding {
	if c == KeepCase && strip == "" {
		return Folding{}
	}
	f := Folding{table: new([256]byte), until: until}
	for i := range f.table {
		b := byte(i)
		switch {
		case strings.IndexByte(strip, b) >= 0:
			continue
		case c == LowerCase:
			b = Lower(b)
		case c == UpperCase:
			b = Upper(b)
		}
		f.table[i] = b
	}
	return f
}

// Canonical returns the name of v in the canonical form of all equivalent names: "urn" and the NID in lower
// case, percent-encodings in upper case and never decoded (RFC 8141 section 3.1), and the NSS folded. It
// allocates nothing if v has that form already. The error is a *ParseError if the folded text is no NSS.
func (v URN) Canonical(f Folding) (URN, error) {
	if !v.changes(f) {
		return v.Name(), nil
	}
	var buf [128]byte // longer ones go to the heap
	text, err := v.appendCanonical(buf[:0], f)
	if err != nil {
		return URN{}, err
	}
	return v.renamed(string(text)), nil
}

// CanonicalIn is Canonical without an allocation if the name fits into room. text converts bytes to a string
// and may share their memory: the name is then valid only until room is modified.
func (v URN) CanonicalIn(f Folding, room []byte, text func([]byte) string) (URN, error) {
	if !v.changes(f) {
		return v.Name(), nil
	}
	name, err := v.appendCanonical(room[:0], f)
	if err != nil {
		return URN{}, err
	}
	return v.renamed(text(name)), nil
}

// changes reports whether the canonical name differs from v without its components.
func (v URN) changes(f Folding) bool {
	nid, nss := v.Parts()
	return v.u.s[:len(urnPrefix)] != urnPrefix || hasUpper(nid) || f.changes(nss)
}

// appendCanonical appends the canonical name to dst.
func (v URN) appendCanonical(dst []byte, f Folding) ([]byte, error) {
	nid, nss := v.Parts()
	dst = append(dst, urnPrefix...)
	dst = append(appendLower(dst, nid), ':')
	start := len(dst)
	dst = f.append(dst, nss)
	if len(dst) == start || dst[start] == '/' {
		return nil, failure(v.u.s, v.u.queryStart(), RuleNSS)
	}
	return dst, nil
}

// renamed returns the URN of a canonical name, whose NID has the length of that of v.
func (v URN) renamed(text string) URN {
	return newURN(newURI(text, len(urnPrefix)-1, len(urnPrefix), len(text), len(text)), len(v.NID()))
}

const urnPrefix = "urn:"

func hasUpper(s string) bool {
	for i := range len(s) {
		if 'A' <= s[i] && s[i] <= 'Z' {
			return true
		}
	}
	return false
}

// changes reports whether append would change nss.
func (f Folding) changes(nss string) bool {
	if f.table == nil {
		return hasLowerHex(nss)
	}
	for i := 0; i < len(nss); i++ {
		switch b := nss[i]; {
		case b == f.until:
			return hasLowerHex(nss[i:])
		case b == '%':
			if hasLowerHex(nss[i : i+3]) {
				return true
			}
			i += 2
		case f.table[b] != b:
			return true
		}
	}
	return false
}

// hasLowerHex reports whether s has a percent-encoding that is not in upper case.
func hasLowerHex(s string) bool {
	for {
		i := strings.IndexByte(s, '%')
		if i < 0 {
			return false
		}
		if s[i+1] != Upper(s[i+1]) || s[i+2] != Upper(s[i+2]) {
			return true
		}
		s = s[i+3:]
	}
}

// append appends the folded nss to dst.
func (f Folding) append(dst []byte, nss string) []byte {
	for i := 0; i < len(nss); i++ {
		b := nss[i]
		if b == '%' {
			dst = append(dst, '%', Upper(nss[i+1]), Upper(nss[i+2]))
			i += 2
			continue
		}
		if b == f.until {
			f = Folding{}
		}
		if f.table != nil {
			if b = f.table[b]; b == 0 {
				continue
			}
		}
		dst = append(dst, b)
	}
	return dst
}
