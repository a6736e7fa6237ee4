package ddds_test

import (
	"context"
	"fmt"
	"net"
	"reflect"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/cache/memory"
	"github.com/urnd/urnd/cache/valkey"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/ddds"
)

// countedServers are DNS servers that count queries.
type countedServers struct{ queries atomic.Int32 }

func (s *countedServers) NAPTR(_ context.Context, name string) ([]ddds.NAPTR, ddds.RRsetInfo, error) {
	s.queries.Add(1)
	if name == "none.example." {
		return nil, ddds.RRsetInfo{}, &resolver.Negative{Kind: resolver.ErrNotFound, Reason: "none", TTL: time.Minute}
	}
	return []ddds.NAPTR{{
			Order: 1, Preference: 2, Flags: "u", Services: "I2L+http",
			Regexp: "!^.*$!http://" + name + "!i", Replacement: ".",
		}},
		ddds.RRsetInfo{TTL: time.Minute, Authentic: true}, nil
}

func (s *countedServers) SRV(context.Context, string) ([]ddds.SRV, ddds.RRsetInfo, error) {
	s.queries.Add(1)
	return []ddds.SRV{{Priority: 1, Weight: 2, Port: 3, Target: "a.example."}}, ddds.RRsetInfo{TTL: time.Minute}, nil
}

// Three instances with a shared cache send a third of the queries to the DNS.
func TestSharedRecords(t *testing.T) {
	server := testserver.StartRedis(t)
	const instances, names = 3, 20
	queries := make(map[bool]int32)
	for _, shares := range []bool{false, true} {
		servers := new(countedServers)
		var want []ddds.NAPTR
		for i := range instances {
			cached, level := newSharedCached(t, server, servers, shares)
			for n := range names {
				records, info, err := cached.NAPTR(t.Context(), fmt.Sprintf("%d.example.", n))
				if err != nil || len(records) != 1 || !info.Authentic || info.TTL > time.Minute ||
					info.TTL < time.Second {
					t.Fatalf("%t: got %v, %+v, %v", shares, records, info, err)
				}
				if want == nil {
					want = records
				}
				if n == 0 && !reflect.DeepEqual(records, want) {
					t.Errorf("instance %d got %v, want %v", i, records, want)
				}
			}
			if _, _, err := cached.SRV(t.Context(), "_http._tcp.example."); err != nil {
				t.Error(err)
			}
			if _, _, err := cached.NAPTR(t.Context(), "none.example."); resolver.RecordOf(err) != nil || err == nil {
				t.Errorf("got %v", err)
			}
			if shares && i == 0 {
				testserver.Wait(t, "all is written", func() bool { return level.Stats().Writes == names+2 })
			}
		}
		queries[shares] = servers.queries.Load()
	}
	if queries[false] != instances*(names+2) || queries[true] != names+2 {
		t.Errorf("queries to the DNS: %d without a shared level, %d with one", queries[false], queries[true])
	}
}

func newSharedCached(
	t *testing.T, server *testserver.Redis, servers ddds.Lookuper, shares bool,
) (*ddds.Cached, *valkey.Level) {
	t.Helper()
	store, err := memory.New(memory.Config[ddds.Records]{MaxBytes: 1 << 20, Size: ddds.RecordsSize})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	config := cache.Config[ddds.Records]{Store: store, Now: time.Now}
	var level *valkey.Level
	if shares {
		level, err = valkey.New(valkey.Config{
			URL: server.URL(), Secret: make([]byte, valkey.MinSecret), Prefix: "urnd", Timeout: 5 * time.Second,
			Now:  time.Now,
			Dial: new(net.Dialer).DialContext,
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(level.Close)
		level.Start()
		testserver.Wait(t, "the level is used", func() bool { return level.Stats().Used })
		config.Second = valkey.NewView(valkey.ViewConfig[ddds.Records]{
			Level: level, Name: "records", Basis: "1",
			Codec:  valkey.Codec[ddds.Records]{Encode: ddds.EncodeRecords, Decode: ddds.DecodeRecords},
			Purged: func(p valkey.Purge, _ string) bool { return !p.Soft },
		})
	}
	made := cache.New(config)
	t.Cleanup(made.Close)
	return ddds.NewCached(made, servers, ddds.Bounds{}), level
}

// Addresses are shared; character-strings that are not UTF-8 are not.
func TestEncodeRecords(t *testing.T) {
	for _, text := range []string{"", "{", `{"addresses":["x"]}`, `{"negative":{}}`} {
		if _, _, err := ddds.DecodeRecords([]byte(text), time.Minute); err == nil && text != `{"negative":{}}` {
			t.Errorf("%q are records", text)
		}
	}
	r, failure, err := ddds.DecodeRecords([]byte(`{"addresses":["192.0.2.1","2001:db8::1"]}`), time.Minute)
	if err != nil || failure != nil {
		t.Fatal(failure, err)
	}
	text, ok := ddds.EncodeRecords(r, nil)
	if want := `{"addresses":["192.0.2.1","2001:db8::1"]}`; !ok || string(text) != want {
		t.Errorf("got %s, want %s", text, want)
	}
	if _, ok := ddds.EncodeRecords(ddds.Records{}, context.Canceled); ok {
		t.Error("a failure is shared")
	}
}
