package httpcache_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/testserver"
)

// TestMemoryOfSaved: the computed memory of responses that are also on disk equals the growth of the process,
// when they are stored and after a restart.
func TestMemoryOfSaved(t *testing.T) {
	const uris = 300
	directory := t.TempDir()
	store, closes := newDisk(t, directory)
	for _, name := range []string{"as they come", "after a restart"} {
		entries := &table{entries: make(map[string]*cache.Entry[*httpcache.Entry])}
		s := newSite(t, func(c *httpcache.Config) { c.Store, c.Disk = entries, store })
		var lines []string
		for i := range 20 {
			lines = append(lines, fmt.Sprintf("X-Field-%d: the value %d", i, i))
		}
		s.sends(200, strings.Repeat("b", 3000), append(lines, fresh)...)
		before := testserver.HeapInUse()
		for i := range uris {
			g := s.request(&httpcache.Request{
				Request: httpmessage.Request{Method: "GET", Fields: fields()},
				Key:     fmt.Sprintf("%s/%d", target, i),
			})
			if g.err != nil || g.Outcome.Hit() != (name == "after a restart") {
				t.Fatalf("%s: %v, %+v", name, g.err, g.Response)
			}
		}
		s.mu.Lock()
		s.requests = nil
		s.mu.Unlock()
		grown, counted := testserver.HeapInUse()-before, int64(0)
		entries.Each(func(e *cache.Entry[*httpcache.Entry]) bool {
			counted += int64(e.Value.Size())
			return true
		})
		t.Logf("%s: %d bytes grown, %d counted: %.2f", name, grown, counted, float64(counted)/float64(grown))
		if counted*5 < grown*4 || counted*2 > grown*3 {
			t.Errorf("%s: %d bytes grown, %d counted", name, grown, counted)
		}
		runtime.KeepAlive(entries)
		closes()
		if name == "as they come" {
			store, closes = newDisk(t, directory)
		}
	}
}
