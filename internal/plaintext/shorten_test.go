package plaintext_test

import (
	"testing"

	"github.com/urnd/urnd/internal/plaintext"
)

// TestShorten checks that a text is cut between characters and marked with an ellipsis.
func TestShorten(t *testing.T) {
	for _, c := range []struct {
		text       string
		most       int
		cut, short string
	}{
		{"", 0, "", ""},
		{"abc", 3, "abc", "abc"},
		{"abcd", 3, "abc", "abc…"},
		{"äö", 3, "ä", "ä…"},
		{"äö", 1, "", "…"},
		{"ab cd", 3, "ab ", "ab…"},
		{"\xff\xff\xff", 2, "\xff\xff", "\xff\xff…"},
		{"\x80\x80", 1, "", "…"},
	} {
		if cut, short := plaintext.Truncate(c.text, c.most), plaintext.Shorten(c.text, c.most); cut != c.cut ||
			short != c.short {
			t.Errorf("%q, %d: %q and %q, want %q and %q", c.text, c.most, cut, short, c.cut, c.short)
		}
	}
}
