package listen

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// A response is the same by HTTP/2, however large its head is: RFC 9113 section 8.1.
func TestAppendResponse(t *testing.T) {
	for _, tt := range []struct{ name, head, content, want string }{
		{"found", "302 Found\r\nLocation: b\r\nX-Y: z", "some", ":status: 302, location: b, x-y: z, some, end"},
		{"no content", "204 No Content\r\nAge: 1", "", ":status: 204, age: 1, end"},
		{"an own reason", "200 All: well\r\nA: ", "c", ":status: 200, a: , c, end"},
		{"a long value", "200 OK\r\nEtag: " + strings.Repeat("x", 127), "", ":status: 200, etag: " + strings.Repeat("x", 127) + ", end"},
		{"a head of several frames", "404 Not\r\nX: " + strings.Repeat("y", 40_000), "n", ":status: 404, x: " + strings.Repeat("y", 40_000) + ", n, end"},
		{"a full frame", "200 OK\r\nVia: x", strings.Repeat("z", maxAnswerFrame), ":status: 200, via: x, " + strings.Repeat("z", maxAnswerFrame) + ", end"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := []byte("before")
			octets, content, ok := appendResponse(before, 5, []byte("HTTP/1.1 "+tt.head+"\r\n\r\n"+tt.content))
			if !ok || content != len(tt.content) {
				t.Fatalf("%d octets of content, %t", content, ok)
			}
			framer := http2.NewFramer(io.Discard, bytes.NewReader(octets[len(before):]))
			framer.ReadMetaHeaders = hpack.NewDecoder(tableSize, nil)
			var said []string
			for {
				f, err := framer.ReadFrame()
				if err != nil {
					break
				}
				switch f := f.(type) {
				case *http2.MetaHeadersFrame:
					for _, field := range f.Fields {
						said = append(said, fmt.Sprintf("%s: %s", field.Name, field.Value))
					}
				case *http2.DataFrame:
					said = append(said, string(f.Data()))
				}
				if f.Header().Flags.Has(flagEndStream) {
					said = append(said, "end")
				}
				if f.Header().StreamID != 5 {
					t.Errorf("stream %d", f.Header().StreamID)
				}
			}
			if got := strings.Join(said, ", "); got != tt.want {
				t.Errorf("%.200q", got)
			}
		})
	}
	for _, octets := range []string{
		"", "HTTP/1.1 200", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nX: y\r\n", "HTTP/1.1 200 OK\r\nX\r\n\r\n",
		"HTTP/1.1 200 OK\r\n\r\n" + strings.Repeat("x", maxAnswerFrame+1),
	} {
		if _, _, ok := appendResponse(nil, 1, []byte(octets)); ok {
			t.Errorf("%.50q is a response", octets)
		}
	}
}
