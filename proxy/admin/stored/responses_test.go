package stored_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/cache/memory"
	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/testserver"
	adminapi "github.com/urnd/urnd/proxy/admin/api"
	"github.com/urnd/urnd/proxy/admin/stored"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// fill stores a response with a body and fields, to a request with other fields, in a cache.
func fill(t *testing.T, c *httpcache.Cache, key string, request, response httpmessage.Fields) {
	t.Helper()
	a, err := c.Serve(t.Context(),
		&httpcache.Request{Request: httpmessage.Request{Method: http.MethodGet, Fields: request}, Key: key},
		httpcache.OriginFunc(func(context.Context, httpcache.Outgoing) (*httpmessage.Response, error) {
			return &httpmessage.Response{
				Status: 200, Fields: response, Body: io.NopCloser(strings.NewReader("body")),
				ContentLength: 4,
			}, nil
		}))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Content.Close()
	if err := a.Content.SendTo(io.Discard, nil); err != nil {
		t.Fatal(err)
	}
	testserver.Wait(t, "it is stored", func() bool {
		found := c.Lookup(key)
		return len(found) > 0 && found[0].InMemory
	})
}

// newCache returns a cache of responses, and its constant time.
func newCache(t *testing.T) (*httpcache.Cache, time.Time) {
	t.Helper()
	store, err := memory.New(memory.Config[*httpcache.Entry]{MaxBytes: 1 << 20, Size: (*httpcache.Entry).Size})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	now := time.Date(2031, 5, 1, 12, 0, 0, 0, time.UTC)
	c := httpcache.New(httpcache.Config{
		Store: store, Now: func() time.Time { return now }, MaxObject: 1 << 20, MaxArriving: 1 << 20,
		SameOrigin: func(string, string) (string, bool) { return "", false },
	})
	t.Cleanup(c.Close)
	return c, now
}

// Administrators see the stored responses of a URI, without credentials of clients, and purge them.
func TestResponses(t *testing.T) {
	c, now := newCache(t)
	const key = "http://a.example/"
	modified := now.Add(-time.Hour).Format(http.TimeFormat)
	fill(t, c, key, httpmessage.NewFields("Accept-Language", "de", "Cookie", "secret=1", "Authorization",
		"Basic secret"), httpmessage.NewFields(
		"Cache-Control", "public, max-age=60", "Vary", "Accept-Language, Cookie, Authorization, X-Missing", "Etag",
		`"1"`, "Last-Modified", modified, "Surrogate-Key", "tag other", "Date", now.Format(http.TimeFormat),
	))
	fill(t, c, "http://b.example/", nil,
		httpmessage.NewFields("Cache-Control", "max-age=60", "Surrogate-Key", "tag", "Etag", `"2"`))
	refreshed := ""
	purges := stored.NewPurges(c, stored.PurgesConfig{})
	defer purges.Close()
	r := stored.New(c, purges, func(_ context.Context, key uri.URI) (int, error) {
		refreshed = key.String()
		return 1, resolver.ErrUnreachable
	}, nil)
	body, err := json.Marshal(r.Lookup(parsed(t, key)))
	want := `[{"status":200,"selecting":{"Accept-Language":"de","Authorization":"(not shown)","Cookie":"(not shown)","X-Missing":null},"age":0,"ttl":60,"size":4,"etag":"\"1\"","last_modified":"` + modified + `","where":["memory"],"tags":["tag","other"]}]`
	if string(body) != want || err != nil {
		t.Errorf("%s, want\n%s", body, want)
	}
	if found := r.Lookup(parsed(t, "http://c.example/")); len(found) > 0 {
		t.Errorf("nothing: %+v", found)
	}
	if n, err := r.Refresh(t.Context(), parsed(t, key)); n != 1 || err == nil || refreshed != key {
		t.Errorf("%s: %d, %v", refreshed, n, err)
	}
	for _, tt := range []struct {
		selection adminapi.ResponseSelection
		hard      bool
		want      int
		left      int // for the key
	}{
		{adminapi.ResponseSelection{URI: parsed(t, "http://c.example/")}, false, 0, 1},
		{adminapi.ResponseSelection{URI: parsed(t, key)}, false, 1, 1},
		{adminapi.ResponseSelection{Tag: "tag"}, false, 1, 1}, // the other one must be validated already
		{adminapi.ResponseSelection{Prefix: "http://b."}, true, 1, 1},
		{adminapi.ResponseSelection{All: true}, true, 1, 0},
	} {
		n := r.Purge(t.Context(), tt.selection, tt.hard)
		left := r.Lookup(parsed(t, key))
		if n != tt.want || len(left) != tt.left {
			t.Errorf("%+v: %d, and %d are left", tt.selection, n, len(left))
		}
		if tt.want > 0 && tt.left > 0 && !left[0].Purged {
			t.Errorf("%+v: it need not be validated", tt.selection)
		}
	}
}
