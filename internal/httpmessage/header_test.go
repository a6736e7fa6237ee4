package httpmessage_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/urnd/urnd/internal/httpmessage"
)

// TestHeaderImplementations checks that all implementations of Header agree, and that nil is empty.
func TestHeaderImplementations(t *testing.T) {
	header := http.Header{"Accept": {"a", "b"}, "Origin": {""}, "Via": {}}
	for name, tt := range map[string]struct {
		lines       httpmessage.Header
		has         bool // Accept and Origin
		first, list string
	}{
		"nil":       {nil, false, "", ""},
		"no header": {httpmessage.NewHeader(nil), false, "", ""},
		"a header":  {httpmessage.NewHeader(header), true, "a", "a, b"},
		"fields":    {httpmessage.FromHeader(header).Values, true, "a", "a, b"},
	} {
		l := tt.lines
		if l.Has("Accept") != tt.has || l.Has("Origin") != tt.has || l.Has("Via") || l.Get("Via")+l.List("Via") != "" {
			t.Errorf("%s: Accept %t, Origin %t, Via %t", name, l.Has("Accept"), l.Has("Origin"), l.Has("Via"))
		}
		var want []string
		if tt.has {
			want = header["Accept"]
		}
		if !slices.Equal(l.Values("Accept"), want) || l.Get("Accept") != tt.first || l.List("Accept") != tt.list {
			t.Errorf("%s: %q, %q, %q", name, l.Values("Accept"), l.Get("Accept"), l.List("Accept"))
		}
	}
}
