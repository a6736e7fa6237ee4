package cache

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"
	"unsafe"
)

// ristretto compares hashes; a collision must not answer for another name.
func TestStoredKeyIsCompared(t *testing.T) {
	m, err := newMemory(1<<20, func(*entry[string]) int64 { return 1 })
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	e := newEntry("asked", "value", nil, time.Unix(1, 0), time.Minute)
	m.set(e)
	if m.get("asked") != e {
		t.Fatal("the entry is not found by its own key")
	}
	e.key = "another name of the same hash"
	if got := m.get("asked"); got != nil {
		t.Errorf("the entry of %q answers for %q", got.key, "asked")
	}
}

func TestBoundedByBytes(t *testing.T) {
	const maxBytes = 1 << 16
	m, err := newMemory(maxBytes, func(*entry[string]) int64 { return 500 })
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	for i := range 10_000 {
		m.set(newEntry(strconv.Itoa(i), "", nil, time.Unix(1, 0), time.Minute))
	}
	kept := 0
	for i := range 10_000 {
		if m.get(strconv.Itoa(i)) != nil {
			kept++
		}
	}
	if kept == 0 || kept > maxBytes/500 {
		t.Errorf("%d entries of 500 bytes are kept in %d bytes", kept, maxBytes)
	}
}

// A key is a part of a request line that may be long; what is kept must not be.
func TestKeyIsCopied(t *testing.T) {
	line := "GET /name HTTP/1.1"
	e := newEntry(line[5:9], "", nil, time.Unix(1, 0), time.Minute)
	if e.key != "name" || unsafe.StringData(e.key) == unsafe.StringData(line[5:9]) {
		t.Error("the key of an entry pins the text it was cut from")
	}
}

func TestNegativeEntriesCount(t *testing.T) {
	const maxBytes = 1 << 18
	c, err := New(Config[string]{MaxBytes: maxBytes, Size: func(string) int { return 0 }, Now: func() time.Time { return time.Unix(0, 0) }})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	reason := errors.New(strings.Repeat("r", 1000))
	load := func(context.Context) (string, time.Duration, error) { return "", time.Hour, reason }
	kept := 0
	for i := range 2000 {
		_, _ = c.Get(t.Context(), strconv.Itoa(i), load)
	}
	for i := range 2000 {
		if c.memory.get(strconv.Itoa(i)) != nil {
			kept++
		}
	}
	if kept == 0 || kept > maxBytes/1000 {
		t.Errorf("%d errors of 1000 octets are kept in %d bytes", kept, maxBytes)
	}
}

// A load that nobody waits for any more does not take the place of what came
// after it.
func TestAbandonedLoad(t *testing.T) {
	c, err := New(Config[string]{MaxBytes: 1 << 20, Size: func(s string) int { return len(s) }, Now: func() time.Time { return time.Unix(0, 0) }})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	loading, release := make(chan struct{}), make(chan struct{})
	ctx, leave := context.WithCancel(t.Context())
	go func() {
		<-loading
		leave()
	}()
	_, err = c.Get(ctx, "key", func(context.Context) (string, time.Duration, error) {
		close(loading)
		<-release // it does not heed its context
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
	if e := c.memory.get("key"); e == nil || e.value != "newer" {
		t.Errorf("kept %+v", e)
	}
}
