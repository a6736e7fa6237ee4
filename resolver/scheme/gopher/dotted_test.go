package gopher

import (
	"io"
	"testing"
)

// Servers that add no dots, or no end, send what was meant all the same.
func TestDotted(t *testing.T) {
	for text, want := range map[string]string{
		"a\r\n..b\r\n.\r\n":           "a\r\n.b\r\n",
		"a\n..b\n.\n":                 "a\n.b\n",
		"a\r\nb\r\n":                  "a\r\nb\r\n",
		"a\r\nb":                      "a\r\nb",
		"a\r\n.":                      "a\r\n",
		".\r\n":                       "",
		"a\r\n.\r\nb\r\n":             "a\r\n.\r\nb\r\n",
		"a\r\n.\r\nb\r\n..c\r\n.\r\n": "a\r\n.\r\nb\r\n..c\r\n",
		"..a\r\n.b\r\n..c\r\n":        ".a\r\n.b\r\n..c\r\n",
		"a.\r\n":                      "a.\r\n",
	} {
		const buffer = 16
		if got, err := io.ReadAll(testDotted(text, false, buffer)); err != nil || string(got) != want {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
		}
	}
}
