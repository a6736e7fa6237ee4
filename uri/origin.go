package uri

// SameOrigin resolves a raw URI reference (see ParseRawReference) against base. It returns the normal form of
// the target without fragment, and whether it is of the same origin: RFC 9110 section 4.3.1.
func SameOrigin(base, reference string) (target string, same bool) {
	from, err := Parse(base)
	if err != nil {
		return "", false
	}
	relative, err := ParseRawReference(reference)
	if err != nil {
		return "", false
	}
	to, err := from.Resolve(relative, RFC3986)
	if err != nil {
		return "", false
	}
	to = to.WithoutFragment().Normalize()
	return to.String(), SameServer(from, to)
}
