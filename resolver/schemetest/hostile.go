package schemetest

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

// hostileNames returns names that do harm if a handler, a page or a client misinterprets them.
func hostileNames() []string {
	return []string{
		"plain", `<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `'onmouseover='x`, "&amp;&lt;",
		"%0d%0aSet-Cookie: a=b", "%0D%0AQUIT",
		"%00", "..", "../../etc/passwd", `..\..\x`, "javascript:alert(1)", "data:text/html,x", "//evil.example/x",
		"http://evil.example/", "a;type=a", ";type=d", "a?b=c", "a#b", "a%2fb", "a+b", "a&b", "a=b", "a b", " leading",
		"trailing ", "~", "*", "[x]", "{x}", "a|b", "a^b`c", "user:password@host", "-l", "--help", "$(id)", "`id`",
		"\u00e9t\u00e9", "\u4e2d\u6587", "caf\xe9", "\xff\xfe\x80", "\xc3\x28", "\xf0\x9f\x98", "\u202egnp.exe",
		"a\u2066b\u2069", "a\u2028b\u2029c", "\u200bzero", "\ufeffbom", "\x1b[31mred", "bell\x07", "\x7f", "\x01\x02",
		"\u0085next", ".", ".hidden", "total 12", "drwxr-xr-x 2 0 0 0 Jan 1 1970 x", strings.Repeat("long", 10<<10/4),
	}
}

// checkNames lists hostile names.
func checkNames(t *testing.T, s Suite) {
	if s.Listing == nil {
		t.Skip("no listing")
	}
	r := s.start(t, Server{Names: hostileNames()}, failingWrites{}, generousLimits())
	defer r.close(t)
	got := r.get(t, r.uris()["listing"])
	if got.err != nil || got.listing == nil {
		t.Fatalf("listing of hostile names: %s", got)
	}
	checkHeader(t, "listing", got)
	checkListing(t, got.listing)
	if !slices.ContainsFunc(got.listing.Items, func(i scheme.Item) bool { return strings.Contains(i.Name, "plain") }) {
		t.Errorf("plain name missing in the listing: %s", got)
	}
	r.follow(t, got.listing)
}

// follow requires that each link requests the name that it stands for.
func (r *fixture) follow(t *testing.T, l *scheme.Listing) {
	t.Helper()
	knows := false
	for _, name := range hostileNames() {
		if strings.Contains(name, "/") || name == "." || name == ".." {
			continue // not a single path segment
		}
		at := slices.IndexFunc(l.Items,
			func(i scheme.Item) bool { return i.Name == scheme.DecodeText(name) && i.URI != "" })
		if at < 0 || !strings.Contains(l.Items[at].URI, r.server.address()) {
			continue
		}
		r.server.forget()
		got := r.get(t, l.Items[at].URI)
		checkHeader(t, l.Items[at].URI, got)
		requested := r.server.requestedName()
		knows = knows || len(requested) > 0
		if knows && !requested[name] {
			t.Errorf("link of %.80q, %.200s, resolves to %.200q: %s", name, l.Items[at].URI,
				slices.Collect(maps.Keys(requested)), got)
		}
	}
}

// checkHeader requires that no header field has a line end or NUL.
func checkHeader(t testing.TB, what string, o outcome) {
	t.Helper()
	for _, f := range o.header {
		if strings.ContainsAny(f.Name+f.Value, "\r\n\x00") {
			t.Errorf("%.80s: line end or NUL in the field %q: %q", what, f.Name, f.Value)
		}
	}
}

// checkListing requires what scheme.Listing documents: texts without control characters; URIs that are
// absolute, in normal form, without passwords, and of no scheme that runs code.
func checkListing(t testing.TB, l *scheme.Listing) {
	t.Helper()
	checkTexts(t, append(append([]string{l.Kind, l.Title, l.Incomplete}, l.Warnings...), l.Notes...)...)
	if l.Text != scheme.DecodeLines(l.Text) {
		t.Errorf("control characters or invalid UTF-8 in Text: %.200q", l.Text)
	}
	checkURI(t, l.URI)
	for _, link := range []*scheme.Link{l.Parent, l.Previous, l.Next, l.Open} {
		if link != nil {
			checkTexts(t, link.Text)
			checkURI(t, link.URI)
		}
	}
	for _, p := range l.Properties {
		checkTexts(t, p.Name, p.Value)
		checkURI(t, p.URI)
	}
	if l.Search != nil {
		checkTexts(t, l.Search.Label)
		checkURI(t, l.Search.Prefix)
	}
	for _, i := range l.Items {
		checkTexts(t, i.Kind, i.Name, i.Type, i.From, i.Note)
		checkURI(t, i.URI)
	}
}

func checkTexts(t testing.TB, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if text != scheme.DecodeText(text) {
			t.Errorf("control characters or invalid UTF-8: %.200q", text)
		}
	}
}

func checkURI(t testing.TB, text string) {
	t.Helper()
	if text == "" {
		return
	}
	u, err := uri.Parse(text)
	if err != nil {
		t.Errorf("invalid URI: %.200q: %v", text, err)
		return
	}
	if err := u.Check(); err != nil {
		t.Errorf("malformed URI: %.200q: %v", text, err)
	}
	if userinfo, _ := u.Userinfo(); strings.Contains(userinfo, ":") {
		t.Errorf("password in a URI: %.200q", text)
	}
	if normal := u.Normalize().String(); normal != text {
		t.Errorf("URI not normalized: %.200q, want %.200q", text, normal)
	}
	switch u.Scheme() {
	case "javascript", "data", "vbscript", "blob", "about":
		t.Errorf("script URI: %.200q", text)
	}
}
