package resolver_test

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// TestLookalikes checks the tables in docs/lookalikes.md and in testdata.
func TestLookalikes(t *testing.T) {
	var text []byte
	for _, path := range []string{"../docs/lookalikes.md", "testdata/lookalikes.md"} {
		tables, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, tables...)
	}
	names := resolver.Names{Set: builtin(t), Accept: uri.CurrentURN}
	rows := 0
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if !strings.HasPrefix(line, "| ") || len(cells) != 4 || cells[1] == "looks like" {
			continue
		}
		rows++
		this, other := cell(t, strings.TrimPrefix(cells[0], "| ")), cell(t, cells[1])
		key, want := keyOf(names, this), cells[2]
		if !strings.HasPrefix(want, "refused: ") {
			want = cell(t, want)
		}
		if key != want {
			t.Errorf("%q: the table has %q, but the key is %q", this, want, key)
		}
		if key == keyOf(names, other) && !strings.HasPrefix(key, "refused: ") {
			t.Errorf("%q and %q have one key", this, other)
		}
	}
	if rows < 57 {
		t.Errorf("the table has %d rows", rows)
	}
}

// cell returns the code in a table cell, which may be quoted.
func cell(t *testing.T, s string) string {
	t.Helper()
	code := strings.Trim(s, "`")
	if !strings.HasPrefix(code, `"`) {
		return code
	}
	text, err := strconv.Unquote(code)
	if err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return text
}

// keyOf returns the key of a text, or the rule that rejects it.
func keyOf(names resolver.Names, text string) string {
	u, err := uri.Parse(text)
	if err == nil {
		u, err = names.CanonicalName(u)
	}
	var refusal *uri.ParseError
	if errors.As(err, &refusal) {
		return "refused: " + refusal.Rule.Name
	}
	return u.String()
}
