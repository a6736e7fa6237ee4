package httpmessage_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/httpmessage"
)

// TestRequestID checks that the request identifier is new, or that of a trusted proxy if it has only safe
// characters, in particular no line breaks.
func TestRequestID(t *testing.T) {
	fresh := regexp.MustCompile(`^[0-9a-f]{16}$`)
	seen := make(map[string]bool)
	for _, tt := range []struct {
		came    string
		trusted bool
		kept    bool
	}{
		{"0af7651916cd43dd8448eb211c80319c", true, true},
		{"0af7651916cd43dd8448eb211c80319c", false, false},
		{"a-b_c.d:e", true, true},
		{"Root=1-67891233-abcdef_.:", true, false},
		{strings.Repeat("a", 64), true, true},
		{strings.Repeat("a", 65), true, false},
		{"", true, false},
		{"a b", true, false},
		{`a"b`, true, false},
		{"ä", true, false},
		{"a%0d%0ab", true, false},
		{"http://user:secret@a.example/", true, false},
		{"a\r\nSet-Cookie: b", true, false},
		{"a\nb", true, false},
		{"\r", true, false},
		{"a\x00b", true, false},
	} {
		got := string(httpmessage.AppendRequestID(nil, tt.came, tt.trusted))
		if tt.kept != (got == tt.came) || !tt.kept && (!fresh.MatchString(got) || seen[got]) {
			t.Errorf("%q, trusted %t: %q", tt.came, tt.trusted, got)
		}
		seen[got] = true
	}
}
