package uri_test

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urnd/urnd/uri"
)

// vector is one line of a file in testdata: fields separated by tabs, and the section of the last "# section"
// line above it.
type vector struct {
	fields  []string
	where   string
	section string
}

func readVectors(t *testing.T, name string, fields int) []vector {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var vectors []vector
	section := ""
	for lines, n := bufio.NewScanner(f), 1; lines.Scan(); n++ {
		line := lines.Text()
		if line == "" || strings.HasPrefix(line, "# ") {
			section = strings.TrimPrefix(line, "# ")
			continue
		}
		v := vector{fields: strings.Split(line, "\t"), where: name + ": " + line, section: section}
		if len(v.fields) != fields {
			t.Fatalf("%s:%d: %d fields, want %d", name, n, len(v.fields), fields)
		}
		vectors = append(vectors, v)
	}
	if len(vectors) == 0 {
		t.Fatalf("%s contains no vectors", name)
	}
	return vectors
}

func TestNormalize(t *testing.T) {
	for _, v := range readVectors(t, "normalize.tsv", 2) {
		u := mustParse(t, v.fields[0])
		got := u.Normalize()
		if got.String() != v.fields[1] {
			t.Errorf("%s (%s): got %q", v.where, v.section, got)
		}
		if again := got.Normalize(); again != got {
			t.Errorf("%s: normalizing twice gives %q", v.where, again)
		}
		if parsed := mustParse(t, got.String()); parsed != got {
			t.Errorf("%s: the normal form has other offsets than its text", v.where)
		}
		explained := u
		for _, c := range u.ExplainNormalize() {
			if c.Before != explained || c.Before == c.After {
				t.Errorf("%s: step %s does not follow", v.where, c.Step)
			}
			explained = c.After
		}
		if explained != got {
			t.Errorf("%s: the steps lead to %q", v.where, explained)
		}
	}
}

func TestResolve(t *testing.T) {
	profiles := map[string]uri.Profile{
		"rfc3986": uri.RFC3986, "draft": uri.Draft, "draft-remove": uri.DraftRemove, "draft-refuse": uri.DraftRefuse,
	}
	for _, v := range readVectors(t, "resolve.tsv", 4) {
		profile, ok := profiles[v.fields[0]]
		if !ok {
			t.Fatalf("%s: no such profile", v.where)
		}
		ref, err := uri.ParseReference(v.fields[2])
		if err != nil {
			t.Fatalf("%s: %v", v.where, err)
		}
		got, err := mustParse(t, v.fields[1]).Resolve(ref, profile)
		if v.fields[3] == "error" {
			if err == nil {
				t.Errorf("%s (%s): got %q", v.where, v.section, got)
			}
			continue
		}
		if err != nil || got.String() != v.fields[3] {
			t.Errorf("%s (%s): got %q, %v", v.where, v.section, got, err)
		}
	}
}

func TestCompare(t *testing.T) {
	for _, v := range readVectors(t, "compare.tsv", 3) {
		a, b := mustParse(t, v.fields[0]), mustParse(t, v.fields[1])
		if got := uri.Compare(a, b); got.Rung.String() != v.fields[2] || got != uri.Compare(b, a) {
			t.Errorf("%s (%s): got %s, reversed %s", v.where, v.section, got.Rung, uri.Compare(b, a).Rung)
		}
	}
}
