package http

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/http/httpguts"

	"github.com/urnd/urnd/resolver/scheme"
)

// A head is refused as not valid, or is one that net/http understands in the same way.
func FuzzHead(f *testing.F) {
	for _, text := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.0 599 Whatever\nA: b\n c\n\n", "HTTP/1.1 204\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: a\r\n\r\n0\r\nA: b\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\n",
		"HTTP/1.1 101 \r\nUpgrade: a\r\n\r\n", "HTTP/1.1 200 OK\r\nA : b\r\n\r\n", "HTTP/1.1 200 OK\r\n: b\r\n\r\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		h, _, err := readHead(bufio.NewReaderSize(strings.NewReader(text), 16), nil, nil)
		if err != nil {
			if !errors.Is(err, scheme.ErrResponse) && !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatalf("%v", err)
			}
			return
		}
		if h.status < 100 || h.status > 999 || !httpguts.ValidHeaderFieldValue(h.reason) {
			t.Fatalf("%d %q", h.status, h.reason)
		}
		for _, f := range h.fields {
			if !httpguts.ValidHeaderFieldName(f.Name) || !httpguts.ValidHeaderFieldValue(f.Value) {
				t.Fatalf("%q: %q", f.Name, f.Value)
			}
		}
		if again, err := parseFields(string(h.fields.AppendTo(nil)), nil); err != nil || !slices.Equal(again, h.fields) {
			t.Fatalf("%q, printed and read again %q, %v", h.fields, again, err)
		}
		length := h.fields.Value("Content-Length")
		framed, err := frame(http.MethodGet, &h)
		if err != nil {
			if !errors.Is(err, scheme.ErrResponse) {
				t.Fatalf("%v", err)
			}
			return
		}
		other, err := http.ReadResponse(bufio.NewReader(strings.NewReader(text)), &http.Request{Method: http.MethodGet})
		if err != nil {
			return // it refuses more, such as a space in front of a number
		}
		defer other.Body.Close()
		if other.StatusCode != h.status {
			t.Fatalf("status %d, and %d of net/http", h.status, other.StatusCode)
		}
		if h.status < 200 || framed.empty && framed.length == 0 {
			return
		}
		if chunked := len(other.TransferEncoding) > 0; chunked != framed.chunked || other.ContentLength != framed.length {
			t.Fatalf("length %d (%q), chunked %t, and %d, %t of net/http", framed.length, length, framed.chunked, other.ContentLength, chunked)
		}
	})
}
