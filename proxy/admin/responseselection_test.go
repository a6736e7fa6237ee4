package admin_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/proxy/admin"
	adminapi "github.com/urnd/urnd/proxy/admin/api"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// fakeResponses implements api.Responses, and records purges. It has a response for each of its keys.
type fakeResponses struct {
	keys   []string
	purged []string
}

func (f *fakeResponses) Lookup(key uri.URI) []api.Response {
	language := "en"
	return []api.Response{{
		Status: 200, Selecting: map[string]*string{"Accept-Language": &language, "Accept": nil}, Age: 1, TTL: -2,
		Size: 3, ETag: `"1"`, LastModified: key.String(), Where: []string{"memory", "disk"}, Tags: []string{"a"},
		Partial: true,
		Purged:  true,
	}}
}

func (f *fakeResponses) Purge(_ context.Context, s adminapi.ResponseSelection, hard bool) int {
	n := 0
	for _, key := range f.keys {
		if s.Has(key) {
			n++
		}
	}
	f.purged = append(f.purged, strings.Join(strings.Fields(fmt.Sprintf("%d %s %t %t", n, s.Tag, s.All, hard)), " "))
	return n
}

func (f *fakeResponses) Explain(context.Context, uri.URI, httpmessage.Fields, bool) (api.Explanation, error) {
	return api.Explanation{}, nil
}

func (f *fakeResponses) Refresh(_ context.Context, key uri.URI) (int, error) {
	switch host, _ := key.Host(); host {
	case "fails.example":
		return 0, resolver.ErrUnreachable
	case "forbidden.example":
		return 0, netguard.ErrForbidden
	}
	f.purged = append(f.purged, "refresh "+key.String())
	return 1, nil
}

func TestAdminResponseSelection(t *testing.T) {
	keys := []string{
		"http://a.example/", "http://a.example/b", "https://a.example/", "http://a.example:8080/",
		"https://a.example:8080/",
		"http://b.a.example/", "http://[::1]/", "gopher://c.example/1", "news:1@a.example",
	}
	for query, want := range map[string]string{
		"uri=HTTP://A.example:80%23x":              "1 false false",
		"uri=http://a.example/./b":                 "1 false false",
		"uri=http://a.example/b&mode=hard":         "1 false true",
		"uri=http://a.example/b&mode=soft":         "1 false false",
		"uri=http://a.example/b?&mode=refresh":     "refresh http://a.example/b?",
		"uri=HTTP://a.example/b&mode=refresh":      "refresh http://a.example/b",
		"prefix=http://a.example/":                 "2 false false",
		"prefix=http://a.example":                  "3 false false",
		"prefix=https://":                          "2 false false",
		"uri=Gopher://C.example:70/1":              "1 false false",
		"uri=news:1%40a.example%23x":               "1 false false",
		"uri=mailto:a@b.example&mode=hard":         "0 false true",
		"uri=file:///a&mode=refresh":               "refresh file:///a",
		"prefix=gopher://":                         "1 false false",
		"prefix=news:":                             "1 false false",
		"host=c.example":                           "1 false false",
		"host=c.example:70":                        "1 false false",
		"host=A.Example":                           "5 false false",
		"host=a.example:80":                        "2 false false",
		"host=a.example:443":                       "1 false false",
		"host=a.example:08080":                     "2 false false",
		"host=[::1]":                               "1 false false",
		"host=example":                             "0 false false",
		"tag=a":                                    "9 a false false",
		"all=true":                                 "9 true false",
		"all=true&mode=hard":                       "9 true true",
		"uri=&host=b.a.example&tag=&prefix=&mode=": "1 false false",
	} {
		f := &fakeResponses{keys: keys}
		h := newAdminHandler(&fakeCaches{}, func(c *admin.Config) { c.Responses = f })
		response := adminRequest(h, "127.0.0.1:1", "DELETE /api/v1/responses?"+query)
		if body := text(t, response); response.StatusCode != 200 || strings.Join(f.purged, ";") != want ||
			!strings.HasPrefix(body, "{\n  \"purged\": ") {
			t.Errorf("%s: %d %s purged %q", query, response.StatusCode, body, f.purged)
		}
	}
	for _, query := range []string{
		"", "uri=", "mode=hard", "all=false", "all=1", "uri=http://a.example/&all=true",
		"uri=http://a.example/&uri=http://a.example/b",
		"mode=soft&mode=hard&all=true",
		"url=http://a.example/", "namespace=a", "uri=urn:isbn:0395363411", "uri=doi:10.1000/182",
		"uri=ftp://a.example/%250d", "uri=gopher", "uri=/b",
		"uri=http://", "uri=http://u@a.example/",
		"prefix=a.example/", "prefix=urn:", "prefix=gopher", "prefix=doi:", "prefix=HTTP://a.example/",
		"host=a.example/b", "host=u@a.example",
		"host=a.example:x", "host=:80", "host=http://a.example", "host=a%20b", "host=a%3Fb", "host=a%23",
		"uri=http://a.example/&mode=fresh", "all=true&mode=refresh", "host=a.example&mode=refresh",
		"all=true&soft=true", "uri=%zz&all=true",
	} {
		f := &fakeResponses{keys: keys}
		h := newAdminHandler(&fakeCaches{}, func(c *admin.Config) { c.Responses = f })
		response := adminRequest(h, "127.0.0.1:1", "DELETE /api/v1/responses?"+query)
		if body := text(t, response); response.StatusCode != 400 || len(f.purged) > 0 {
			t.Errorf("%q: %d %s purged %q", query, response.StatusCode, body, f.purged)
		}
	}
	h := newAdminHandler(&fakeCaches{}, nil)
	for query, want := range map[string]int{
		"uri=http://a.example": 200, "uri=news:1@a.example": 200, "uri=news:*": 200, "uri=news:@": 400, "": 400,
		"uri=a": 400, "uri=urn:a1:b": 400,
		"url=http://a.example/": 400, "uri=http://a.example/&all=true": 400,
	} {
		if got := adminRequest(h, "127.0.0.1:1", "GET /api/v1/responses?"+query).StatusCode; got != want {
			t.Errorf("lookup %q: %d", query, got)
		}
	}
	if got := adminRequest(h, "127.0.0.1:1",
		"DELETE /api/v1/responses?uri=http://fails.example/&mode=refresh").StatusCode; got != 502 {
		t.Errorf("a refresh that fails: %d", got)
	}
	if got := adminRequest(h, "127.0.0.1:1", "DELETE /api/v1/responses?all=true",
		"Sec-Fetch-Site: cross-site").StatusCode; got != 403 {
		t.Errorf("a page of another site: %d", got)
	}
}

// Hosts of selections are input of administrators, and canonical URIs input of clients.
func FuzzResponseHost(f *testing.F) {
	for _, seed := range []string{"a.example", "A.example:80", "[::1]:443", "a:b@c", ":", "a.example:", "%41"} {
		f.Add(seed, "http://a.example/")
	}
	f.Fuzz(func(t *testing.T, text, key string) {
		host, err := adminapi.ParseHost(text)
		if err != nil {
			return
		}
		s := adminapi.ResponseSelection{Host: host}
		s.Has(key)
		if u, err := uri.Parse("https://" + text + "/x"); err != nil || !s.Has(u.Normalize().String()) {
			t.Errorf("%q is not its own host: %v", text, err)
		}
	})
}
