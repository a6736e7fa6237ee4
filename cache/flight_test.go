package cache

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"
	"unsafe"
)

// mapStore is a store without a bound.
type mapStore struct{ entries sync.Map }

func (p *mapStore) Get(key string) *Entry[string] {
	e, _ := p.entries.Load(key)
	found, _ := e.(*Entry[string])
	return found
}
func (p *mapStore) Set(e *Entry[string]) { p.entries.Store(e.Key, e) }
func (p *mapStore) Delete(key string)    { p.entries.Delete(key) }

func newMapCache() *Cache[string] {
	return New(Config[string]{
		Store: new(mapStore), Now: func() time.Time { return time.Unix(0, 0) },
		StaleFor: time.Hour,
	})
}

// A key may be a substring of a long request line, which the entry must not retain.
func TestKeyIsCopied(t *testing.T) {
	line := "GET /name HTTP/1.1"
	e := NewEntry(line[5:9], "", nil, 1, time.Minute)
	if e.Key != "name" || unsafe.StringData(e.Key) == unsafe.StringData(line[5:9]) {
		t.Error("the key of an entry pins the text it was cut from")
	}
}

// A load without waiters does not overwrite the outcome of a later one.
func TestAbandonedLoad(t *testing.T) {
	c := newMapCache()
	defer c.Close()
	loading, ended, release := make(chan struct{}), make(chan struct{}), make(chan struct{})
	ctx, leave := context.WithCancel(t.Context())
	got := make(chan error)
	go func() {
		_, err := c.Get(ctx, "key", func(ctx context.Context) (string, time.Duration, error) {
			close(loading)
			<-ctx.Done()
			close(ended)
			<-release // a slow load
			return "older", time.Hour, nil
		})
		got <- err
	}()
	<-loading
	leave()
	<-ended
	if _, err := c.Get(t.Context(), "key",
		func(context.Context) (string, time.Duration, error) { return "newer", time.Hour, nil }); err != nil {
		t.Fatal(err)
	}
	close(release)
	if err := <-got; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if e := c.Lookup("key"); e == nil || e.Value != "newer" {
		t.Errorf("stored %+v", e)
	}
}

// Close also cancels a load that a purge has detached.
func TestCloseAfterPurge(t *testing.T) {
	c := newMapCache()
	loading, got := make(chan struct{}), make(chan error)
	go func() {
		_, err := c.Get(context.Background(), "key", func(ctx context.Context) (string, time.Duration, error) {
			close(loading)
			<-ctx.Done()
			return "", 0, ctx.Err()
		})
		got <- err
	}()
	<-loading
	c.Purge("key", false)
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		c.Close()
	}()
	if err := <-got; !errors.Is(err, context.Canceled) {
		t.Errorf("the waiter got %v", err)
	}
	<-closed
	if len(c.detached) != 0 {
		t.Errorf("left: %v", c.detached)
	}
}

// A load that began before a purge returns to its waiters, and is not stored.
func TestPurgeDuringALoad(t *testing.T) {
	for name, purge := range map[string]func(*Cache[string]){
		"the key": func(c *Cache[string]) { c.Purge("key", false) },
		"soft":    func(c *Cache[string]) { c.Purge("key", true) },
		"all":     func(c *Cache[string]) { c.PurgeAll(emptyLister{}, func(string) bool { return true }, false) },
		"some, soft": func(c *Cache[string]) {
			c.PurgeAll(emptyLister{}, func(key string) bool { return key == "key" }, true)
		},
	} {
		c := newMapCache()
		loading, release := make(chan struct{}), make(chan struct{})
		got := make(chan Result[string])
		go func() {
			result, err := c.Get(context.Background(), "key", func(context.Context) (string, time.Duration, error) {
				close(loading)
				<-release
				return "older", time.Hour, nil
			})
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			got <- result
		}()
		<-loading
		purge(c)
		newer, err := c.Get(t.Context(), "key",
			func(context.Context) (string, time.Duration, error) { return "newer", time.Hour, nil })
		if err != nil || newer.Status != Miss || newer.Value != "newer" {
			t.Errorf("%s: after it: %+v, %v", name, newer, err)
		}
		close(release)
		if result := <-got; result != (Result[string]{Value: "older"}) {
			t.Errorf("%s: the waiter got %+v", name, result)
		}
		if e := c.Lookup("key"); e == nil || e.Value != "newer" {
			t.Errorf("%s: stored: %+v", name, e)
		}
		c.Close()
	}
}

// emptyLister lists no entries.
type emptyLister struct{}

func (emptyLister) Each(func(*Entry[string]) bool) {}
