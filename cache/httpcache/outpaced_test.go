package httpcache_test

import (
	"context"
	"testing"
	"time"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/internal/httpmessage"
)

// A 304 that arrives after another exchange has received a newer response, or learned by HEAD that the stored one has
// changed, does not restore the response that it validates.
func TestSlowNotModified(t *testing.T) {
	for name, tt := range map[string]struct {
		first, second string // Accept of the stored response, and of the validation
		method        string // of the exchange that is faster
		wants         string
	}{
		"200":             {first: "a", second: "a", method: "GET", wants: "new"},
		"another variant": {first: "b", second: "a", method: "GET", wants: "new"},
		"HEAD":            {first: "a", second: "a", method: "HEAD", wants: "newest"},
	} {
		for _, onDisk := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				s := newSite(t, func(c *httpcache.Config) {
					if onDisk {
						store, closes := newDisk(t, t.TempDir())
						t.Cleanup(closes)
						c.Disk = store
					}
				})
				accept, other := "Accept: "+tt.second, []string{fresh, `ETag: "2"`, "Vary: Accept"}
				s.sends(200, "old", fresh, `ETag: "1"`, "Vary: Accept")
				s.expect(s.get("Accept: "+tt.first), 200, "old", false)
				s.clock.advance(time.Hour)
				faster := func() {
					s.clock.advance(time.Second)
					s.sends(200, "new", other...)
					if g := s.do(tt.method, accept, "Cache-Control: no-cache"); g.err != nil {
						t.Error(g.err)
					}
					s.clock.advance(time.Second)
				}
				s.respond = func(context.Context, sent) (*httpmessage.Response, error) {
					faster()
					return s.response(304, "", fresh, `ETag: "1"`, "Vary: Accept"), nil
				}
				s.expect(s.get(accept), 200, "old", false)
				s.sends(200, "newest", other...)
				s.expect(s.get(accept), 200, tt.wants, tt.wants == "new")
			})
		}
	}
}
