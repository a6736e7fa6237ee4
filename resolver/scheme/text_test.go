package scheme_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/urnd/urnd/resolver/scheme"
)

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"a b":             "a b",
		"Grüße":           "Grüße",
		"Gr\xfc\xdfe":     "Grüße",
		"\x80":            "€",
		"a\tb":            "a\tb",
		"a\r\nb\x00\x1b[": "a\ufffd\ufffdb\ufffd\ufffd[",
		"txt\u202egpj":    "txt\ufffdgpj",
		"a\u2066b\u2028":  "a\ufffdb\ufffd",
		"":                "",
	} {
		if got := scheme.DecodeText(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if got := scheme.DecodeLines("a\r\nb\nc\rd\xff"); got != "a\nb\nc\ufffdd\u00ff" {
		t.Errorf("%q", got)
	}
}

// FuzzText requires that a text is valid UTF-8, has no control characters except tabs, and does not change when
// decoded again.
func FuzzText(f *testing.F) {
	for _, seed := range []string{"a", "\xff\x00", "\u202e", "a\r\nb", "\u0085"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		text := scheme.DecodeText(s)
		if !utf8.ValidString(text) || strings.ContainsAny(text, "\r\n\x00\x1b\x7f") || scheme.DecodeText(text) != text {
			t.Errorf("%q: %q", s, text)
		}
		if lines := scheme.DecodeLines(s); strings.ContainsAny(lines, "\r\x00\x1b") ||
			scheme.DecodeLines(lines) != lines {
			t.Errorf("%q: %q", s, lines)
		}
	})
}
