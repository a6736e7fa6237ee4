package httpcache_test

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/httpmessage"
)

// TestOrder: fields keep the order and case in which the origin sent them, for a new response, from memory and
// from disk; the fields of a 304 are appended.
func TestOrder(t *testing.T) {
	directory := t.TempDir()
	s, closes := onDisk(t, directory)
	fields := httpmessage.NewFields("x-B", "1", "etag", `"1"`, "DATE", "Sun, 22 Nov 2026 08:00:00 GMT", "X-a", "2",
		"cache-control", "max-age=60", "X-b", "3")
	status, body := 200, "a"
	s.respond = func(context.Context, sent) (*httpmessage.Response, error) {
		return &httpmessage.Response{
			Status: status, Fields: fields, Body: io.NopCloser(strings.NewReader(body)),
			ContentLength: int64(len(body)),
		}, nil
	}
	for _, hit := range []bool{false, true} {
		g := s.get()
		if s.expect(g, 200, "a", hit); !slices.Equal(g.Fields, fields) {
			t.Errorf("hit: %t: %v", hit, g.Fields)
		}
	}
	closes()
	restarted, closes := onDisk(t, directory)
	defer closes()
	restarted.respond = s.respond
	g := restarted.get()
	if restarted.expect(g, 200, "a", true); !slices.Equal(g.Fields, fields) {
		t.Errorf("from disk: %v", g.Fields)
	}
	status, body = 304, ""
	fields = httpmessage.NewFields("ETAG", `"1"`, "Date", "Sun, 22 Nov 2026 08:02:00 GMT", "x-A", "4")
	g = restarted.get("Cache-Control: no-cache")
	want := httpmessage.NewFields("x-B", "1", "cache-control", "max-age=60", "X-b", "3", "ETAG", `"1"`, "Date",
		"Sun, 22 Nov 2026 08:02:00 GMT", "x-A", "4")
	if restarted.expect(g, 200, "a", false); !slices.Equal(g.Fields, want) {
		t.Errorf("validated: %v", g.Fields)
	}
}

// TestManyNames: excluded field names are looked up in constant time per field. With as many of both as a head
// can have, a scan would take minutes.
func TestManyNames(t *testing.T) {
	s := newSite(t, nil)
	var names, lines []string
	for range 20_000 {
		names = append(names, "a-long-name-that-is-in-no-field")
	}
	for range 900 {
		lines = append(lines, "X-Long-Name-That-Is-In-No-List: 1")
	}
	s.sends(200, "a", append(lines, `Cache-Control: max-age=60, private="`+strings.Join(names, ",")+`"`)...)
	s.expect(s.get(), 200, "a", false)
	s.expect(s.get(), 200, "a", true)
}
