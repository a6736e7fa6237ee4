package uri

// Rung is how far up the ladder of comparison two URIs were found to be the
// same (RFC 3986 section 6.2, RFC 8141 section 3). Lower rungs are cheaper and
// need less knowledge. The zero value is Different.
type Rung uint8

// The rungs, from nothing in common upwards.
const (
	Different  Rung = iota
	Identical       // octet for octet, RFC 3986 section 6.2.1
	Syntax          // by case, percent-encoding and dot segments, section 6.2.2
	Scheme          // by default port and empty path, section 6.2.3
	Name            // by the steps for URNs, RFC 8141 section 3.1
	Namespace       // by a rule of the URN's namespace
	Functional      // two names of one thing, as the namespace knows: not lexically equivalent
)

var rungNames = [...]string{"different", "identical", "syntax", "scheme", "urn", "namespace", "functional"}

// String returns the short name of the rung, as the command line prints it.
func (r Rung) String() string { return rungNames[r] }

// Objective is what URNs are compared for: step 5 of section 5 of
// draft-ietf-urnbis-rfc2141bis-urn-03.
type Objective uint8

// The objectives. For other URIs they are the same.
const (
	Naming  Objective = iota // step 5a: do both name one resource? Directives and components do not count.
	Caching                  // step 5b: have both one result? They count, but for the order of directives.
)

// syntaxSteps need no knowledge of the scheme.
const syntaxSteps = SchemeCase | HostCase | IPv6Text | PercentCase | DecodeUnreserved | DotSegments

// Comparison is the answer of Compare.
type Comparison struct {
	Rung   Rung
	Reason string // one clause for a person: "equal after ..."
}

// Equivalent reports whether the two URIs are lexically equivalent. Compared
// for naming, they have one key then; so have URLs that differ in their
// fragments alone, which have no part in retrieval (RFC 3986 section 6.1).
func (c Comparison) Equivalent() bool { return c.Rung != Different && c.Rung != Functional }

// Compare compares two URIs for naming, with the knowledge of this package:
// generic syntax, schemes and the URN steps. Rules of namespaces are urnns's.
// Fragments count, except in URNs.
func Compare(a, b URI) Comparison { return CompareFor(Naming, a, b) }

// CompareFor is Compare for an objective.
func CompareFor(o Objective, a, b URI) Comparison {
	x, y := o.name(a), o.name(b)
	if o == Caching && a != b && !a.IsURN() && !b.IsURN() { // no fragment has a part in a result
		a, b = a.WithoutFragment(), b.WithoutFragment()
	}
	switch {
	case a == b:
		return Comparison{Identical, "equal octet for octet"}
	case a.NormalizeSteps(syntaxSteps) == b.NormalizeSteps(syntaxSteps):
		return Comparison{Syntax, "equal after normalizing case, percent-encoding and dot segments (RFC 3986 section 6.2.2)"}
	case x.IsValid() && x == y:
		return Comparison{Name, o.steps()}
	case !x.IsValid() && a.Normalize() == b.Normalize():
		return Comparison{Scheme, "equal in the normal form of the scheme: default port, empty path and the like (RFC 3986 section 6.2.3)"}
	default:
		return Comparison{Different, "different after every step of normalization"}
	}
}

// steps says which steps made two URNs equal.
func (o Objective) steps() string {
	if o == Caching {
		return "equal after the steps for URNs, for caching (draft-ietf-urnbis-rfc2141bis-urn-03 section 5, step 5b)"
	}
	return "equal after the steps for URNs (RFC 8141 section 3.1)"
}

// name returns the normal form of what counts of a URN, or the zero URI where u
// is none.
func (o Objective) name(u URI) URI {
	v, err := u.URN()
	switch {
	case err != nil:
		return URI{}
	case o == Caching:
		return v.CacheName().URI().Normalize()
	default:
		return v.Name().URI().Normalize()
	}
}
