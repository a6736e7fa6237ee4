package registry_test

import (
	"context"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// endless is a store with many versions, which are made when they are read, and no documents.
type endless struct {
	registry.Store
	tx endlessTx
}

func (s *endless) Read(_ context.Context, f func(registry.Tx) error) error { return f(&s.tx) }

type endlessTx struct {
	registry.Tx
	rows  registry.Seq
	entry registry.Entry
}

func (s *endlessTx) Rows(after registry.Seq, limit int) (rows []registry.Row, err error) {
	octets := registry.Encode(s.entry)
	for seq := after + 1; seq <= s.rows && len(rows) < limit; seq++ {
		rows = append(rows, registry.Row{Seq: seq, Key: s.entry.Key, Octets: octets})
	}
	return rows, nil
}

func (s *endlessTx) Document(registry.Table, string) ([]byte, error) { return nil, nil }

func (s *endlessTx) Documents(registry.Table, string, string, int) ([]registry.Document, error) {
	return nil, nil
}

// heapMeter measures the heap while it is written to.
type heapMeter struct {
	written, next, most int64
}

func (m *heapMeter) Write(p []byte) (int, error) {
	if m.written += int64(len(p)); m.written >= m.next {
		var stats runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&stats)
		m.most = max(m.most, int64(stats.HeapAlloc)) //nolint:gosec // a heap fits
		m.next = m.written + 8<<20
	}
	return len(p), nil
}

func TestPortableMemory(t *testing.T) {
	e := wholeEntry()
	e.Metadata = `{"a":"` + strings.Repeat("x", 2000) + `"}`
	var before runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	m := new(heapMeter)
	s := &endless{tx: endlessTx{rows: 40_000, entry: e}}
	if err := registry.WritePortable(t.Context(), m, s, time.Now(), func(int64, int64) {}); err != nil {
		t.Fatal(err)
	}
	if least := int64(90 << 20); m.written < least {
		t.Errorf("%d bytes were written, want at least %d", m.written, least)
	}
	if more := m.most - int64(before.HeapAlloc); more > 16<<20 { //nolint:gosec // a heap fits
		t.Errorf("%d bytes are in memory at a time", more)
	}
}

// JSON has no texts that are not UTF-8: they are an error, and not replaced.
func TestPortableTexts(t *testing.T) {
	for name, change := range map[string]func(*registry.Entry){
		"name":     func(e *registry.Entry) { e.Name = "\xff" },
		"metadata": func(e *registry.Entry) { e.Metadata = "\xff" },
		"target":   func(e *registry.Entry) { e.Targets[1].Title = "\xff" },
		"succeeds": func(e *registry.Entry) { e.Successors[0] = "\xff" },
	} {
		t.Run(name, func(t *testing.T) {
			e := wholeEntry()
			change(&e)
			err := registry.WritePortable(t.Context(), io.Discard, &endless{tx: endlessTx{rows: 1, entry: e}}, time.Now(), func(int64, int64) {})
			if err == nil || !strings.Contains(err.Error(), "not UTF-8") {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

func TestPortableCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := &endless{tx: endlessTx{rows: 5000, entry: wholeEntry()}}
	err := registry.WritePortable(ctx, io.Discard, s, time.Now(), func(int64, int64) { cancel() })
	if err == nil {
		t.Error("it was written to its end")
	}
}
