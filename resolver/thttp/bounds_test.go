package thttp_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/thttp"
)

// A server cannot make a location or an answer exceed the limits; the trace has the locations that are left
// out.
func TestBounds(t *testing.T) {
	fits, long := "http://a/"+strings.Repeat("a", resolver.MaxLocation-9),
		"http://a/"+strings.Repeat("a", resolver.MaxLocation-8)
	list := "Content-Type: text/uri-list"
	for _, tt := range []struct {
		name, header, body string
		service            resolver.Service
		locations          int // 0 means an error
		trace              string
	}{
		{"the longest Location", "Location: " + fits, "", resolver.I2L, 1, ""},
		{"a longer one", "Location: " + long, "", resolver.I2L, 0, "longer than 8192 bytes"},
		{"the longest line", list, fits + "\n", resolver.I2Ls, 1, ""},
		{"longer lines", list, strings.Repeat(long+"\n", 3) + fits, resolver.I2Ls, 1, "longer than 8192 bytes"},
		{"only longer lines", list, long, resolver.I2Ls, 0, "longer than 8192 bytes"},
		{
			"a longer name", list, "urn:example:" + strings.Repeat("a", resolver.MaxLocation), resolver.I2Ns, 0,
			"longer than 8192 bytes",
		},
		{"a long list", list, strings.Repeat(fits+"\n", 40), resolver.I2Ls, 32, "exceeds 262144 bytes"},
	} {
		s := &server{status: 200, header: tt.header, body: strings.NewReader(tt.body)}
		if tt.body == "" {
			s.status = 303
		}
		c := thttp.New(thttp.Config{
			Web: s, Timeout: time.Minute, MaxBody: 1 << 20, MaxLocations: 1000,
			Now: func() time.Time { return now },
		})
		ctx, trace := resolver.WithTrace(t.Context(), time.Now)
		answer, err := c.Query(ctx, "http://server.example", query(t, tt.service))
		if len(answer.Locations) != tt.locations || (err == nil) != (tt.locations > 0) ||
			err != nil && !errors.Is(err, resolver.ErrUnreachable) {
			t.Errorf("%s: %d locations, %v", tt.name, len(answer.Locations), err)
		}
		if steps := fmt.Sprint(trace.Steps()); !strings.Contains(steps, tt.trace) || len(steps) > 20<<10 {
			t.Errorf("%s: a trace of %d bytes: %.1000s", tt.name, len(steps), steps)
		}
	}
}
