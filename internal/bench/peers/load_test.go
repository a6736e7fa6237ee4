//go:build linux

package main

import (
	"bufio"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
)

// TestLoad measures the origin itself.
func TestLoad(t *testing.T) {
	ends, err := newNetwork(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer ends.close()
	for _, c := range []struct {
		name, request  string
		status, length int
		replies        bool
	}{
		{"empty", "GET /cached/0 HTTP/1.1\r\nHost: a\r\n\r\n", 200, 0, true},
		{"absolute-form", "GET http://a/no-store/1024 HTTP/1.1\r\nHost: a\r\n\r\n", 200, 1024, true},
		{"more than a buffer", "GET /cached/1048576/1 HTTP/1.1\r\nHost: a\r\n\r\n", 200, mebibyte, true},
		{"status", "GET /unknown HTTP/1.1\r\nHost: a\r\n\r\n", 200, 0, false},
		{"length", "GET /cached/7 HTTP/1.1\r\nHost: a\r\n\r\n", 200, 8, false},
		{"no reply", "POST / HTTP/1.1\r\nHost: a\r\n\r\n", 200, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			const connections = 2
			l, err := newLoad(ends.place.Origin, connections)
			if err != nil {
				t.Fatal(err)
			}
			defer l.close()
			l.status, l.length = c.status, c.length
			l.request = func(uint64) []byte { return []byte(c.request) }
			var got tally
			for end := time.Now().Add(testserver.Patience); got.replies+got.errors == 0 && time.Now().Before(end); {
				if got, _, err = l.run(t.Context(), 20*time.Millisecond, connections); err != nil {
					t.Fatal(err)
				}
			}
			if got.replies > 0 != c.replies || got.errors > 0 == c.replies || got.replies != len(got.latencies) {
				t.Errorf("%d replies, %d errors (%v)", got.replies, got.errors, got.first)
			}
		})
	}
}

func TestReadRequest(t *testing.T) {
	for _, c := range []struct {
		text, path string
		keep, ok   bool
	}{
		{"GET /cached/1 HTTP/1.1\r\nHost: a\r\n\r\n", "cached/1", true, true},
		{"GET http://a:1/cached/1 HTTP/1.1\r\n\r\n", "cached/1", true, true},
		{"GET /cached/1 HTTP/1.1\r\nconnection: Close\r\n\r\n", "cached/1", false, true},
		{"GET /cached/1 HTTP/1.0\r\n\r\n", "cached/1", false, true},
		{"POST /cached/1 HTTP/1.1\r\n\r\n", "", false, false},
		{"GET /cached/1 HTTP/1.1\r\nHost", "", false, false},
		{"", "", false, false},
	} {
		path, keep, err := readRequest(bufio.NewReader(strings.NewReader(c.text)))
		if path != c.path || keep != c.keep || (err == nil) != c.ok {
			t.Errorf("%q: %q, %v, %v", c.text, path, keep, err)
		}
	}
}

func FuzzReadRequest(f *testing.F) {
	f.Add("GET http://a:1/cached/1 HTTP/1.1\r\nConnection: close\r\n\r\n")
	f.Fuzz(func(_ *testing.T, text string) {
		path, _, err := readRequest(bufio.NewReader(strings.NewReader(text)))
		if err == nil {
			_, _ = appendHead(nil, path, time.Unix(0, 0))
		}
	})
}
