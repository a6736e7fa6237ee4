package uri_test

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/idna"

	"github.com/urnd/urnd/uri"
)

// schemeNames are the schemes in the numbering of FuzzScheme.
var schemeNames = []string{
	"ftp", "gopher", "mailto", "news", "nntp", "telnet", "wais", "file", "prospero", "http", "https", "ws", "wss",
	"z39.50r", "z39.50s",
}

// schemeSeeds returns the inputs of all vectors for schemes.
func schemeSeeds(f *testing.F) (seeds []string) {
	f.Helper()
	for _, pattern := range []string{"scheme_*.tsv", "seed*.tsv", "rfc1738.tsv"} {
		names, err := filepath.Glob(filepath.Join("testdata", pattern))
		if err != nil || len(names) == 0 {
			f.Fatalf("no vectors %s: %v", pattern, err)
		}
		for _, name := range names {
			data, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			for line := range strings.Lines(string(data)) {
				if in, _, _ := strings.Cut(strings.TrimSpace(line), "\t"); !strings.HasPrefix(in, "# ") {
					seeds = append(seeds, in)
				}
			}
		}
	}
	return seeds
}

// FuzzScheme: the normal form of a well-formed URI is well formed, has the same server and the same parts, and
// is stable.
func FuzzScheme(f *testing.F) {
	for _, s := range schemeSeeds(f) {
		name, rest, _ := strings.Cut(s, ":")
		if i := slices.Index(schemeNames, strings.ToLower(name)); i >= 0 {
			f.Add(uint8(i), rest)
		}
	}
	f.Fuzz(func(t *testing.T, scheme uint8, rest string) {
		u, err := uri.Parse(schemeNames[int(scheme)%len(schemeNames)] + ":" + rest)
		if err != nil || u.Check() != nil {
			return
		}
		checkForm(t, u)
	})
}

// FuzzCheck: the functions for the parts of any scheme accept any parsed URI, and return nil or an error about
// this text.
func FuzzCheck(f *testing.F) {
	for _, s := range schemeSeeds(f) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		u, err := uri.ParseReference(s)
		if err != nil {
			return
		}
		errs := allParts(u)
		for _, err := range append(errs[:], u.Check()) {
			var parseErr *uri.ParseError
			if err == nil {
				continue
			}
			if !errors.As(err, &parseErr) || parseErr.Input != s || parseErr.Offset < 0 || parseErr.Offset > len(s) {
				t.Fatalf("%q: %#v", s, err)
			}
		}
	})
}

// checkForm checks the normal form of u, which is well formed.
func checkForm(t *testing.T, u uri.URI) {
	t.Helper()
	normal := u.Normalize()
	if err := normal.Check(); err != nil {
		t.Fatalf("%q: the normal form is wrong: %v", u, err)
	}
	if again := normal.Normalize(); again != normal {
		t.Fatalf("%q normalizes to %q, then to %q", u, normal, again)
	}
	if parsed := mustParse(t, normal.String()); parsed != normal {
		t.Fatalf("%q: the normal form has other offsets than its text", normal)
	}
	explained := u
	for _, c := range u.ExplainNormalize() {
		explained = c.After
	}
	if explained != normal || !uri.Compare(u, normal).Equivalent() {
		t.Fatalf("%q normalizes to %q, step by step to %q", u, normal, explained)
	}
	if before, after := meaning(t, u), meaning(t, normal); before != after {
		t.Fatalf("%q means %s\n%q means %s", u, before, normal, after)
	}
}

// meaning returns all parts of u, decoded, as one string, which normalization must not change.
func meaning(t *testing.T, u uri.URI) string {
	t.Helper()
	all := []string{strings.ToLower(u.Scheme()), server(t, u)}
	for _, part := range []func() (string, bool){u.Userinfo, u.Fragment} {
		text, ok := part()
		all = append(all, fmt.Sprint(ok, unescape(t, text)))
	}
	// RFC 3986 section 6.2.2.3 removes the dot segments of every hierarchy.
	clean := u.NormalizeSteps(uri.DecodeUnreserved | uri.DotSegments | uri.EmptyPath)
	parts, err := schemeParts(clean)
	if err != nil {
		t.Fatalf("%q: %v", clean, err)
	}
	switch all[0] {
	case "mailto": // domains are case-insensitive
		m, err := u.Mailto()
		if err != nil {
			t.Fatalf("%q: %v", u, err)
		}
		parts = fieldParts(m.Fields)
		for _, address := range m.To {
			at := strings.LastIndexByte(address, '@') + 1
			parts += " " + address[:at] + strings.ToLower(address[at:])
		}
	case "http", "https", "ws", "wss", "telnet", "file": // without parts of their own
		query, ok := u.Query()
		path := clean.Path()
		if strings.HasPrefix(path, "/.//") { // no authority, RFC 3986 section 3.3
			path = path[len("/."):]
		}
		var segments []string // decoded one by one: "%2F" is not "/"
		for segment := range strings.SplitSeq(path, "/") {
			segments = append(segments, unescape(t, segment))
		}
		parts = fmt.Sprintf("%q %v %s", segments, ok, unescape(t, query))
	}
	return strings.Join(append(all, parts), " | ")
}

// server returns the host and the port, or the default port.
func server(t *testing.T, u uri.URI) string {
	t.Helper()
	host, _ := u.Host()
	if strings.HasPrefix(host, "[") {
		host = mustParse(t, "x://"+host).Normalize().String()
	}
	host = strings.ToLower(unescape(t, host))
	if ascii, err := idna.Lookup.ToASCII(host); err == nil &&
		strings.IndexFunc(host, func(r rune) bool { return r >= 0x80 }) >= 0 {
		host = ascii
	}
	if strings.EqualFold(u.Scheme(), "file") && host == "localhost" {
		host = ""
	}
	port, _ := u.Port()
	if port == "" {
		port = u.DefaultPort()
	}
	if port == "" {
		return host
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(host, ":", n)
}

// unescape decodes with net/url, which is independent of this package.
func unescape(t *testing.T, s string) string {
	t.Helper()
	decoded, err := url.PathUnescape(s)
	if err != nil {
		t.Fatal(err)
	}
	return decoded
}
