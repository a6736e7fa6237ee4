//go:build linux

package main

import (
	"bufio"
	"errors"
	"os"
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
		batch          int
		status, length int
		replies        bool
		closes         bool
	}{
		{"empty", "GET /cached/0 HTTP/1.1\r\nHost: a\r\n\r\n", 1, 200, 0, true, false},
		{"one a connection", "GET /cached/7 HTTP/1.1\r\nHost: a\r\n\r\n", 1, 200, 7, true, true},
		{
			"closed by the server", "GET /cached/7 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", 1, 200, 7,
			true, true,
		},
		{"absolute-form", "GET http://a/no-store/1024 HTTP/1.1\r\nHost: a\r\n\r\n", 1, 200, 1024, true, false},
		{"more than a buffer", "GET /cached/1048576/1 HTTP/1.1\r\nHost: a\r\n\r\n", 1, 200, mebibyte, true, false},
		{"pipelined", "GET /cached/7 HTTP/1.1\r\nHost: a\r\n\r\n", 16, 200, 7, true, false},
		{
			"pipelined, more than a buffer", "GET /cached/100000 HTTP/1.1\r\nHost: a\r\n\r\n", 16, 200, 100000,
			true, false,
		},
		{"status", "GET /unknown HTTP/1.1\r\nHost: a\r\n\r\n", 1, 200, 0, false, false},
		{"length", "GET /cached/7 HTTP/1.1\r\nHost: a\r\n\r\n", 1, 200, 8, false, false},
		{"no reply", "POST / HTTP/1.1\r\nHost: a\r\n\r\n", 1, 200, 0, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			const connections = 2
			l, err := newLoad(ends.place.Origin, connections)
			if err != nil {
				t.Fatal(err)
			}
			defer l.close()
			l.replies, l.status, l.length, l.closes = c.batch, c.status, c.length, c.closes
			l.request = func(uint64) []byte { return []byte(strings.Repeat(c.request, c.batch)) }
			var got tally
			for end := time.Now().Add(testserver.Timeout); got.replies+got.errors == 0 && time.Now().Before(end); {
				if got, _, err = l.run(t.Context(), 20*time.Millisecond, connections); err != nil {
					t.Fatal(err)
				}
			}
			if got.reopened > 0 {
				t.Errorf("%d connections were closed by the server", got.reopened)
			}
			if got.replies > 0 != c.replies || got.errors > 0 == c.replies || got.replies != len(got.latencies) {
				t.Errorf("%d replies, %d errors (%v)", got.replies, got.errors, got.first)
			}
		})
	}
}

// Input of TestReceived, in response to three requests.
const (
	anyReply  = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
	lastReply = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello"
)

// TestReceived splits pipelined responses at any two positions: only the last is followed by the next requests.
func TestReceived(t *testing.T) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0) // accepts all requests
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	fd := int(null.Fd())
	for _, c := range []struct {
		text          string
		replies, sent int
		reopened      int
	}{
		{text: anyReply, replies: 1},
		{text: strings.Repeat(anyReply, 3), replies: 3, sent: 1},
		{text: anyReply + lastReply, replies: 2, reopened: 1},
	} {
		for i := range len(c.text) {
			for j := i; j < len(c.text); j++ {
				l, one := awaiting(fd)
				err := errors.Join(
					l.received(one, []byte(c.text[:i])), l.received(one, []byte(c.text[i:j])),
					l.received(one, []byte(c.text[j:])))
				got := l.tally
				if err != nil || got.replies != c.replies || len(got.latencies) != c.replies ||
					got.reopened != c.reopened || int(l.sent) != c.sent {
					t.Fatalf("%q, cut at %d and %d: %+v, sent %d times, %v", c.text, i, j, got, l.sent, err)
				}
			}
		}
	}
	for _, text := range []string{strings.Repeat(anyReply, 4), anyReply + lastReply + anyReply} {
		l, one := awaiting(fd)
		if err := l.received(one, []byte(text)); err == nil {
			t.Errorf("%q: more content than requested causes no error", text)
		}
	}
}

// awaiting returns a load with one connection that awaits three responses.
func awaiting(fd int) (*load, *client) {
	const replies = 3
	l := &load{request: func(uint64) []byte { return []byte("x") }, replies: replies, status: 200, length: 5}
	return l, &client{fd: fd, body: -1, awaits: replies, start: time.Now()}
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
