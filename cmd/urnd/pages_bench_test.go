package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/urnd/urnd/config"
)

// What a crawler costs that asks for a page: at most 1 ms of CPU, and for that of a name 400 us.
func BenchmarkPages(b *testing.B) {
	c := config.Default()
	r := browserRegistry(b)
	configureBrowserSite(b, &c, r)
	p, err := wireAll(c, newDependencies())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(p.close)
	p.openRegistry(b.Context(), b.Output())
	const remote = "127.0.0.1:1"
	for _, page := range sitePages(&browserSite{}) {
		if page.isAdmin || strings.HasPrefix(page.name, "menu") || strings.HasPrefix(page.name, "fetch-") {
			continue
		}
		b.Run(page.name, func(b *testing.B) {
			b.ReportAllocs()
			w := &discardWriter{header: http.Header{}}
			before := ownTime(b)
			for b.Loop() {
				clear(w.header)
				p.service.ServeHTTP(w, &http.Request{
					Method: http.MethodGet, RequestURI: page.target, ProtoMajor: 1, ProtoMinor: 1, Host: "127.0.0.1:8141", RemoteAddr: remote,
					Header: http.Header{"Accept": {"text/html"}, "Accept-Language": {"en-GB,en;q=0.9"}},
				})
				if w.status != page.status {
					b.Fatal(w.status)
				}
			}
			b.ReportMetric(float64(ownTime(b)-before)/float64(b.N)/1000, "cpu-us/op")
		})
	}
}
