package cache

import (
	"strconv"
	"testing"
	"time"
)

// ristretto compares hashes; a collision must not answer for another name.
func TestStoredKeyIsCompared(t *testing.T) {
	m, err := newMemory[string](1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	e := newEntry("asked", "value", nil, time.Unix(1, 0))
	m.set(e, 10)
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
	m, err := newMemory[string](maxBytes)
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	for i := range 10_000 {
		m.set(newEntry(strconv.Itoa(i), "", nil, time.Unix(1, 0)), 500)
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
