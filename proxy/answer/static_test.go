package answer

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
)

func TestStatic(t *testing.T) {
	text := []byte(strings.Repeat("a document ", 100))
	s := NewStatic("text/plain", text)
	plain := s.Reply(nil)
	if plain.Status != 200 || !bytes.Equal(plain.Body, text) || plain.Fields.Get("ETag") == "" ||
		plain.Fields.Get("Content-Encoding") != "" {
		t.Errorf("%+v", plain)
	}
	for accept, want := range map[string]bool{
		"gzip": true, "br, GZIP;q=0.5": true, "gzip;q=0": false,
		"gzip; q=0.000": false, "br": false, "": false,
	} {
		r := s.Reply(httpmessage.NewFields("Accept-Encoding", accept).Values)
		if got := r.Fields.Get("Content-Encoding") == "gzip"; got != want {
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
		if got, err := io.ReadAll(z); err != nil || !bytes.Equal(got, text) ||
			r.Fields.Get("ETag") == plain.Fields.Get("ETag") {
			t.Errorf("compressed: %v", err)
		}
	}
	etag := plain.Fields.Get("ETag")
	for field, status := range map[string]int{etag: 304, `"x", W/` + etag: 304, "*": 304, `"x"`: 0, "": 0} {
		if got := plain.Precondition("GET", httpmessage.NewFields("If-None-Match", field).Values); got != status {
			t.Errorf("%s: %d", field, got)
		}
	}
	if known := plain.NotModified(); known.Status != 304 || len(known.Body) > 0 || known.Fields.Get("ETag") != etag {
		t.Errorf("%+v", known)
	}
}

// Static documents: RFC 9309, and RFC 9116 section 2.5.5, by which a contact must expire in less than a year.
func TestStatics(t *testing.T) {
	all := StaticDocuments()
	for path, tt := range map[string]struct{ kind, part string }{
		"/api/v1/openapi.json": {"application/json", `"openapi": "3.`},
		"/robots.txt": {
			"text/plain; charset=utf-8",
			"User-agent: *\nAllow: /$\nAllow: /namespaces$\nAllow: /namespaces/\nAllow: /docs$\nAllow: " +
				"/docs/\nDisallow: /\n",
		},
		"/favicon.ico": {"image/vnd.microsoft.icon", "\x00\x00\x01\x00"},
	} {
		if all[path] == nil {
			t.Errorf("no %s", path)
			continue
		}
		if r := all[path].Reply(nil); r.Status != 200 || r.ContentType != tt.kind || r.CacheControl != "max-age=3600" ||
			!strings.Contains(string(r.Body), tt.part) {
			t.Errorf("%s: %d %s %s", path, r.Status, r.ContentType, r.CacheControl)
		}
	}
	if len(all) != 4 {
		t.Errorf("%d documents", len(all))
	}
	now := time.Date(2031, 12, 15, 13, 0, 0, 0, time.FixedZone("", 3600))
	r := Security("mailto:security@a.example", now)
	if string(r.Body) != "Contact: mailto:security@a.example\nExpires: 2032-01-14T12:00:00Z\n" || r.Status != 200 ||
		r.ContentType != "text/plain; charset=utf-8" || r.CacheControl != "max-age=3600" {
		t.Errorf("%+v %s", r, r.Body)
	}
}
