package answer

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestStatic(t *testing.T) {
	text := []byte(strings.Repeat("a document ", 100))
	s := NewStatic("text/plain", text)
	plain := s.Reply(http.Header{})
	if plain.Status != 200 || !bytes.Equal(plain.Body, text) || plain.Header.Get("Etag") == "" || plain.Header.Get("Content-Encoding") != "" {
		t.Errorf("%+v", plain)
	}
	for accept, want := range map[string]bool{"gzip": true, "br, GZIP;q=0.5": true, "gzip;q=0": false, "gzip; q=0.000": false, "br": false, "": false} {
		r := s.Reply(http.Header{"Accept-Encoding": {accept}})
		if got := r.Header.Get("Content-Encoding") == "gzip"; got != want {
			t.Errorf("%q: %t", accept, got)
			continue
		}
		if !want {
			continue
		}
		z, err := gzip.NewReader(bytes.NewReader(r.Body))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(z); err != nil || !bytes.Equal(got, text) || r.Header.Get("Etag") == plain.Header.Get("Etag") {
			t.Errorf("compressed: %v", err)
		}
	}
	etag := plain.Header.Get("Etag")
	for field, status := range map[string]int{etag: 304, `"x", W/` + etag: 304, "*": 304, `"x"`: 200, "": 200} {
		if r := s.Reply(http.Header{"If-None-Match": {field}}); r.Status != status || status == 304 && (len(r.Body) > 0 || r.Header.Get("Etag") != etag) {
			t.Errorf("%s: %+v", field, r)
		}
	}
}
