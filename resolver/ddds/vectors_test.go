package ddds

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// vector is one line of a file in testdata, with fields separated by tabs. The last field is "=" and the
// expected result, or "!" and a part of the expected error. section is that of the last "# section" line above
// it.
type vector struct {
	fields  []string
	want    string
	failure string
	where   string
	section string
}

func readVectors(t testing.TB, name string, fields int) []vector {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	var vectors []vector
	section := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || strings.HasPrefix(line, "# ") {
			section = strings.TrimPrefix(line, "# ")
			continue
		}
		split := strings.Split(line, "\t")
		if len(split) != fields {
			t.Fatalf("%s: %q has %d fields, want %d", name, line, len(split), fields)
		}
		v := vector{fields: split[:fields-1], where: name + ": " + line, section: section}
		switch last := split[fields-1]; {
		case strings.HasPrefix(last, "="):
			v.want = last[1:]
		case strings.HasPrefix(last, "!") && len(last) > 1:
			v.failure = last[1:]
		default:
			t.Fatalf("%s: %q ends neither in =result nor in !error", name, line)
		}
		vectors = append(vectors, v)
	}
	if len(vectors) == 0 {
		t.Fatalf("%s has no vectors", name)
	}
	return vectors
}

// check compares an outcome with the expected one.
func (v vector) check(t *testing.T, got string, err error) {
	t.Helper()
	switch {
	case v.failure == "" && (err != nil || got != v.want):
		t.Errorf("%s (%s): got %q, %v", v.where, v.section, got, err)
	case v.failure != "" && (err == nil || !strings.Contains(err.Error(), v.failure)):
		t.Errorf("%s (%s): got %q, %v", v.where, v.section, got, err)
	}
}
