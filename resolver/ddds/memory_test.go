package ddds

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/cache/memory"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver"
)

// TestMemoryOfRecords: the accounted size of cached record sets is about the growth of the heap.
func TestMemoryOfRecords(t *testing.T) {
	for _, shape := range []struct {
		name  string
		n     int
		value func(i int) (Records, error)
	}{
		{"NAPTR", 3000, func(i int) (Records, error) {
			var all []NAPTR
			for j := range 3 {
				all = append(all, NAPTR{
					Flags: strings.Clone("u"), Services: strings.Clone("http+N2L"),
					Regexp:      fmt.Sprintf("!^urn:example:%d-(.*)$!http://a%d.example/\\1!", i, j),
					Replacement: strings.Clone("."),
				})
			}
			return Records{naptr: all}, nil
		}},
		{"many NAPTR", 300, func(i int) (Records, error) {
			var all []NAPTR
			for j := range 33 {
				all = append(all, NAPTR{
					Flags: strings.Clone("s"), Services: strings.Clone("http+N2L"), Regexp: "",
					Replacement: fmt.Sprintf("_http._tcp.%d.%d.example.", i, j),
				})
			}
			return Records{naptr: all}, nil
		}},
		{"SRV", 3000, func(i int) (Records, error) {
			var all []SRV
			for j := range 5 {
				all = append(all, SRV{Target: fmt.Sprintf("a%d.b%d.example.", j, i)})
			}
			return Records{srv: all}, nil
		}},
		{"addresses", 5000, func(i int) (Records, error) {
			return Records{addrs: []netip.Addr{
				netip.AddrFrom4([4]byte{192, 0, 2, byte(i)}),
				netip.AddrFrom4([4]byte{192, 0, 2, 2}),
			}}, nil
		}},
		{"NXDOMAIN", 5000, func(i int) (Records, error) {
			return Records{}, &resolver.Negative{
				Kind: resolver.ErrNotFound, TTL: time.Hour,
				Reason: fmt.Sprintf("%d.urn.example. does not exist (NXDOMAIN)", i),
			}
		}},
	} {
		t.Run(shape.name, func(t *testing.T) {
			store, err := memory.New(memory.Config[Records]{MaxBytes: 512 << 20, Size: RecordsSize})
			if err != nil {
				t.Fatal(err)
			}
			defer store.Close()
			c := cache.New(cache.Config[Records]{Store: store, Now: time.Now})
			defer c.Close()
			before := testserver.HeapInUse()
			for i := range shape.n {
				_, _ = c.Get(t.Context(), fmt.Sprintf("%d.urn.example. NAPTR", i),
					func(context.Context) (Records, time.Duration, error) {
						all, err := shape.value(i)
						return all, time.Hour, err
					})
			}
			store.Each(func(*cache.Entry[Records]) bool { return true }) // waits for pending writes
			grown, stats := testserver.HeapInUse()-before, store.Stats()
			t.Logf("%d entries, %d bytes grown, %d counted: %.2f", stats.Entries, grown, stats.Bytes,
				float64(stats.Bytes)/float64(grown))
			// For small values the overhead of the store matters; it is calibrated for millions of entries.
			if stats.Bytes*5 < grown*4 || stats.Bytes*2 > grown*3 {
				t.Errorf("%d bytes grown, %d counted", grown, stats.Bytes)
			}
		})
	}
}
