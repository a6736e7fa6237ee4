package uri_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/urnd/urnd/uri"
)

// TestSources reads one file per specification, with a line for each example: the URI, its scheme, userinfo,
// host, port, path, query and fragment ("-" if undefined), and the parts that its scheme defines ("none"
// without any), or "error OFFSET RULE" for examples that the specification shows as wrong or as a template.
func TestSources(t *testing.T) {
	for _, name := range []string{"seed000.tsv", "rfc1738.tsv", "seed003.tsv", "seed004.tsv"} {
		for _, v := range readVectors(t, name, 9) {
			in, want := v.fields[0], v.fields[1:]
			if strings.HasPrefix(want[7], "error ") {
				if got := failureOf(t, in); got != want[7] {
					t.Errorf("%s (%s): got %q", v.where, v.section, got)
				}
				continue
			}
			u := mustParse(t, in)
			if err := u.Check(); err != nil {
				t.Errorf("%s (%s): %v", v.where, v.section, err)
				continue
			}
			if u.String() != in {
				t.Errorf("%s: prints as %q", v.where, u)
			}
			checkAgainstAppendixB(t, u)
			parts, err := schemeParts(u)
			if got := append(components(u), parts); err != nil || strings.Join(got, "\t") != strings.Join(want, "\t") {
				t.Errorf("%s (%s): got %q, %v", v.where, v.section, got, err)
			}
		}
	}
}

// failureOf returns the error of Parse or Check for s as "error OFFSET RULE".
func failureOf(t *testing.T, s string) string {
	t.Helper()
	u, err := uri.Parse(s)
	if err == nil {
		err = u.Check()
	}
	if err == nil {
		return "no error"
	}
	var parseErr *uri.ParseError
	if !errors.As(err, &parseErr) || parseErr.Input != s || parseErr.Rule.Section == "" ||
		parseErr.Rule.Requirement == "" {
		t.Fatalf("%q: %v is not a complete *ParseError of it", s, err)
	}
	return fmt.Sprintf("error %d %s", parseErr.Offset, parseErr.Rule.Name)
}

func components(u uri.URI) []string {
	text := func(s string, ok bool) string {
		if !ok {
			return "-"
		}
		return s
	}
	return []string{
		u.Scheme(), text(u.Userinfo()), text(u.Host()), text(u.Port()), u.Path(), text(u.Query()), text(u.Fragment()),
	}
}

// schemeParts returns the parts that the scheme of u defines, in one line.
func schemeParts(u uri.URI) (string, error) {
	switch strings.ToLower(u.Scheme()) {
	case "ftp":
		f, err := u.FTP()
		return ftpParts(f), err
	case "gopher":
		g, err := u.Gopher()
		return gopherParts(g), err
	case "mailto":
		m, err := u.Mailto()
		return mailtoParts(m), err
	case "news":
		n, err := u.News()
		if n.MessageID != "" {
			return fmt.Sprintf("message-id %q%s", n.MessageID, newsQueryPart(n.Query)), err
		}
		return fmt.Sprintf("group %q%s", n.Group, newsQueryPart(n.Query)), err
	case "nntp":
		n, err := u.NNTP()
		return fmt.Sprintf("group %q article %q%s", n.Group, n.Article, newsQueryPart(n.Query)), err
	case "wais":
		w, err := u.WAIS()
		return waisParts(w), err
	case "z39.50r", "z39.50s":
		z, err := u.Z3950()
		return fmt.Sprintf("databases %q docid %q elements %q syntaxes %q", z.Databases, z.DocID, z.ElementSet,
			z.Syntaxes), err
	case "prospero":
		p, err := u.Prospero()
		return fmt.Sprintf("hsoname %q", p.HSOName) + fieldParts(p.Fields), err
	case "urn":
		v, err := u.URN()
		return urnParts(v), err
	}
	return "none", nil
}

// newsQueryPart returns a query with its name, or "" without a query.
func newsQueryPart(q uri.NewsQuery) string {
	if q == (uri.NewsQuery{}) {
		return ""
	}
	return fmt.Sprintf(" query %q", q)
}

func ftpParts(f uri.FTP) string {
	var b strings.Builder
	if len(f.Dirs) > 0 {
		b.WriteString("cwd")
	}
	for _, dir := range f.Dirs {
		fmt.Fprintf(&b, " %q", dir)
	}
	fmt.Fprintf(&b, " name %q", f.Name)
	if f.Type != 0 {
		fmt.Fprintf(&b, " type %c", f.Type)
	}
	return strings.TrimPrefix(b.String(), " ")
}

func gopherParts(g uri.Gopher) string {
	s := fmt.Sprintf("type %c selector %q", g.Type, g.Selector)
	if g.HasSearch {
		s += fmt.Sprintf(" search %q", g.Search)
	}
	if g.HasPlus {
		s += fmt.Sprintf(" plus %q", g.Plus)
	}
	return s
}

func mailtoParts(m uri.Mailto) string {
	s := "to"
	for _, address := range m.To {
		s += fmt.Sprintf(" %q", address)
	}
	return s + fieldParts(m.Fields)
}

func fieldParts(fields []uri.Field) (s string) {
	for _, f := range fields {
		s += fmt.Sprintf(" %q=%q", f.Name, f.Value)
	}
	return s
}

func waisParts(w uri.WAIS) string {
	s := fmt.Sprintf("database %q", w.Database)
	if w.HasSearch {
		s += fmt.Sprintf(" search %q", w.Search)
	}
	if w.Type != "" || w.Path != "" {
		s += fmt.Sprintf(" type %q path %q", w.Type, w.Path)
	}
	return s
}

func urnParts(v uri.URN) string {
	s := fmt.Sprintf("nid %q nss %q", v.NID(), v.NSS())
	for _, d := range v.Directives() {
		s += " " + d.Keyword + "=" + d.Value
	}
	if f, ok := v.F(); ok {
		s += fmt.Sprintf(" f %q", f)
	}
	return s
}

// TestSchemeParts checks parts of URLs without an example in the specifications, including those of RFCs that
// updated schemes of RFC 1738.
func TestSchemeParts(t *testing.T) {
	for _, v := range append(readVectors(t, "scheme_parts.tsv", 2), readVectors(t, "scheme_z3950.tsv", 2)...) {
		if strings.HasPrefix(v.fields[1], "error ") {
			if got := failureOf(t, v.fields[0]); got != v.fields[1] {
				t.Errorf("%s (%s): got %s", v.where, v.section, got)
			}
			continue
		}
		u := mustParse(t, v.fields[0])
		if err := u.Check(); err != nil {
			t.Errorf("%s (%s): %v", v.where, v.section, err)
		}
		if got, err := schemeParts(u); err != nil || got != v.fields[1] {
			t.Errorf("%s (%s): got %s, %v", v.where, v.section, got, err)
		}
	}
}

// productions are those of RFC 1738 section 5 that an input can break. In scheme_errors.tsv, the section of a
// production has inputs that break it, each with the name of its rule in this package.
var productions = []string{
	"httpurl", "hostport", "hostname", "hostnumber", "port", "login", "user", "password", "ftpurl", "fsegment",
	"ftptype", "fileurl", "gopherurl", "gtype", "selector", "mailtourl", "newsurl", "group", "article", "nntpurl",
	"digits", "telneturl", "waisdatabase", "waisindex", "waisdoc", "prosperourl", "fieldspec", "scheme", "escape",
}

// TestSchemeErrors: each production has at least three inputs that fail, with an offset and a rule.
func TestSchemeErrors(t *testing.T) {
	count := make(map[string]int)
	for _, v := range readVectors(t, "scheme_errors.tsv", 3) {
		if got, want := failureOf(t, v.fields[0]), "error "+v.fields[1]+" "+v.fields[2]; got != want {
			t.Errorf("%s (%s): got %s", v.where, v.section, got)
		}
		production, _, _ := strings.Cut(strings.TrimPrefix(v.section, "RFC 1738 section 5 "), ":")
		count[production]++
	}
	for _, production := range productions {
		if count[production] < 3 {
			t.Errorf("%s: %d inputs fail, want at least 3", production, count[production])
		}
	}
}

// TestSchemeForm: an input and its normal form. If the input is well formed, so is the normal form, with the
// same parts.
func TestSchemeForm(t *testing.T) {
	for _, v := range readVectors(t, "scheme_forms.tsv", 2) {
		u := mustParse(t, v.fields[0])
		got := u.Normalize()
		if got.String() != v.fields[1] {
			t.Errorf("%s (%s): got %q", v.where, v.section, got)
		}
		if again := got.Normalize(); again != got { // also if the input is not well formed
			t.Errorf("%s: normalizing twice gives %q", v.where, again)
		}
		if u.Check() == nil {
			checkForm(t, u)
		}
	}
}

// TestSchemesApart: the lines of a section are all well formed, and no two of them are equivalent.
func TestSchemesApart(t *testing.T) {
	sections := make(map[string][]uri.URI)
	for _, v := range readVectors(t, "scheme_apart.tsv", 1) {
		u := mustParse(t, v.fields[0])
		if err := u.Check(); err != nil {
			t.Errorf("%s: %v", v.where, err)
		}
		for _, other := range sections[v.section] {
			if c := uri.Compare(u, other); c.Equivalent() {
				t.Errorf("%s: %q and %q are equivalent (%s)", v.section, other, u, c.Reason)
			}
		}
		sections[v.section] = append(sections[v.section], u)
	}
}

// TestDefaultPorts: RFC 1738 section 3, and the sections in the table of schemes.
func TestDefaultPorts(t *testing.T) {
	for scheme, port := range map[string]string{
		"ftp": "21", "http": "80", "gopher": "70", "news": "119", "nntp": "119", "telnet": "23", "wais": "210",
		"z39.50r": "210", "z39.50s": "210", "prospero": "1525", "https": "443", "ws": "80", "wss": "443",
		"file": "", "mailto": "", "urn": "", "unknown": "", "FTP": "21", "Https": "443",
	} {
		u := mustParse(t, scheme+"://h:"+port+"/x")
		if got := u.DefaultPort(); got != port {
			t.Errorf("%s has the default port %q, want %q", scheme, got, port)
		}
		if got := u.Normalize().String(); got != strings.ToLower(scheme)+"://h/x" {
			t.Errorf("%s: the default port stays in %s", scheme, got)
		}
		other := mustParse(t, scheme+"://h:1"+port+"/x")
		if got := other.Normalize().String(); got != strings.ToLower(other.String()) {
			t.Errorf("%s: %s becomes %s", scheme, other, got)
		}
	}
}

// TestNormalizeAllocates: normalizing a URI that is in normal form allocates nothing.
func TestNormalizeAllocates(t *testing.T) {
	for _, s := range []string{
		"ftp://u:p@h/a/b;type=i", "gopher://h/1a%09b", "mailto:A@b.example,C@d.example?x=Y", "news:A@b", "nntp://h/g/1",
		"telnet://h/", "wais://h/d/t/p", "file:///a", "file://localhosts/a", "file://" + strings.Repeat("h", 40) + "/a",
		"prospero://h/a;b=c", "https://h/", "urn:a1:b",
	} {
		u := mustParse(t, s)
		if n := testing.AllocsPerRun(10, func() { _ = u.Normalize() }); n != 0 || u.Normalize() != u {
			t.Errorf("%s: %v allocations, and %q", s, n, u.Normalize())
		}
	}
}

// TestCheckZero: a URI without a scheme breaks no rule of a scheme, and has no parts.
func TestCheckZero(t *testing.T) {
	empty, err := uri.ParseReference("")
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range []uri.URI{{}, empty} {
		if err := u.Check(); err != nil {
			t.Error(err)
		}
		for i, err := range allParts(u) {
			if err == nil {
				t.Errorf("scheme %d has parts of a URI without a scheme", i)
			}
		}
	}
}

// allParts returns the errors of the functions for the parts of all schemes.
func allParts(u uri.URI) (errs [9]error) {
	_, errs[0] = u.FTP()
	_, errs[1] = u.Gopher()
	_, errs[2] = u.Mailto()
	_, errs[3] = u.News()
	_, errs[4] = u.NNTP()
	_, errs[5] = u.WAIS()
	_, errs[6] = u.Prospero()
	_, errs[7] = u.URN()
	_, errs[8] = u.Z3950()
	return errs
}

// The row of a scheme determines where its URIs may be links, and whether they need a host.
func TestUsesOfSchemes(t *testing.T) {
	for _, c := range []struct {
		text                       string
		isLocation, isLink, noHost bool
	}{
		{"http://a.example/", true, true, false},
		{"Z39.50R://a.example/db", true, true, false},
		{"mailto:a@b.example", true, true, true},
		{"news:a.b", true, true, true},
		{"urn:example:a", false, true, false},
		{"gemini://a.example/", false, true, false},
		{"file:///a", false, false, true},
		{"wss://a.example/", false, false, false},
		{"javascript:alert(1)", false, false, false},
	} {
		u := mustParse(t, c.text)
		if u.IsLocation() != c.isLocation || u.IsLink() != c.isLink || u.MayLackHost() != c.noHost {
			t.Errorf("%s: location %t, link %t, no host %t", c.text, u.IsLocation(), u.IsLink(), u.MayLackHost())
		}
		if slices.Contains(uri.LocationSchemes(), strings.ToLower(u.Scheme())) != c.isLocation {
			t.Errorf("%s: locations are of %q", c.text, uri.LocationSchemes())
		}
	}
}

// Requests may use the ports of locations, and the other ports of the web and of news. Excluded are those of
// mail, of logins without a password, and of schemes that only pages may link to.
func TestIsServicePort(t *testing.T) {
	var got []uint16
	for port := range uint16(1024) {
		if uri.IsServicePort(port) {
			got = append(got, port)
		}
	}
	if want := []uint16{21, 23, 70, 80, 119, 210, 280, 443, 488, 563, 591, 777}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
