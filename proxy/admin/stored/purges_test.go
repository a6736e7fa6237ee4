package stored_test

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/testserver"
	adminapi "github.com/urnd/urnd/proxy/admin/api"
	"github.com/urnd/urnd/proxy/admin/stored"
)

// A purge is published before it is done, and the position is saved when all purges up to it are done.
func TestPurgesOfSeveralProcesses(t *testing.T) {
	c, _ := newCache(t)
	const key = "http://a.example/"
	fill(t, c, key, nil, httpmessage.NewFields("Cache-Control", "max-age=60", "Surrogate-Key", "tag"))
	var mu sync.Mutex
	var published []string
	var saved string
	position := 0
	p := stored.NewPurges(c, stored.PurgesConfig{
		Publish: func(_ context.Context, s adminapi.ResponseSelection, hard bool) {
			mu.Lock()
			defer mu.Unlock()
			published = append(published, s.Tag+" "+strconv.FormatBool(hard)+" "+strconv.Itoa(len(c.Lookup(key))))
		},
		Position: func() []byte {
			mu.Lock()
			defer mu.Unlock()
			return []byte(strconv.Itoa(position))
		},
		Save: func(at []byte) {
			mu.Lock()
			defer mu.Unlock()
			saved = string(at)
		},
	})
	defer p.Close()
	move := func(to int) {
		mu.Lock()
		defer mu.Unlock()
		position = to
	}
	isSaved := func(want string) func() bool {
		return func() bool {
			mu.Lock()
			defer mu.Unlock()
			return saved == want
		}
	}
	move(1)
	p.Advance()
	testserver.Wait(t, "the position of a purge of something else is saved", isSaved("1"))
	move(2)
	if n := p.Purge(t.Context(), adminapi.ResponseSelection{Tag: "tag"}, true); n != 1 {
		t.Errorf("%d responses were purged", n)
	}
	testserver.Wait(t, "the position of an own purge is saved", isSaved("2"))
	fill(t, c, key, nil, httpmessage.NewFields("Cache-Control", "max-age=60", "Etag", `"1"`))
	move(3)
	p.Follow(adminapi.ResponseSelection{All: true}, false)
	if all := c.Lookup(key); len(all) != 1 || !all[0].Purged {
		t.Errorf("a purge of another process does not count at once: %+v", all)
	}
	testserver.Wait(t, "the position of the purge of another process is saved", isSaved("3"))
	if want := []string{"tag true 1"}; !slices.Equal(published, want) {
		t.Errorf("published are %q, want %q", published, want)
	}
}
