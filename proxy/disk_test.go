package proxy_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/cache/httpcache/disk"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/proxy/proxytest"
)

// fullStore is a memory store without room for content, which therefore stays on disk.
type fullStore struct{ *entries[*httpcache.Entry] }

// HasRoom implements httpcache.Store.
func (fullStore) HasRoom(int64) bool { return false }

// onDisk returns a configuration whose HTTP cache has content on disk only.
func onDisk(t *testing.T) func(*proxy.Config) {
	t.Helper()
	store, err := disk.Open(t.TempDir(),
		disk.Config{MaxBytes: 64 << 20, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { store.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		running.Wait()
		_ = store.Close()
	})
	testserver.Wait(t, "the index is made", func() bool {
		w, err := store.Create("probe")
		return err == nil && w.Close() == nil
	})
	return func(c *proxy.Config) {
		c.Forward.Cache = httpcache.New(httpcache.Config{
			Store: fullStore{newEntries[*httpcache.Entry]()}, Disk: store, Now: c.Now, MaxObject: 8 << 20,
			MaxArriving: 16 << 20,
			SameOrigin:  func(string, string) (string, bool) { return "", false },
		})
		t.Cleanup(c.Forward.Cache.Close)
	}
}

// A client that disconnects while a file is sent to it is not an error of the server.
func TestClientLeavesAFile(t *testing.T) {
	stored := onDisk(t)
	newWorld(t, stored).warm(t, "http://a.example/huge", "a")
	w := newWorld(t, stored) // with an empty memory store, as after a restart
	for _, left := range []error{nil, errors.New("the client has left")} {
		got := &proxytest.Recorder{Err: left}
		if rest := w.Begin(request("GET", "http://a.example/huge"), got); rest != nil {
			t.Fatal("Begin has not answered")
		}
		if e := w.event(t); e.Err != nil || e.Status != 200 || e.ID != "" || got.Aborted != (left != nil) {
			t.Errorf("%v: %+v, aborted: %t", left, e, got.Aborted)
		}
	}
}
