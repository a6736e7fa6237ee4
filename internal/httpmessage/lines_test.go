package httpmessage_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/urnd/urnd/internal/httpmessage"
)

// TestLines checks that all implementations of Lines agree, and that nil is empty.
func TestLines(t *testing.T) {
	header := http.Header{"Accept": {"a", "b"}, "Origin": {""}, "Via": {}}
	for name, tt := range map[string]struct {
		lines       httpmessage.Lines
		has         bool // Accept and Origin
		first, list string
	}{
		"nil":       {nil, false, "", ""},
		"no header": {httpmessage.LinesOf(nil), false, "", ""},
		"a header":  {httpmessage.LinesOf(header), true, "a", "a, b"},
		"fields":    {httpmessage.FromHeader(header).Lines, true, "a", "a, b"},
	} {
		l := tt.lines
		if l.Has("Accept") != tt.has || l.Has("Origin") != tt.has || l.Has("Via") || l.Value("Via")+l.List("Via") != "" {
			t.Errorf("%s: Accept %t, Origin %t, Via %t", name, l.Has("Accept"), l.Has("Origin"), l.Has("Via"))
		}
		var want []string
		if tt.has {
			want = header["Accept"]
		}
		if !slices.Equal(l.Of("Accept"), want) || l.Value("Accept") != tt.first || l.List("Accept") != tt.list {
			t.Errorf("%s: %q, %q, %q", name, l.Of("Accept"), l.Value("Accept"), l.List("Accept"))
		}
	}
}
