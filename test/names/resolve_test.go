//go:build e2e

package names

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urnd/urnd/test/urndtest"
)

// TestResolveLines checks that each line of standard input yields one line of output, in the same order.
func TestResolveLines(t *testing.T) {
	t.Parallel()
	var in, want strings.Builder
	for i := range 500 {
		if i%100 == 7 {
			in.WriteString("no name\n")
			want.WriteString("error: ")
		} else {
			fmt.Fprintf(&in, "urn:ietf:rfc:%d\r\n", i+1)
			fmt.Fprintf(&want, "https://www.rfc-editor.org/info/rfc%d", i+1)
		}
		want.WriteString("\n")
	}
	r := urndtest.RunWith(t, nil, in.String(), "resolve", "-")
	if r.Status != 1 || r.Err != "" {
		t.Errorf("some fail: %d, %s", r.Status, r.Err)
	}
	got, wanted := strings.Split(r.Out, "\n"), strings.Split(want.String(), "\n")
	if len(got) != len(wanted) {
		t.Fatalf("%d lines, want %d", len(got), len(wanted))
	}
	for i, line := range wanted {
		if !strings.HasPrefix(got[i], line) {
			t.Errorf("line %d: %q, want %q", i, got[i], line)
		}
	}
	if r := urndtest.RunWith(t, nil, "urn:ietf:rfc:1\n\n", "resolve", "--output=json", "-"); r.Status != 1 ||
		strings.Count(r.Out, "\n") != 2 ||
		!strings.Contains(r.Out, `"error":{"message"`) {
		t.Errorf("as JSON: %+v", r)
	}
	if out, err := urndtest.Run(t, "urn:isbn:0-395-36341-1\n", "resolve", "--all", "-"); err != nil ||
		strings.Count(out, "\t") != 1 {
		t.Errorf("all locations: %q, %v", out, err)
	}
	for text, want := range map[string]string{
		"0-395-36341-1":           "https://openlibrary.org/isbn/0395363411\n",
		"\ufeff<urn:ietf:rfc:2> ": "https://www.rfc-editor.org/info/rfc2\n",
		"doi:10.1000/182":         "https://doi.org/10.1000/182\n",
	} {
		if out, err := urndtest.Run(t, "", "resolve", text); err != nil || out != want {
			t.Errorf("%q: %q, %v", text, out, err)
		}
	}
	if r := urndtest.RunWith(t, nil, "", "resolve", "--trace", "-"); r.Status == 0 ||
		!strings.Contains(r.Err, "use --output json") {
		t.Errorf("a trace of lines: %+v", r)
	}
}

// TestResolveWithoutFile checks that urnd resolve reports why the registry is unavailable, and creates none.
func TestResolveWithoutFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "registry.db")
	r := urndtest.RunWith(t, []string{"URND_REGISTRY_STORE=sqlite:" + path}, "", "resolve", "--config=", "urn:nbn:fi:a")
	if r.Status != 1 {
		t.Errorf("%+v", r)
	}
	if _, err := os.Stat(path); err == nil || !strings.Contains(r.Err, "no file "+path) {
		t.Errorf("%v %s", err, r.Err)
	}
}
