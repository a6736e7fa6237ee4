package cachecontrol

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// vectors returns the rows of the vector file: a field value, and the expected directives.
func vectors(tb testing.TB) [][2]string {
	tb.Helper()
	text, err := os.ReadFile("testdata/rfc9111-5.2.tsv")
	if err != nil {
		tb.Fatal(err)
	}
	var rows [][2]string
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSuffix(line, "\n"); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		i := strings.LastIndexByte(line, '\t')
		if i < 0 {
			tb.Fatalf("%q has no tab", line)
		}
		rows = append(rows, [2]string{line[:i], line[i+1:]})
	}
	return rows
}

func TestParse(t *testing.T) {
	for _, row := range vectors(t) {
		if got := Parse(strings.Split(row[0], `\n`)).String(); got != row[1] {
			t.Errorf("%q is read as %q, want %q", row[0], got, row[1])
		}
	}
	if got := Parse(nil); got != nil {
		t.Errorf("no field is read as %v", got)
	}
}

// RFC 9111 sections 1.2.2 and 4.2.1.
func TestSeconds(t *testing.T) {
	const most = (1<<31 - 1) * time.Second
	for field, want := range map[string]time.Duration{
		"max-age=60":                             time.Minute,
		"max-age=0":                              0,
		"max-age=0060":                           time.Minute,
		`max-age="60"`:                           time.Minute,
		"max-age=60, max-age=5":                  time.Minute, // the first one applies
		"max-age=5, max-age=60":                  5 * time.Second,
		"max-age=2147483647":                     most,
		"max-age=2147483648":                     most,
		"max-age=99999999999999999999":           most,
		"max-age=18446744073709551615":           most,
		"max-age":                                0,
		"max-age=":                               0,
		"max-age=x":                              0,
		"max-age=60x":                            0,
		"max-age=1.5":                            0,
		"max-age=-1":                             0,
		"max-age=+1":                             0,
		"max-age=' 60'":                          0,
		"max-age= 60":                            0,
		"max-age=x, max-age=60":                  0,
		`ext="max-age=3600", MAX-AGE=7`:          7 * time.Second,
		"max-age=60;s-maxage=1":                  0,
		"max-age=\xf0\x9f\x98\x80, no-transform": 0,
	} {
		if got, ok := Parse([]string{field}).Seconds("max-age"); got != want || !ok {
			t.Errorf("%q: %s, %t; want %s", field, got, ok, want)
		}
	}
	if got, ok := Parse([]string{`ext="max-age=60"`}).Seconds("max-age"); got != 0 || ok {
		t.Errorf("a directive in a quoted-string: %s, %t", got, ok)
	}
}

// RFC 9111 sections 5.2.2.4 and 5.2.2.7.
func TestFields(t *testing.T) {
	for field, want := range map[string][]string{
		"no-cache":                            nil,
		`no-cache="Set-Cookie"`:               {"set-cookie"},
		`no-cache="Set-Cookie , X-A"`:         {"set-cookie", "x-a"},
		`no-cache=""`:                         nil,
		`no-cache=" , "`:                      nil,
		"no-cache=Set-Cookie":                 {"set-cookie"},
		`no-cache="a", no-cache="b"`:          {"a", "b"},
		`no-cache="a", no-cache`:              nil,
		`no-cache, no-cache="a"`:              nil,
		`private="a", no-cache="b"`:           {"b"},
		`ext="no-cache", no-cache="x", other`: {"x"},
		`no-cache="a`:                         nil, // not closed
		`no-cache="a, b`:                      nil,
		`no-cache="`:                          nil,
		`no-cache="a"b`:                       nil,
		`no-cache="a b"`:                      nil,
		`no-cache="a", no-cache="b`:           nil,
	} {
		d := Parse([]string{field})
		if got := d.Fields("no-cache"); !slices.Equal(got, want) || !d.Has("no-cache") {
			t.Errorf("%q: %q, want %q", field, got, want)
		}
	}
	if d := Parse([]string{`ext="no-store"`}); d.Has("no-store") || d.Fields("no-store") != nil {
		t.Error("a directive in a quoted-string counts")
	}
}

// String and Parse are inverse, and no directive name comes from inside a quoted-string.
func FuzzParse(f *testing.F) {
	for _, row := range vectors(f) {
		f.Add(row[0])
	}
	f.Fuzz(func(t *testing.T, field string) {
		d := Parse([]string{field})
		if strings.ContainsAny(field, "=") &&
			slices.ContainsFunc(d, func(directive Directive) bool {
				return strings.ContainsAny(directive.Name, "=,")
			}) {
			t.Fatalf("%q: a name with a separator in %q", field, d)
		}
		if again := Parse([]string{d.String()}); !slices.Equal(again, d) {
			t.Fatalf("%q parses as %q, and that as %q", field, d, again)
		}
		for _, directive := range d {
			if seconds := DeltaSeconds(directive.Argument); seconds < 0 || seconds > maxSeconds*time.Second {
				t.Fatalf("%q: %s", field, seconds)
			}
		}
	})
}
