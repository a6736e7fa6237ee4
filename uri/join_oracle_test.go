package uri_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/urnd/urnd/uri"
)

// The oracle of FuzzJoin: reference resolution written exactly as in the specifications. It uses nothing of
// package uri but the names of its profiles.

// oraclePart is a component that may be undefined: RFC 3986 section 5.2.1.
type oraclePart struct {
	text    string
	defined bool
}

// oracleParts are the five components of RFC 3986 section 5.2.2.
type oracleParts struct {
	scheme, authority, query, fragment oraclePart
	path                               string
}

// oracleSplit is RFC 3986 appendix B. A component is defined if its delimiter is present, even if it is empty.
func oracleSplit(s string) oracleParts {
	m := appendixB.FindStringSubmatch(s)
	return oracleParts{
		scheme:    oraclePart{m[2], m[1] != ""},
		authority: oraclePart{m[4], m[3] != ""},
		path:      m[5],
		query:     oraclePart{m[7], m[6] != ""},
		fragment:  oraclePart{m[9], m[8] != ""},
	}
}

// String is RFC 3986 section 5.3, which is step 7 of section 5.2 of the draft.
func (c oracleParts) String() string {
	result := ""
	if c.scheme.defined {
		result += c.scheme.text + ":"
	}
	if c.authority.defined {
		result += "//" + c.authority.text
	}
	// The only rule of urnd that neither specification has: without an authority no path starts with "//" (RFC
	// 3986 section 3.3), as it would be parsed as one. A segment without effect is inserted.
	if !c.authority.defined && strings.HasPrefix(c.path, "//") {
		result += "/."
	}
	result += c.path
	if c.query.defined {
		result += "?" + c.query.text
	}
	if c.fragment.defined {
		result += "#" + c.fragment.text
	}
	return result
}

// oracleTransform is RFC 3986 section 5.2.2, strict.
func oracleTransform(base, r oracleParts) oracleParts {
	t := r // T.fragment = R.fragment, and everything not assigned below
	if r.scheme.defined {
		t.path = oracleRemoveDots(r.path)
		return t
	}
	t.scheme = base.scheme
	if r.authority.defined {
		t.path = oracleRemoveDots(r.path)
		return t
	}
	t.authority = base.authority
	switch {
	case r.path == "":
		t.path = base.path
		if !r.query.defined {
			t.query = base.query
		}
	case strings.HasPrefix(r.path, "/"):
		t.path = oracleRemoveDots(r.path)
	default:
		t.path = oracleRemoveDots(oracleMerge(base, r.path))
	}
	return t
}

// oracleMerge is RFC 3986 section 5.2.3. Step 6 a of the draft lacks its first case: "g" on "http://a" would be
// "http://ag", another authority, although the grammar of the draft requires a slash (net_path = "//" authority
// [ abs_path ]). RFC 3986 appendix D.2 calls that an error, so the profiles of the draft have the case too.
func oracleMerge(base oracleParts, path string) string {
	if base.authority.defined && base.path == "" {
		return "/" + path
	}
	return base.path[:strings.LastIndex(base.path, "/")+1] + path
}

// oracleRemoveDots is RFC 3986 section 5.2.4, step by step.
func oracleRemoveDots(input string) (output string) {
	for input != "" {
		switch {
		case strings.HasPrefix(input, "../"): // A
			input = input[len("../"):]
		case strings.HasPrefix(input, "./"):
			input = input[len("./"):]
		case strings.HasPrefix(input, "/./"): // B
			input = input[len("/."):]
		case input == "/.":
			input = "/"
		case strings.HasPrefix(input, "/../"): // C
			input = input[len("/.."):]
			output = output[:max(strings.LastIndex(output, "/"), 0)]
		case input == "/..":
			input = "/"
			output = output[:max(strings.LastIndex(output, "/"), 0)]
		case input == "." || input == "..": // D
			input = ""
		default: // E
			end := strings.Index(input[1:], "/") + 1
			if end == 0 {
				end = len(input)
			}
			output += input[:end]
			input = input[end:]
		}
	}
	return output
}

// errAboveRoot is the error of step 6 g.
var errAboveRoot = errors.New("surplus segments")

// oracleDraft is section 5.2 of draft-fielding-uri-syntax-02.
func oracleDraft(base, r oracleParts, p uri.Profile) (oracleParts, error) {
	if r.path == "" && !r.scheme.defined && !r.authority.defined && !r.query.defined { // 2
		base.fragment = r.fragment // of the current document, section 4.2
		return base, nil
	}
	if r.scheme.defined { // 3
		return r, nil
	}
	r.scheme = base.scheme
	if r.authority.defined { // 4
		return r, nil
	}
	r.authority = base.authority
	if strings.HasPrefix(r.path, "/") { // 5
		return r, nil
	}
	buffer := oracleBuffer(base, r.path)
	path, surplus := removeSurplus(buffer) // 6 g
	switch {
	case surplus && p == uri.DraftRefuse:
		return oracleParts{}, errAboveRoot
	case p == uri.DraftRemove:
		buffer = path
	}
	r.path = buffer // 6 h
	return r, nil
}

// oracleBuffer is step 6 a to f, the last four pattern by pattern.
func oracleBuffer(base oracleParts, path string) string {
	buffer := oracleMerge(base, path) // 6 a, b
	for _, step := range oracleSteps {
		for removed := true; removed; {
			buffer, removed = removeLeftmost(buffer, step)
		}
	}
	return buffer
}

// oracleSteps are the patterns of steps 6 c to f. Each returns the number of bytes to remove from a complete
// segment and the rest of the buffer after it, 0 for no match.
var oracleSteps = []func(segment, rest string) int{
	func(segment, rest string) int { // c
		return lengthIf(segment == "." && strings.HasPrefix(rest, "/"), len("./"))
	},
	func(segment, rest string) int { // d
		return lengthIf(segment == "." && rest == "", len("."))
	},
	func(segment, rest string) int { // e
		return lengthIf(segment != ".." && strings.HasPrefix(rest, "/../"), len(segment+"/../"))
	},
	func(segment, rest string) int { // f
		return lengthIf(segment != ".." && rest == "/..", len(segment+"/.."))
	},
}

func lengthIf(ok bool, length int) int {
	if !ok {
		return 0
	}
	return length
}

// removeLeftmost removes the leftmost match of a pattern from the buffer. The initial "/" of a buffer precedes
// its first segment, rather than following an empty one: path = [ "/" ] path_segments, section 3.3 of the
// draft.
func removeLeftmost(buffer string, pattern func(segment, rest string) int) (string, bool) {
	for i := range len(buffer) {
		if i == 0 && buffer[0] == '/' || i > 0 && buffer[i-1] != '/' {
			continue // no segment starts here
		}
		segment, _, _ := strings.Cut(buffer[i:], "/")
		if n := pattern(segment, buffer[i+len(segment):]); n > 0 {
			return buffer[:i] + buffer[i+n:], true
		}
	}
	return buffer, false
}

// removeSurplus removes the leading ".." segments of a buffer, and reports whether there were any.
func removeSurplus(buffer string) (string, bool) {
	root := ""
	if strings.HasPrefix(buffer, "/") {
		root, buffer = "/", buffer[1:]
	}
	surplus := false
	for buffer == ".." || strings.HasPrefix(buffer, "../") {
		buffer = strings.TrimPrefix(buffer[len(".."):], "/")
		surplus = true
	}
	return root + buffer, surplus
}

// oracleResolve resolves ref by the specification of p.
func oracleResolve(b, r oracleParts, p uri.Profile) (string, error) {
	if p == uri.RFC3986 {
		return oracleTransform(b, r).String(), nil
	}
	t, err := oracleDraft(b, r, p)
	if err != nil {
		return "", err
	}
	return t.String(), nil
}

var allProfiles = map[string]uri.Profile{
	"rfc3986": uri.RFC3986, "draft": uri.Draft, "draft-remove": uri.DraftRemove, "draft-refuse": uri.DraftRefuse,
}

// checkOracle compares a result of the oracle with that of a specification.
func checkOracle(t *testing.T, where, base, ref string, p uri.Profile, want string) {
	t.Helper()
	got, err := oracleResolve(oracleSplit(base), oracleSplit(ref), p)
	if err != nil {
		got = "error"
	}
	if got != want {
		t.Errorf("%s, profile %d: the oracle says %q, not %q", where, p, got, want)
	}
}

// TestOracle resolves the examples of RFC 3986 section 5.4 and of appendix C of the draft with the oracle. The
// latter are valid for all three treatments of surplus "..", except for the two references with surplus
// segments.
func TestOracle(t *testing.T) {
	for _, v := range readVectors(t, "resolve.tsv", 4) {
		base, ref, want := v.fields[1], v.fields[2], v.fields[3]
		checkOracle(t, v.where, base, ref, allProfiles[v.fields[0]], want)
		if !strings.HasPrefix(v.section, "draft-fielding-uri-syntax-02 appendix C") {
			continue
		}
		removed, refused := want, want
		if ref == "../../../g" || ref == "../../../../g" {
			removed, refused = "http://a/g", "error"
		}
		checkOracle(t, v.where, base, ref, uri.DraftRemove, removed)
		checkOracle(t, v.where, base, ref, uri.DraftRefuse, refused)
	}
}

// checkJoin compares Resolve with the oracle in all profiles.
func checkJoin(t *testing.T, base, ref uri.URI) {
	t.Helper()
	b, r := oracleSplit(base.String()), oracleSplit(ref.String())
	for name, p := range allProfiles {
		want, wantErr := oracleResolve(b, r, p)
		got, err := base.Resolve(ref, p)
		if (err == nil) != (wantErr == nil) || got.String() != want {
			t.Errorf("%s: %q + %q is %q, %v; the oracle says %q, %v", name, base, ref, got, err, want, wantErr)
		}
	}
}

// shortPaths returns all paths of up to n bytes of "/", "." and a letter.
func shortPaths(n int) []string {
	paths := []string{""}
	for from := 0; n > 0; n-- {
		to := len(paths)
		for _, path := range paths[from:to] {
			paths = append(paths, path+"/", path+".", path+"a")
		}
		from = to
	}
	return paths
}

// TestJoinShortPaths covers short paths completely, which FuzzJoin would only find by chance.
func TestJoinShortPaths(t *testing.T) {
	var refs []uri.URI
	for _, path := range shortPaths(5) {
		ref, err := uri.ParseReference(path)
		if err != nil {
			t.Fatal(err)
		}
		refs = append(refs, ref)
	}
	for _, prefix := range []string{"x:", "x://h"} {
		for _, path := range shortPaths(3) {
			base := mustParse(t, prefix+path)
			for _, ref := range refs {
				checkJoin(t, base, ref)
			}
		}
	}
}

// FuzzJoin: Resolve returns the same targets as the oracle.
func FuzzJoin(f *testing.F) {
	for _, base := range []string{"http://a/b/c/d;p?q", "http://a", "x:a/b", "x:/a//..", "x:", "x:///?q#f"} {
		for _, ref := range []string{
			"", "#s", "?y", "//g/./h", "/./g/../h", "g;x=1/../y?z#s", "../../../g/.", "./..//g", "..", "./a:b",
			"http:g/..",
		} {
			f.Add(base, ref)
		}
	}
	f.Fuzz(func(t *testing.T, base, ref string) {
		b, err := uri.Parse(base)
		if err != nil {
			return
		}
		if r, err := uri.ParseReference(ref); err == nil {
			checkJoin(t, b, r)
		}
	})
}
