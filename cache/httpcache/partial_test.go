package httpcache_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/internal/httpmessage"
)

// Parts that do not adjoin are stored side by side: RFC 9111 section 3.3.
func TestPartsBesideEachOther(t *testing.T) {
	const text = "0123456789abcdefghijklmnopqrstuvwxyz"
	sends := func(s *site, first, last int, validator string) {
		s.sends(206, text[first:last+1], fresh, validator,
			fmt.Sprintf("Content-Range: bytes %d-%d/%d", first, last, len(text)))
	}
	part := func(first, last int) string { return fmt.Sprintf("Range: bytes=%d-%d", first, last) }
	for _, validator := range []string{
		`ETag: "1"`, `ETag: W/"1"`, "Last-Modified: Sat, 21 Nov 2026 08:00:00 GMT",
		"X-A: none",
	} {
		t.Run(validator, func(t *testing.T) {
			s := newSite(t, nil)
			for _, hit := range []bool{false, true} {
				for _, of := range [][2]int{{0, 3}, {10, 13}, {30, 35}} {
					sends(s, of[0], of[1], validator)
					s.expect(s.get(part(of[0], of[1])), 206, text[of[0]:of[1]+1], hit)
				}
			}
			s.expect(s.get("Range: bytes=11-12"), 206, "bc", true)
			s.expect(s.get("Range: bytes=-2"), 206, "yz", true)
			if infos, selected := s.cache.Lookup(target), s.cache.Variants(target); len(infos) != 3 ||
				len(selected) != 1 {
				t.Errorf("%d parts, of %d variants", len(infos), len(selected))
			}
			s.sends(200, text, fresh, validator)
			s.expect(s.get(), 200, text, false)
			if infos := s.cache.Lookup(target); len(infos) != 1 || infos[0].Partial {
				t.Errorf("behind the whole: %v", infos)
			}
		})
	}
	t.Run("the gap between two is filled", func(t *testing.T) {
		s := newSite(t, nil)
		for _, of := range [][2]int{{0, 3}, {8, 35}, {4, 7}} {
			sends(s, of[0], of[1], `ETag: "1"`)
			s.expect(s.get(part(of[0], of[1])), 206, text[of[0]:of[1]+1], false)
		}
		s.expect(s.get(), 200, text, true) // RFC 9111 section 3.4
	})
	t.Run("the rest of the first one is asked for", func(t *testing.T) {
		s := newSite(t, nil)
		for _, of := range [][2]int{{0, 3}, {8, 9}} {
			sends(s, of[0], of[1], `ETag: "1"`)
			s.expect(s.get(part(of[0], of[1])), 206, text[of[0]:of[1]+1], false)
		}
		sends(s, 4, 35, `ETag: "1"`)
		s.expect(s.get(), 200, text, false)
		if got := s.last().header.Get("Range"); got != "bytes=4-" {
			t.Errorf("asked for %q", got)
		}
	})
	t.Run("another representation replaces all", func(t *testing.T) {
		s := newSite(t, nil)
		for i, tag := range []string{"1", "1", "2"} {
			sends(s, 10*i, 10*i+3, `ETag: "`+tag+`"`)
			s.expect(s.get(part(10*i, 10*i+3)), 206, text[10*i:10*i+4], false)
		}
		if infos := s.cache.Lookup(target); len(infos) != 1 || infos[0].ETag != `"2"` {
			t.Errorf("%v", infos)
		}
	})
	t.Run("bounded", func(t *testing.T) {
		s := newSite(t, nil)
		long := strings.Repeat(text, 10)
		for i := 0; i < len(long); i += 4 {
			s.sends(206, long[i:i+2], fresh, `ETag: "1"`,
				fmt.Sprintf("Content-Range: bytes %d-%d/%d", i, i+1, len(long)))
			s.expect(s.get(part(i, i+1)), 206, long[i:i+2], false)
		}
		if n := len(s.cache.Lookup(target)); n != 32 {
			t.Errorf("%d parts", n)
		}
	})
}

// Without a store nothing is stored, and no Cache-Status claims so, not even for POST (RFC 9110 section 9.3.3).
func TestWithoutStore(t *testing.T) {
	disk, closes := newDisk(t, t.TempDir())
	t.Cleanup(closes)
	for name, change := range map[string]func(*httpcache.Config){
		"memory": func(c *httpcache.Config) { c.Store = nil },
		"disk":   func(c *httpcache.Config) { c.Store, c.Disk = nil, disk },
	} {
		s := newSite(t, change)
		for _, method := range []string{"POST", "GET", "GET"} {
			s.sends(200, "a", fresh, "Content-Location: "+target)
			g := s.request(&httpcache.Request{
				Request: httpmessage.Request{Method: method, Fields: fields()},
				Key:     target,
			})
			if s.expect(g, 200, "a", false); g.Outcome.Stored {
				t.Errorf("%s, %s: stored", name, method)
			}
		}
	}
}
