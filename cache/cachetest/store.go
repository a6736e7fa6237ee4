// Package cachetest has the conformance tests that every cache.Store must pass. A constructor of stores enters
// TestStore; failures are reported to the test. It follows no specification except the contract of cache.Store.
package cachetest

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/urnd/urnd/cache"
)

// start is the creation time of all entries in the tests.
func start() cache.Instant { return cache.Instant(time.Hour) }

func entry(key, value string) *cache.Entry[string] {
	return cache.NewEntry(key, value, nil, start(), time.Minute)
}

// TestStore runs the tests, each with a new store from open, which must be able to store thousands of short
// texts without eviction. open also registers the closing of the store with t.
func TestStore(t *testing.T, open func(t *testing.T) cache.Store[string]) {
	t.Helper()
	for name, test := range map[string]func(*testing.T, cache.Store[string]){
		"an entry is visible at once":    testVisible,
		"a deleted entry is not visible": testDeleted,
		"the last of many writes wins":   testOrder,
		"an entry keeps its fields":      testFields,
		"keys may hold any bytes":        testKeys,
		"concurrent use":                 testConcurrent,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

func testVisible(t *testing.T, s cache.Store[string]) {
	if e := s.Get("key"); e != nil {
		t.Errorf("an empty store has %+v", e)
	}
	for i := range 1000 {
		key := fmt.Sprint("key ", i)
		s.Set(entry(key, key))
		if e := s.Get(key); e == nil || e.Value != key {
			t.Fatalf("%s: %+v", key, e)
		}
	}
}

func testDeleted(t *testing.T, s cache.Store[string]) {
	s.Delete("never there")
	for i := range 1000 {
		key := fmt.Sprint("key ", i)
		s.Set(entry(key, key))
		s.Delete(key)
		if e := s.Get(key); e != nil {
			t.Fatalf("%s: %+v", key, e)
		}
		s.Set(entry(key, "again"))
		if e := s.Get(key); e == nil || e.Value != "again" {
			t.Fatalf("%s: %+v", key, e)
		}
	}
}

func testOrder(t *testing.T, s cache.Store[string]) {
	for i := range 1000 {
		value := strconv.Itoa(i)
		if i%3 == 0 {
			s.Delete("key")
		}
		s.Set(entry("key", value))
		if e := s.Get("key"); e == nil || e.Value != value {
			t.Fatalf("%s: %+v", value, e)
		}
	}
}

func testFields(t *testing.T, s cache.Store[string]) {
	s.Set(cache.NewEntry("negative", "", errors.New("not found"), start(), time.Minute))
	s.Set(cache.NewEntry("past", "value", nil, start(), -time.Hour))
	e := s.Get("negative")
	if e == nil || e.Err() == nil || e.Err().Error() != "not found" || e.TTL(start()) != time.Minute {
		t.Errorf("negative: %+v", e)
	}
	if e := s.Get("past"); e == nil || e.Value != "value" || e.Err() != nil || e.TTL(start()) != -time.Hour {
		t.Errorf("past its expiry: %+v", e)
	}
}

func testKeys(t *testing.T, s cache.Store[string]) {
	keys := []string{"", " ", "a", "A", "a\x00", "\xff", "urn:a:b", "urn:a:b ", strings.Repeat("long", 2000)}
	for _, key := range keys {
		s.Set(entry(key, "of "+key))
	}
	for _, key := range keys {
		if e := s.Get(key); e == nil || e.Key != key || e.Value != "of "+key {
			t.Errorf("%q: %+v", key, e)
		}
	}
}

func testConcurrent(t *testing.T, s cache.Store[string]) {
	var workers sync.WaitGroup
	for worker := range 8 {
		workers.Go(func() {
			for i := range 500 {
				own := fmt.Sprint(worker, " ", i)
				s.Set(entry(own, own))
				if e := s.Get(own); e == nil || e.Value != own {
					t.Errorf("%s: %+v", own, e)
				}
				shared := strconv.Itoa(i % 10)
				if i%7 == 0 {
					s.Delete(shared)
				} else {
					s.Set(entry(shared, shared))
				}
				if e := s.Get(shared); e != nil && e.Value != shared {
					t.Errorf("%s: %+v", shared, e)
				}
			}
		})
	}
	workers.Wait()
}
