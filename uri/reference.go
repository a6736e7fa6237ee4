package uri

import "strings"

// Profile is an algorithm of reference resolution. The zero value is that of
// RFC 3986.
type Profile uint8

// The profiles. They differ in three things: the drafts keep surplus ".."
// and the dot segments of absolute paths, and read "?y" as a query on an empty
// last segment, where RFC 3986 keeps the whole path of the base.
const (
	// RFC3986 is section 5.2 of the standard, strict: "http:g" is absolute.
	RFC3986 Profile = iota
	// Draft is section 5.2 of draft-fielding-uri-syntax-02, which keeps
	// surplus ".." segments as part of the path.
	Draft
	// DraftRemove is Draft with surplus ".." removed.
	DraftRemove
	// DraftRefuse is Draft with surplus ".." as an error.
	DraftRefuse
)

// Resolve returns the target of ref, relative to u. u must be absolute. The
// only errors are a relative base and, in DraftRefuse, a surplus "..".
func (u URI) Resolve(ref URI, p Profile) (URI, error) {
	if !u.IsAbsolute() || !ref.valid {
		return URI{}, fault(u.s, 0, RuleURI)
	}
	if ref.IsAbsolute() && p != RFC3986 {
		return ref, nil
	}
	t := target{scheme: u.Scheme()}
	t.query, t.hasQuery = ref.Query()
	_, refAuthority := ref.Authority()
	switch path := ref.Path(); {
	case ref.IsAbsolute():
		t.scheme = ref.Scheme()
		t.authorityOf(ref)
		t.path = cleanPath(path, refAuthority)
	case refAuthority:
		t.authorityOf(ref)
		t.path = path
		if p == RFC3986 {
			t.path = cleanPath(path, true)
		}
	case path == "" && (p == RFC3986 || !t.hasQuery):
		t.authorityOf(u)
		t.path = u.Path()
		if !t.hasQuery {
			t.query, t.hasQuery = u.Query()
		}
	case strings.HasPrefix(path, "/"):
		t.authorityOf(u)
		t.path = path
		if p == RFC3986 {
			t.path = cleanPath(path, t.hasAuthority)
		}
	default:
		t.authorityOf(u)
		merged := mergePaths(u, path)
		if p == RFC3986 {
			t.path = cleanPath(merged, t.hasAuthority)
			break
		}
		var err error
		if t.path, err = draftPath(merged, p); err != nil {
			return URI{}, fault(ref.s, 0, RuleSurplus)
		}
	}
	t.fragment, t.hasFragment = ref.Fragment()
	return t.recompose()
}

// mergePaths is RFC 3986 section 5.2.3.
func mergePaths(base URI, path string) string {
	if _, ok := base.Authority(); ok && base.Path() == "" {
		return "/" + path
	}
	return base.Path()[:strings.LastIndexByte(base.Path(), '/')+1] + path
}

func cleanPath(path string, hasAuthority bool) string {
	return string(removeDotSegments([]byte(path), 0, hasAuthority))
}

// target is the URI being put together, RFC 3986 section 5.3.
type target struct {
	scheme, authority, path, query, fragment string
	hasAuthority, hasQuery, hasFragment      bool
}

func (t *target) authorityOf(u URI) { t.authority, t.hasAuthority = u.Authority() }

func (t *target) recompose() (URI, error) {
	var b strings.Builder
	b.WriteString(t.scheme)
	b.WriteByte(':')
	if t.hasAuthority {
		b.WriteString("//")
		b.WriteString(t.authority)
	}
	b.WriteString(t.path)
	if t.hasQuery {
		b.WriteByte('?')
		b.WriteString(t.query)
	}
	if t.hasFragment {
		b.WriteByte('#')
		b.WriteString(t.fragment)
	}
	return Parse(b.String())
}
