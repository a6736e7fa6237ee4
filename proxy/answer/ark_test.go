package answer_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/proxy/answer"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
)

// withARKs configures a registry with ARKs of NAAN 12345.
func withARKs(c *answer.Config) {
	day := time.Date(2031, 5, 1, 0, 0, 0, 0, time.UTC)
	records := map[string]*resolver.Record{
		"ark:/12345/x1":  {Status: "active", Metadata: `{"erc.who":"A\r\nwhat: B","erc.what":"C","erc.when":"2030"}`},
		"ark:/12345/own": {Status: "active", Metadata: `{"title":"C","erc-support.what":"Not Guaranteed"}`},
		"ark:/12345/gone": {
			Status: "withdrawn", Reason: "a\nb", Successors: []string{"ark:/12345/x1"},
			Metadata: `{"title":"D"}`,
		},
		"ark:/12345/later": {Status: "reserved"},
		"ark:/12345/p/x":   {Name: "ark:/12345/p/", Status: "active", Metadata: `{"title":"all below p"}`},
		"ark:/12345/other": {Name: "ark:/12345/x1", Status: "active", Metadata: `{"title":"C"}`},
	}
	c.Support = answer.Support{Who: "A library", What: "Permanent: Stable Content", When: "2031-05-01"}
	c.Names = c.Names.WithOwnedPrefixes([]string{"urn:", "ark:/12345/"})
	own := resolver.Func(func(_ context.Context, q resolver.Query) (resolver.Answer, error) {
		name := q.URI.String()
		record := records[name]
		switch {
		case name == "ark:/12345/lost":
			return resolver.Answer{}, resolver.ErrUnreachable
		case record == nil:
			return resolver.Answer{}, &resolver.Negative{Kind: resolver.ErrNotFound, TTL: time.Minute}
		}
		copied := *record
		if copied.Name == "" {
			copied.Name = name
		}
		copied.Version, copied.Changed, copied.Since = 1, day, day
		switch record.Status {
		case "withdrawn":
			return resolver.Answer{}, &resolver.Negative{Kind: resolver.ErrGone, TTL: time.Minute, Record: &copied}
		case "reserved":
			return resolver.Answer{}, &resolver.Negative{Kind: resolver.ErrNotFound, TTL: time.Minute, Record: &copied}
		}
		return resolver.Answer{Name: q.URI, TTL: time.Minute, Locations: []resolver.Location{{
			URI: "https://a.example/" + name, From: &resolver.Source{Name: "registry", Record: &copied},
		}}}, nil
	})
	c.Resolver = resolver.NewCanonical(c.Names,
		&resolver.Mux{Names: own, Locations: scheme.NewSelf(), Own: own, Owns: c.Names.Owns})
}

// An ARK with an inflection returns a description, and the commitment of the site: draft-kunze-ark-42 section
// 5.2. Its status is that of the ARK; without an inflection it behaves like any name.
func TestInflections(t *testing.T) {
	const site = "\nerc-support:\nwho: A library\nwhat: Permanent: Stable Content\nwhen: 20310501\nwhere: (:unkn)\n"
	const x1 = "erc:\nwho: A what: B\nwhat: C\nwhen: 2030\nwhere: ark:/12345/x1\n"
	s := start(t, withARKs)
	for _, tt := range []struct {
		target string
		status int
		body   string // "" for another kind of body
		link   string
	}{
		{"/ark:/12345/x1?info", 200, x1 + site, "/ark:/12345/x1"},
		{"/ark:12345/x1?info", 200, x1 + site, "/ark:/12345/x1"},
		{"/ARK:12345/x-1/?info", 200, x1 + site, "/ark:/12345/x1"},
		{"/ark:/12345/x1??", 200, x1 + site, "/ark:/12345/x1"},
		{"/ark:/12345/x1?", 200, x1, "/ark:/12345/x1"},
		{"/ark:/12345/own?info", 200, "erc:\nwho: (:unkn)\nwhat: C\nwhen: (:unkn)\nwhere: ark:/12345/own\n" +
			strings.Replace(site, "Permanent: Stable Content", "Not Guaranteed", 1), "/ark:/12345/own"},
		{
			"/ark:/12345/p/x?", 200, "erc:\nwho: (:unkn)\nwhat: (:unkn)\nwhen: (:unkn)\nwhere: ark:/12345/p/x\n",
			"/ark:/12345/p/x",
		},
		{
			"/ark:/12345/other?", 200, "erc:\nwho: (:unkn)\nwhat: C\nwhen: (:unkn)\nwhere: ark:/12345/other\n",
			"/ark:/12345/other",
		},
		{"/ark:/12345/gone?info", 410, "erc:\nwho: (:unkn)\nwhat: D\nwhen: (:unkn)\nwhere: ark:/12345/gone\n" +
			"note: withdrawn since 20310501: a b\nnote: succeeded by ark:/12345/x1\n" + site, "/ark:/12345/gone"},
		{
			"/ark:/12345/later?", 404,
			"erc:\nwho: (:unkn)\nwhat: (:unkn)\nwhen: (:unkn)\nwhere: ark:/12345/later\nnote: reserved since " +
				"20310501\n",
			"/ark:/12345/later",
		},
		{"/ark:/12345/none?info", 404, "", ""},
		{"/ark:/12345/lost?info", 502, "", ""},
		{"/ark:/12345/x1", 302, "", ""},
		{"/ark:/12345/x1?other", 302, "", ""},
		{"/ark:/12345/x1%3Finfo", 404, "", ""}, // a character of the name
		{"/uri-res/N2L?ark:/12345/x1?info", 303, "", ""},
	} {
		response := s.asked(t, tt.target)
		body := text(t, response)
		isERC := response.Header.Get("Content-Type") == "text/plain; charset=utf-8"
		if response.StatusCode != tt.status || isERC != (tt.body != "") || isERC && body != tt.body {
			t.Errorf("%s: %d %v\n%s", tt.target, response.StatusCode, response.Header, body)
		}
		links := response.Header["Link"]
		if want := "<https://r.example" + tt.link + `>; rel="describes"`; tt.link != "" &&
			(len(links) != 1 || !strings.Contains(links[0], want)) {
			t.Errorf("%s: no %s in %q", tt.target, want, links)
		}
	}
	if links := s.asked(t, "/ark:/12345/gone?info").Header.Get("Link"); !strings.Contains(links,
		`<https://r.example/ark:/12345/x1>; rel="successor-version"`) {
		t.Errorf("of a withdrawn name: %s", links)
	}
	if response := s.asked(t, "/ark:/12345/x1?info",
		"Accept: text/html"); response.Header.Get("Cache-Control") != "max-age=60" ||
		response.Header.Get("Content-Type") != "text/plain; charset=utf-8" {
		t.Errorf("to a browser: %v", response.Header)
	}
}
