package tabular_test

import (
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/tabular"
)

// TestFormulas checks that a formula is guarded by an apostrophe, and that removing it restores the cell.
func TestFormulas(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "a": "a", "https://a.example/=1": "https://a.example/=1", "12": "12", "-12": "-12", "'": "'",
		"'a": "'a", "'12": "'12", "'-12": "'-12", "=1+1": "'=1+1", "+358 9": "'+358 9", "-x": "'-x",
		"@SUM(1)": "'@SUM(1)", "  =1": "'  =1", "\t=1": "'\t=1", "\uff1d1": "'\uff1d1", "\r=1": "\"'\r=1\"",
		"\n=1": "\"'\n=1\"", "'=1": "''=1", "''=1": "'''=1",
		"-1 ": "\"'-1 \"",
	} {
		written := written(t, "x", text)
		if written != "x,"+want+"\n" {
			t.Errorf("%q: %q, want %q", text, written, want)
		}
		rows := read(t, "a,b\n"+written)
		if len(rows) != 1 || rows[0].Err != nil || tabular.Unguard(rows[0].Cells[1]) != text {
			t.Errorf("%q comes back as %+v", text, rows)
		}
	}
}

// written returns the output for a row.
func written(t *testing.T, cells ...string) string {
	t.Helper()
	var b strings.Builder
	w := tabular.NewWriter(&b, ',')
	if err := w.Write(cells...); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
