package valkey_test

import (
	"context"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/cache/valkey"
	"github.com/urnd/urnd/internal/testserver"
)

// BenchmarkHit measures a load avoided by the server: one round trip.
func BenchmarkHit(b *testing.B) {
	server := testserver.StartRedis(b)
	level, err := valkey.New(valkey.Config{
		URL: server.URL(), Secret: []byte(secret), Prefix: "urnd", Timeout: time.Second, Now: time.Now,
		Dial: new(net.Dialer).DialContext,
	})
	if err != nil {
		b.Fatal(err)
	}
	defer level.Close()
	level.Start()
	testserver.Wait(b, "the server is used", func() bool { return level.Stats().Used })
	view := valkey.NewView(valkey.ViewConfig[string]{
		Level: level, Name: "bench", Basis: "1", Codec: codec(),
		Purged: about,
	})
	load := func(context.Context) (string, time.Duration, error) { return "value", time.Hour, nil }
	view.Load(b.Context(), "key", cache.AnyFresh, load)
	testserver.Wait(b, "the entry is written", func() bool { return level.Stats().Writes == 1 })
	b.ReportAllocs()
	before := cpu(b)
	for b.Loop() {
		if got := view.Load(b.Context(), "key", cache.AnyFresh, load); !got.Shared {
			b.Fatal("it was loaded")
		}
	}
	b.ReportMetric(float64(cpu(b)-before)/float64(b.N), "cpu-ns/op")
}

// cpu returns the CPU time of the process, without that of the server.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
