package httpcache_test

import (
	"fmt"
	"testing"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/internal/httpmessage"
)

// slowTable is a store whose list waits until it is let go.
type slowTable struct {
	*table

	letGo chan struct{}
}

func (t slowTable) Each(f func(*cache.Entry[*httpcache.Entry]) bool) {
	<-t.letGo
	t.table.Each(f)
}

// However many groups are invalidated while a purge is carried out, none is lost, and no other group or origin is
// concerned: RFC 9875 section 3.
func TestManyGroupInvalidations(t *testing.T) {
	const groups = 40
	memory := slowTable{&table{entries: make(map[string]*cache.Entry[*httpcache.Entry])}, make(chan struct{})}
	s := newSite(t, func(c *httpcache.Config) { c.Store = memory })
	request := func(method, key string) got {
		return s.request(&httpcache.Request{
			Request: httpmessage.Request{Method: method, Fields: fields()}, Key: key,
		})
	}
	keyOf := func(i int) string { return fmt.Sprintf("http://a.example/%d", i) }
	for i := range groups + 1 {
		s.sends(200, "old", fresh, fmt.Sprintf(`Cache-Groups: "g%d"`, i))
		s.expect(request("GET", keyOf(i)), 200, "old", false)
	}
	s.sends(200, "old", fresh, `Cache-Groups: "g1"`)
	s.expect(request("GET", "http://b.example/"), 200, "old", false)
	for i := range groups {
		s.sends(200, "", fmt.Sprintf(`Cache-Group-Invalidation: "g%d"`, i))
		s.expect(request("POST", "http://a.example/edit"), 200, "", false)
	}
	close(memory.letGo)
	s.eventually("the groups are purged", func() bool { return !s.cache.Purging() })
	s.sends(200, "new", fresh)
	for i := range groups {
		s.expect(request("GET", keyOf(i)), 200, "new", false)
	}
	s.expect(request("GET", keyOf(groups)), 200, "old", true)
	s.expect(request("GET", "http://b.example/"), 200, "old", true)
}
