package httpcache_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/cache/memory"
	"github.com/urnd/urnd/internal/httpmessage"
)

// BenchmarkHit measures a hit: a fresh response of 1 KiB, as a browser requests it.
func BenchmarkHit(b *testing.B) {
	c := httpcache.New(httpcache.Config{
		Store: &table{entries: make(map[string]*cache.Entry[*httpcache.Entry])}, Now: time.Now,
		MaxObject: 1 << 20, MaxArriving: 1 << 20,
		SameOrigin: func(string, string) (string, bool) { return "", false },
	})
	defer c.Close()
	forward := func(context.Context, httpcache.Outgoing) (*httpmessage.Response, error) {
		header := fields("Cache-Control: max-age=3600", `ETag: "1"`, "Content-Type: text/html",
			"Date: "+time.Now().UTC().Format(http.TimeFormat),
			"Last-Modified: Sat, 21 Nov 2026 08:00:00 GMT", "Server: x", "Vary: Accept-Encoding")
		return &httpmessage.Response{
			Status: 200, Fields: header, Body: io.NopCloser(strings.NewReader(pattern(1024))),
			ContentLength: 1024,
		}, nil
	}
	for _, bench := range []struct {
		name  string
		lines []string
	}{
		{"whole", nil},
		{"304", []string{`If-None-Match: "1"`}},
		{"range", []string{"Range: bytes=0-99"}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			r := &httpcache.Request{Request: httpmessage.Request{
				Method: "GET",
				Fields: fields(append(bench.lines, "Accept: text/html, */*;q=0.8",
					"Accept-Encoding: gzip, deflate, br", "User-Agent: x")...),
			}, Key: target}
			var status string // a sink, to retain the result
			b.ReportAllocs()
			for b.Loop() {
				a, err := c.Serve(b.Context(), r, httpcache.OriginFunc(forward))
				if err != nil {
					b.Fatal(err)
				}
				if a.Content != nil {
					if err := a.Content.SendTo(io.Discard, nil); err != nil {
						b.Fatal(err)
					}
					a.Content.Close()
				}
				status = a.Outcome.Status("urnd")
			}
			if status == "" {
				b.Fatal("no Cache-Status")
			}
		})
	}
}

// BenchmarkUncached measures what the cache adds to a request that it cannot answer: with a response that must
// not be stored, and with one that is stored.
func BenchmarkUncached(b *testing.B) {
	for name, control := range map[string]string{"no-store": "no-store", "miss": "max-age=60"} {
		b.Run(name, func(b *testing.B) {
			store, err := memory.New(memory.Config[*httpcache.Entry]{MaxBytes: 16 << 20, Size: (*httpcache.Entry).Size})
			if err != nil {
				b.Fatal(err)
			}
			c := httpcache.New(httpcache.Config{
				Store: store, Now: time.Now, MaxObject: 1 << 20, MaxArriving: 1 << 20,
				SameOrigin: func(string, string) (string, bool) { return "", false },
			})
			defer c.Close()
			content := make([]byte, 1<<10)
			fields := httpmessage.NewFields("Server", "nginx", "Date", time.Now().UTC().Format(http.TimeFormat),
				"Content-Type", "text/plain",
				"Content-Length", "1024", "Cache-Control", control)
			forward := func(context.Context, httpcache.Outgoing) (*httpmessage.Response, error) {
				return &httpmessage.Response{
					Status: http.StatusOK, Fields: fields,
					Body: io.NopCloser(bytes.NewReader(content)), ContentLength: 1 << 10,
				}, nil
			}
			ctx, cancel := context.WithCancel(b.Context())
			defer cancel()
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				key := "http://a.example/"
				if name == "miss" {
					key += strconv.Itoa(i)
				}
				a, err := c.Serve(ctx,
					&httpcache.Request{Request: httpmessage.Request{
						Method: http.MethodGet,
						Fields: httpmessage.NewFields("Accept", "*/*",
							"User-Agent", "x"),
					}, Key: key}, httpcache.OriginFunc(forward))
				if err != nil {
					b.Fatal(err)
				}
				if err := a.Content.SendTo(io.Discard, func() {}); err != nil {
					b.Fatal(err)
				}
				a.Content.Close()
			}
		})
	}
}
