package stored_test

import (
	"context"
	"testing"
	"time"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/cache/httpcache/rules"
	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/admin/stored"
	"github.com/urnd/urnd/uri"
)

// TestWhy checks that each reason has a text, and its advice.
func TestWhy(t *testing.T) {
	t.Parallel()
	c, now := newCache(t)
	one := func(i httpcache.Info) httpcache.Explanation {
		i.Received, i.FreshUntil = now, now.Add(time.Minute)
		return httpcache.Explanation{Forwarded: "stale", Stored: []httpcache.Info{i}, Rule: -1}
	}
	none := func(forwarded string) httpcache.Explanation {
		return httpcache.Explanation{Forwarded: forwarded, Selected: -1, Rule: -1}
	}
	fresh, used := one(httpcache.Info{}), one(httpcache.Info{})
	fresh.Forwarded, fresh.Rule = "", 2
	used.Forwarded, used.Stale = "", true
	for _, tt := range []struct {
		e             stored.Explanation
		outcome, code string
		rule          string
	}{
		{stored.Explanation{Cache: none("uri-miss")}, "origin", "uri-miss", ""},
		{stored.Explanation{Cache: none("vary-miss")}, "origin", "vary-miss", ""},
		{stored.Explanation{Cache: none("request")}, "origin", "request", ""},
		{stored.Explanation{Cache: none("bypass")}, "origin", "bypass", ""},
		{stored.Explanation{Cache: none("partial")}, "origin", "partial", ""},
		{stored.Explanation{Cache: one(httpcache.Info{})}, "origin", "stale", ""},
		{stored.Explanation{Cache: one(httpcache.Info{NoCache: true})}, "origin", "no-cache", ""},
		{stored.Explanation{Cache: one(httpcache.Info{NoCache: true, Purged: true})}, "origin", "purged", ""},
		{
			stored.Explanation{Cache: fresh, Site: &api.ExplainedSite{}, CacheSetting: "a.cache"},
			"hit", "fresh",
			"a.cache.2",
		},
		{stored.Explanation{Cache: used}, "stale", "stale-while-revalidate", ""},
		{
			stored.Explanation{Own: true, Status: 301, Location: "http://b.example/", CacheSetting: "a.cache"},
			"urnd", "",
			"",
		},
	} {
		tt.e.Key, tt.e.Advice = "http://a.example/", map[string]string{tt.code: "advice", "private": "another one"}
		tt.e.Sent = &stored.Sent{
			Status:  200,
			Outcome: httpcache.Outcome{Forwarded: "uri-miss", NotStored: rules.ReasonPrivate},
		}
		r := stored.New(c, nil, nil,
			func(context.Context, uri.URI, httpmessage.Fields, bool) (stored.Explanation, error) { return tt.e, nil })
		why, err := r.Explain(t.Context(), parsed(t, "http://me:secret@a.example/"), nil, true)
		if err != nil || why.Outcome != tt.outcome || why.Rule != tt.rule ||
			len(why.Responses) != len(tt.e.Cache.Stored) || why.URL != "http://me@a.example/" {
			t.Errorf("%s: %+v, %v", tt.code, why, err)
			continue
		}
		if tt.code == "" {
			if why.Reason != nil || why.Status != 301 || why.Location == "" {
				t.Errorf("%+v", why)
			}
			continue
		}
		used := tt.outcome != "origin"
		if r := why.Reason; r.Code != tt.code || r.Text == "" || r.Section == "" && tt.code != "bypass" ||
			(r.Advice == "") != used {
			t.Errorf("%s: %+v", tt.code, r)
		}
		if s := why.Sent; s.NotStored == nil || s.NotStored.Code != "private" || s.NotStored.Section == "" ||
			s.NotStored.Advice != "another one" || s.Stored ||
			s.CacheStatus != "urnd; fwd=uri-miss; detail=private" {
			t.Errorf("%s: %+v", tt.code, s)
		}
	}
}
