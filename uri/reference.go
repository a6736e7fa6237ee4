package uri

import "strings"

// Profile is an algorithm of reference resolution. The zero value is that of RFC 3986.
type Profile uint8

// The profiles. The profiles of the draft keep surplus ".." segments, and the dot segments of references that
// have a scheme, an authority or an absolute path. They resolve "?y" with an empty last segment, where RFC 3986
// keeps the whole path of the base, and remove "a/../" from the start of a path with its slash. docs/uri.md has
// a table.
const (
	// RFC3986 is section 5.2 of RFC 3986, strict: "http:g" is absolute.
	RFC3986 Profile = iota
	// Draft is section 5.2 of draft-fielding-uri-syntax-02, which keeps surplus ".." segments as part of the
	// path.
	Draft
	// DraftRemove is Draft with surplus ".." segments removed.
	DraftRemove
	// DraftRefuse is Draft with surplus ".." segments as an error.
	DraftRefuse
)

// Resolve returns the target of ref, relative to u, which must be absolute. The errors are a relative base, an
// invalid reference and, in DraftRefuse, a surplus "..".
func (u URI) Resolve(ref URI, p Profile) (URI, error) {
	if !u.IsAbsolute() || !ref.IsValid() {
		return URI{}, failure(u.s, 0, RuleURI)
	}
	if ref.IsAbsolute() && p != RFC3986 {
		return ref, nil
	}
	t := target{profile: p, scheme: u.Scheme()}
	t.query, t.hasQuery = ref.Query()
	t.fragment, t.hasFragment = ref.Fragment()
	_, refAuthority := ref.Authority()
	switch path := ref.Path(); {
	case ref.IsAbsolute():
		t.scheme = ref.Scheme()
		t.setAuthority(ref)
		t.setPath(path)
	case refAuthority:
		t.setAuthority(ref)
		t.setPath(path)
	case path == "" && (p == RFC3986 || !t.hasQuery):
		t.setAuthority(u)
		t.path = u.Path()
		if !t.hasQuery {
			t.query, t.hasQuery = u.Query()
		}
	case strings.HasPrefix(path, "/"):
		t.setAuthority(u)
		t.setPath(path)
	default:
		t.setAuthority(u)
		if err := t.merge(u, path); err != nil {
			return URI{}, failure(ref.s, 0, RuleSurplus)
		}
	}
	return t.recompose()
}

// mergePaths is RFC 3986 section 5.2.3. Step 6a of the draft omits the slash after an authority, which its own
// grammar requires (RFC 3986 appendix D.2).
func mergePaths(base URI, path string) string {
	if _, ok := base.Authority(); ok && base.Path() == "" {
		return "/" + path
	}
	return base.Path()[:strings.LastIndexByte(base.Path(), '/')+1] + path
}

// target is the target URI under construction, RFC 3986 section 5.3.
type target struct {
	profile                                  Profile
	scheme, authority, path, query, fragment string
	hasAuthority, hasQuery, hasFragment      bool
}

func (t *target) setAuthority(u URI) { t.authority, t.hasAuthority = u.Authority() }

// setPath sets the path. RFC 3986 removes its dot segments, the draft does not.
func (t *target) setPath(path string) {
	t.path = path
	if t.profile == RFC3986 {
		t.path = string(removeDotSegments([]byte(path), 0, t.hasAuthority))
	}
}

// merge sets the path to path, relative to base.
func (t *target) merge(base URI, path string) (err error) {
	merged := mergePaths(base, path)
	if t.profile == RFC3986 {
		t.setPath(merged)
		return nil
	}
	t.path, err = draftPath(merged, t.profile)
	return err
}

func (t *target) recompose() (URI, error) {
	var b strings.Builder
	b.WriteString(t.scheme)
	b.WriteByte(':')
	if t.hasAuthority {
		b.WriteString("//")
		b.WriteString(t.authority)
	}
	if !t.hasAuthority && strings.HasPrefix(t.path, "//") {
		b.WriteString("/.") // otherwise the path would be parsed as an authority
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
