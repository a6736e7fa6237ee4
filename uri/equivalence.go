package uri

// Rung is a rung of the comparison ladder (RFC 3986 section 6.2, RFC 8141 section 3): the first one at which
// two URIs are equivalent. Lower rungs are cheaper and need less knowledge. The zero value is RungDifferent.
type Rung uint8

// The rungs, from the lowest to the highest.
const (
	RungDifferent  Rung = iota
	RungIdentical       // byte for byte, RFC 3986 section 6.2.1
	RungSyntax          // by case, percent-encoding and dot segments, section 6.2.2
	RungScheme          // by default port and empty path, section 6.2.3
	RungName            // by the steps for URNs, RFC 8141 section 3.1
	RungNamespace       // by a rule of the namespace of the URN
	RungFunctional      // two names of the same resource by the namespace: not lexically equivalent
)

var rungNames = [...]string{"different", "identical", "syntax", "scheme", "urn", "namespace", "functional"}

// String returns the short name of the rung, as printed by the command line.
func (r Rung) String() string { return rungNames[r] }

// Objective is the purpose of a comparison of URNs: step 5 of section 5 of draft-ietf-urnbis-rfc2141bis-urn-03.
type Objective uint8

// The objectives. For other URIs, ObjectiveCaching only ignores the fragment.
const (
	// ObjectiveNaming, step 5a: whether both name the same resource. Directives and components are ignored.
	ObjectiveNaming Objective = iota
	// ObjectiveCaching, step 5b: whether both have the same result. Directives and components count, except for the
	// order of directives.
	ObjectiveCaching
)

// syntaxSteps are the steps that need no knowledge of the scheme.
const syntaxSteps = SchemeCase | HostCase | IPv6Text | PercentCase | DecodeUnreserved | DotSegments

// Comparison is the result of Compare.
type Comparison struct {
	Rung   Rung
	Reason string // a clause for people to read: "equal after ..."
}

// Equivalent reports whether the two URIs are lexically equivalent. URIs that are equivalent for ObjectiveNaming have
// the same key; so do URLs that differ only in their fragments, which play no part in retrieval (RFC 3986
// section 6.1).
func (c Comparison) Equivalent() bool { return c.Rung != RungDifferent && c.Rung != RungFunctional }

// Compare compares two URIs for ObjectiveNaming, with the knowledge of this package: generic syntax, schemes and the
// steps for URNs. Package urnns adds the rules of namespaces. Fragments count, except in URNs.
func Compare(a, b URI) Comparison { return CompareFor(ObjectiveNaming, a, b) }

// CompareFor is Compare for an objective.
func CompareFor(o Objective, a, b URI) Comparison {
	x, y := o.name(a), o.name(b)
	if o == ObjectiveCaching && a != b && !a.IsURN() && !b.IsURN() { // a fragment plays no part in a result
		a, b = a.WithoutFragment(), b.WithoutFragment()
	}
	switch {
	case a == b:
		return Comparison{RungIdentical, "equal byte for byte"}
	case a.NormalizeSteps(syntaxSteps) == b.NormalizeSteps(syntaxSteps):
		return Comparison{
			RungSyntax,
			"equal after normalizing case, percent-encoding and dot segments (RFC 3986 section 6.2.2)",
		}
	case x.IsValid() && x == y:
		return Comparison{RungName, o.steps()}
	case !x.IsValid() && a.Normalize() == b.Normalize():
		return Comparison{
			RungScheme,
			"equal in the normal form of the scheme: default port, empty path and the like (RFC 3986 section 6.2.3)",
		}
	default:
		return Comparison{RungDifferent, "different after every step of normalization"}
	}
}

// steps returns the text for the steps that made two URNs equal.
func (o Objective) steps() string {
	if o == ObjectiveCaching {
		return "equal after the steps for URNs, for caching (draft-ietf-urnbis-rfc2141bis-urn-03 section 5, step 5b)"
	}
	return "equal after the steps for URNs (RFC 8141 section 3.1)"
}

// name returns the normal form of the parts of a URN that are compared, or the zero URI if u is not a URN.
func (o Objective) name(u URI) URI {
	v, err := u.URN()
	switch {
	case err != nil:
		return URI{}
	case o == ObjectiveCaching:
		return v.CacheName().URI().Normalize()
	default:
		return v.Name().URI().Normalize()
	}
}
