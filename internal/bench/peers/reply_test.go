//go:build linux

package main

import (
	"errors"
	"testing"
)

// TestParseHead checks RFC 9112 sections 4 and 9.3, and RFC 9110 section 8.6.
func TestParseHead(t *testing.T) {
	for _, c := range []struct {
		text    string
		want    head
		partial bool
		ok      bool
	}{
		{"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", head{status: 200, length: 5, size: 38}, false, true},
		{
			"HTTP/1.1 302 Found\r\ncontent-length:0\r\nCONNECTION: Close\r\n\r\n",
			head{status: 302, close: true, size: 59},
			false, true,
		},
		{
			"HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\n",
			head{status: 200, length: 1, close: true, size: 38},
			false, true,
		},
		{
			"HTTP/1.0 200 OK\r\nContent-Length: 1\r\nConnection: keep-alive\r\n\r\n",
			head{status: 200, length: 1, size: 62},
			false, true,
		},
		{"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n", head{}, true, false},
		{"", head{}, true, false},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", head{}, false, false},
		{"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n", head{}, false, false},
		{"HTTP/1.1 abc OK\r\nContent-Length: 5\r\n\r\n", head{}, false, false},
		{"HTTP/1.1\r\nContent-Length: 5\r\n\r\n", head{}, false, false},
		{"SSH-2.0-OpenSSH\r\n\r\n", head{}, false, false},
	} {
		got, err := parseHead([]byte(c.text))
		if errors.Is(err, errPartial) != c.partial || (err == nil) != c.ok || c.ok && got != c.want {
			t.Errorf("%q: %+v, %v, want %+v", c.text, got, err, c.want)
		}
	}
}

func FuzzParseHead(f *testing.F) {
	f.Add([]byte("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello"))
	f.Add([]byte("HTTP/1.1 200\r\n\r\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		h, err := parseHead(text)
		if err == nil && (h.length < 0 || h.size > len(text)) {
			t.Errorf("%q: %+v", text, h)
		}
	})
}
