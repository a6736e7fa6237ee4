//go:build e2e

package browser

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// BenchmarkPages measures the cost of a page for a crawler: at most 1 ms of CPU time, and 400 us for that of a
// name.
func BenchmarkPages(b *testing.B) {
	site := startBrowserSite(b, nil)
	var transport http.Transport
	b.Cleanup(transport.CloseIdleConnections)
	for _, page := range sitePages(site) {
		if page.admin || strings.HasPrefix(page.name, "menu") || strings.HasPrefix(page.name, "fetch-") {
			continue
		}
		b.Run(page.name, func(b *testing.B) {
			cpu, byteCount := site.spent(b)
			for b.Loop() {
				r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, site.URL+page.target, http.NoBody)
				if err != nil {
					b.Fatal(err)
				}
				r.Header.Set("Accept", "text/html")
				r.Header.Set("Accept-Language", "en-GB,en;q=0.9")
				response, err := transport.RoundTrip(r)
				if err != nil {
					b.Fatal(err)
				}
				_, err = io.Copy(io.Discard, response.Body)
				_ = response.Body.Close()
				if err != nil || response.StatusCode != page.status {
					b.Fatal(response.Status, err)
				}
			}
			cpuAfter, bytesAfter := site.spent(b)
			b.ReportMetric((cpuAfter-cpu)*1e6/float64(b.N), "cpu-us/op")
			b.ReportMetric((bytesAfter-byteCount)/float64(b.N), "B/op")
		})
	}
}

// spent returns the CPU time of urnd in seconds, and its allocated bytes.
func (s *browserSite) spent(b *testing.B) (cpu, byteCount float64) {
	b.Helper()
	for line := range strings.Lines(s.Scrape(b)) {
		if value, ok := strings.CutPrefix(line, "process_cpu_seconds_total "); ok {
			_, _ = fmt.Sscan(value, &cpu)
		} else if value, ok := strings.CutPrefix(line, "go_memstats_alloc_bytes_total "); ok {
			_, _ = fmt.Sscan(value, &byteCount)
		}
	}
	if cpu == 0 || byteCount == 0 {
		b.Fatal("the metrics have neither")
	}
	return cpu, byteCount
}
