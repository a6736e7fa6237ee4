package accesslog_test

import (
	"io"
	"net/netip"
	"os"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/accesslog"
)

func typical() accesslog.Entry {
	return accesslog.Entry{
		Time: time.Date(2026, 11, 21, 12, 0, 0, 5e6, time.UTC), Took: 8 * time.Microsecond,
		Client: netip.MustParseAddr("192.0.2.1"), Method: "GET", Target: "/?uri=urn%3Aietf%3Arfc%3A2648",
		Proto: "HTTP/1.1", Status: 302, Bytes: 7, Cache: "hit", Form: "path", Service: "I2L",
		RequestID: "0123456789abcdef", Referer: "https://www.example.org/",
		UserAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0", Type: "text/html",
	}
}

func TestEntryAllocations(t *testing.T) {
	for _, format := range []string{"json", "combined", "squid"} {
		log := newLogOf(io.Discard, format, nil)
		log.Write(typical())
		log.Flush()
		log.Write(typical())
		log.Flush()
		if n := testing.AllocsPerRun(1000, func() { log.Write(typical()) }); n != 0 {
			t.Errorf("%s: %v allocations", format, n)
		}
		log.Close()
	}
}

// BenchmarkWrite logs to a file.
func BenchmarkWrite(b *testing.B) {
	for _, format := range []string{"json", "combined", "squid"} {
		b.Run(format, func(b *testing.B) {
			file, err := os.Create(b.TempDir() + "/access.log")
			if err != nil {
				b.Fatal(err)
			}
			defer file.Close()
			log := newLogOf(file, format, func() { b.Error("a line is lost") })
			e := typical()
			b.ReportAllocs()
			for b.Loop() {
				log.Write(e)
			}
			log.Close()
		})
	}
}
