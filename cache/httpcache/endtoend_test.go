package httpcache_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/urnd/urnd/cache/httpcache"
)

// Fields that Connection names are of one connection, but those that are for all recipients: RFC 9110 section 7.6.1.
func TestEndToEnd(t *testing.T) {
	for _, test := range []struct {
		connection []string
		field      string
		stays      bool
	}{
		{nil, "X-A", true},
		{nil, "Keep-Alive", false},
		{[]string{"close"}, "X-A", true},
		{[]string{"keep-alive, Upgrade,TE , http2-settings"}, "Upgrade", false},
		{[]string{"Proxy-Connection", ",, ,", ""}, "Proxy-Connection", false},
		{[]string{"X-A"}, "X-A", false},
		{[]string{"close", " x-a"}, "X-A", false},
		{[]string{"x-b"}, "X-A", true},
		{[]string{"x-a"}, "x-A", false}, // a name that is not canonical
		{[]string{`"close"`}, "X-A", true},
		{[]string{"Cache-Control"}, "Cache-Control", true},
		{[]string{"cdn-cache-control"}, "Cdn-Cache-Control", true},
		{[]string{"VARY"}, "Vary", true},
		{[]string{"age,date,expires,pragma"}, "Expires", true},
		{[]string{"set-cookie"}, "Set-Cookie", true},
		{[]string{"etag"}, "Etag", true},
		{[]string{"content-encoding"}, "Content-Encoding", true},
		{[]string{"content-length"}, "Content-Length", true},
		{[]string{"surrogate-control"}, "Surrogate-Control", true},
		{[]string{"cookie"}, "Cookie", true},
		{[]string{"authorization"}, "Authorization", true},
		{[]string{"host"}, "Host", true},
		{[]string{"x-forwarded-for"}, "X-Forwarded-For", true},
		{[]string{"via"}, "Via", true},
		{[]string{"accept-language"}, "Accept-Language", true},
		{[]string{"if-none-match"}, "If-None-Match", true},
	} {
		header := http.Header{test.field: {"1"}}
		if test.connection != nil {
			header["Connection"] = test.connection
		}
		got := httpcache.EndToEnd(header)
		if _, stays := got[test.field]; stays != test.stays || len(got["Connection"]) > 0 {
			t.Errorf("%q: %v", test.connection, got)
		}
	}
}

// What Connection names is looked for once a field: with as many of both as a head has, this would take minutes.
func TestEndToEndOfMany(t *testing.T) {
	header := http.Header{}
	for i := range 20_000 {
		header[fmt.Sprintf("X-%d", i)] = nil
	}
	names := slices.Collect(maps.Keys(header))
	header["Connection"] = []string{strings.Join(names[1:], ",")}
	if got := httpcache.EndToEnd(header); len(got) != 1 {
		t.Errorf("%d fields", len(got))
	}
}

// FuzzEndToEnd: no field of a connection stays, no other one goes but what Connection names, and twice is as once.
func FuzzEndToEnd(f *testing.F) {
	f.Add("close, X-A", "X-A", "Cache-Control")
	f.Add("\x80, ,Cache-Control", "Te", "İ")
	f.Fuzz(func(t *testing.T, connection, one, two string) {
		header := http.Header{"Connection": {connection}, one: {"1"}, two: {"2"}}
		got := httpcache.EndToEnd(header)
		for name := range header {
			_, stays := got[name]
			isOfHop := len(httpcache.EndToEnd(http.Header{name: nil})) == 0
			if !stays && !isOfHop && !strings.Contains(strings.ToLower(connection), strings.ToLower(name)) {
				t.Errorf("%q goes for %q", name, connection)
			}
		}
		if again := httpcache.EndToEnd(got); len(again) != len(got) {
			t.Errorf("%v is %v", got, again)
		}
	})
}
