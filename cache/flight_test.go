package cache

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"
	"unsafe"
)

// plain is a store without bound.
type plain struct{ entries sync.Map }

func (p *plain) Get(key string) *Entry[string] {
	e, _ := p.entries.Load(key)
	found, _ := e.(*Entry[string])
	return found
}
func (p *plain) Set(e *Entry[string]) { p.entries.Store(e.Key, e) }
func (p *plain) Delete(key string)    { p.entries.Delete(key) }

func newPlain() *Cache[string] {
	return New(Config[string]{Store: new(plain), Now: func() time.Time { return time.Unix(0, 0) }, StaleFor: time.Hour})
}

// A key is a part of a request line that may be long; what is kept must not be.
func TestKeyIsCopied(t *testing.T) {
	line := "GET /name HTTP/1.1"
	e := NewEntry(line[5:9], "", nil, time.Unix(1, 0), time.Minute)
	if e.Key != "name" || unsafe.StringData(e.Key) == unsafe.StringData(line[5:9]) {
		t.Error("the key of an entry pins the text it was cut from")
	}
}

// A load that nobody waits for any more does not take the place of what came
// after it.
func TestAbandonedLoad(t *testing.T) {
	c := newPlain()
	defer c.Close()
	loading, release := make(chan struct{}), make(chan struct{})
	ctx, leave := context.WithCancel(t.Context())
	go func() {
		<-loading
		leave()
	}()
	_, err := c.Get(ctx, "key", func(context.Context) (string, time.Duration, error) {
		close(loading)
		<-release // it ignores its context
		return "older", time.Hour, nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := c.Get(t.Context(), "key", func(context.Context) (string, time.Duration, error) { return "newer", time.Hour, nil }); err != nil {
		t.Fatal(err)
	}
	close(release)
	c.running.Wait()
	if e := c.Lookup("key"); e == nil || e.Value != "newer" {
		t.Errorf("kept %+v", e)
	}
}

// A load that began before a purge answers those who wait for it, and is not stored.
func TestPurgeDuringALoad(t *testing.T) {
	for name, purge := range map[string]func(*Cache[string]){
		"of the key":    func(c *Cache[string]) { c.Purge("key", false) },
		"softly":        func(c *Cache[string]) { c.Purge("key", true) },
		"of all":        func(c *Cache[string]) { c.PurgeAll(none{}, func(string) bool { return true }, false) },
		"of some, soft": func(c *Cache[string]) { c.PurgeAll(none{}, func(key string) bool { return key == "key" }, true) },
	} {
		c := newPlain()
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
		newer, err := c.Get(t.Context(), "key", func(context.Context) (string, time.Duration, error) { return "newer", time.Hour, nil })
		if err != nil || newer.Status != Miss || newer.Value != "newer" {
			t.Errorf("%s: after it: %+v, %v", name, newer, err)
		}
		close(release)
		if result := <-got; result != (Result[string]{Value: "older"}) {
			t.Errorf("%s: who waited got %+v", name, result)
		}
		if e := c.Lookup("key"); e == nil || e.Value != "newer" {
			t.Errorf("%s: stored: %+v", name, e)
		}
		c.Close()
	}
}

// none lists nothing.
type none struct{}

func (none) Each(func(*Entry[string]) bool) {}
