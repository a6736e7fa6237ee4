package uri

// Rung is how far up the ladder of comparison two URIs were found to be the
// same (RFC 3986 section 6.2, RFC 8141 section 3). Lower rungs are cheaper and
// need less knowledge. The zero value is Different.
type Rung uint8

// The rungs, from nothing in common upwards.
const (
	Different Rung = iota
	Identical      // octet for octet, RFC 3986 section 6.2.1
	Syntax         // by case, percent-encoding and dot segments, section 6.2.2
	Scheme         // by default port and empty path, section 6.2.3
	Name           // by the steps for URNs, RFC 8141 section 3.1
	Namespace      // by a rule of the URN's namespace
)

var rungNames = [...]string{"different", "identical", "syntax", "scheme", "urn", "namespace"}

// String returns the short name of the rung, as the command line prints it.
func (r Rung) String() string { return rungNames[r] }

// syntaxSteps need no knowledge of the scheme.
const syntaxSteps = SchemeCase | HostCase | IPv6Text | PercentCase | DecodeUnreserved | DotSegments

// Comparison is the answer of Compare.
type Comparison struct {
	Rung   Rung
	Reason string // one clause for a person: "equal after ..."
}

// Equivalent reports whether the two URIs are lexically equivalent. They have
// one key then; so have URLs that differ in their fragments alone, which have no
// part in retrieval (RFC 3986 section 6.1).
func (c Comparison) Equivalent() bool { return c.Rung != Different }

// Compare compares two URIs with the knowledge of this package: generic
// syntax, schemes and the URN steps. Rules of namespaces are urnns's.
// Fragments count, except in URNs.
func Compare(a, b URI) Comparison {
	x, y := nameOf(a), nameOf(b)
	switch {
	case a == b:
		return Comparison{Identical, "equal octet for octet"}
	case a.NormalizeSteps(syntaxSteps) == b.NormalizeSteps(syntaxSteps):
		return Comparison{Syntax, "equal after normalizing case, percent-encoding and dot segments (RFC 3986 section 6.2.2)"}
	case x.valid && x == y:
		return Comparison{Name, "equal after the steps for URNs (RFC 8141 section 3.1)"}
	case !x.valid && a.Normalize() == b.Normalize():
		return Comparison{Scheme, "equal in the normal form of the scheme: default port, empty path and the like (RFC 3986 section 6.2.3)"}
	default:
		return Comparison{Different, "different after every step of normalization"}
	}
}

// nameOf returns the normal form of the assigned name, or the zero URI where u
// is not a URN.
func nameOf(u URI) URI {
	v, err := u.URN()
	if err != nil {
		return URI{}
	}
	return v.Name().URI().Normalize()
}
