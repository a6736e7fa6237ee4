package answer_test

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/proxy/answer"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver"
)

// handleReply is the document of a handle.
type handleReply struct {
	ResponseCode int
	Handle       string
	Message      string
	Values       []struct {
		Index     int
		Type      string
		Data      struct{ Format, Value string }
		TTL       int
		Timestamp string
	}
}

func (h handleReply) types() string {
	var all []string
	for _, v := range h.Values {
		all = append(all, v.Type)
	}
	return strings.Join(all, " ")
}

// withHandles configures names of a registry as handles.
func withHandles(c *answer.Config) {
	c.Names = c.Names.WithOwnedPrefixes([]string{"urn:", "doi:10.5555/"})
	c.Handles = route.Handles{{Prefix: "20.500.1", Names: "urn:a1:"}, {Prefix: "10.5555", Names: "doi:10.5555/"}}
	c.Resolver = resolver.NewCanonical(c.Names, resolver.Func(handlesOfRegistry))
}

func handleRecord(name string) *resolver.Record {
	return &resolver.Record{
		Name: name, Version: 2, Changed: time.Date(2031, 5, 1, 10, 0, 0, 123, time.UTC), Status: "active",
		Contact:  "mailto:anna@example.org",
		Metadata: `{"title":"A <book> & more","creators":[]}`,
	}
}

// handlesOfRegistry resolves handles like the registry.
func handlesOfRegistry(_ context.Context, q resolver.Query) (resolver.Answer, error) {
	name := q.URI.String()
	record := handleRecord(name)
	record.Links = []resolver.Link{{URI: "https://a.example/rdf", Rel: "describedby", Type: "application/rdf+xml"}}
	switch name {
	case "urn:a1:gone":
		return resolver.Answer{}, &resolver.Negative{Kind: resolver.ErrGone, Reason: "merged", Record: record}
	case "urn:a1:reserved":
		return resolver.Answer{},
			&resolver.Negative{Kind: resolver.ErrNotFound, Reason: "it is reserved", Record: record}
	case "urn:a1:below":
		return resolver.Answer{},
			&resolver.Negative{
				Kind: resolver.ErrNotFound, Reason: "all that begin with urn:a1: are",
				Record: handleRecord("urn:a1:"),
			}
	case "urn:a1:unknown":
		return resolver.Answer{}, &resolver.Negative{Kind: resolver.ErrNotFound, Reason: "no such name"}
	case "urn:a1:elsewhere":
		return resolver.Answer{Locations: []resolver.Location{{
			URI:  "https://b.example/",
			From: &resolver.Source{Name: "ddds"},
		}}}, nil
	case "urn:a1:down":
		return resolver.Answer{}, resolver.ErrUnreachable
	case "urn:a1:alias":
		record = handleRecord("urn:a1:first")
	case "urn:a1:plain":
		record.Contact, record.Metadata, record.Links = "Anna, room 5", "", nil
	}
	source := &resolver.Source{Name: "registry", Record: record}
	german := &resolver.Source{
		Name: "registry", Record: record, Language: "de",
		Relation: &resolver.Relation{Rel: "item", Title: `"<Ä>"`, Context: "DE"},
	}
	found := []resolver.Location{
		{URI: "https://a.example/?x=1&y=<2>", From: source},
		{URI: "https://a.example/de", From: german},
	}
	if name == "urn:a1:plain" {
		found = found[:1]
	}
	return resolver.Answer{Locations: found, TTL: time.Hour, Cache: resolver.CacheHit}, nil
}

// The JSON API of the Handle System: RFC 3651 section 3.1, and the HTTP interface of Handle.net.
func TestHandles(t *testing.T) {
	s := start(t, withHandles)
	for _, tt := range []struct {
		target, handle, types string
		status, code          int
	}{
		{"20.500.1/b", "20.500.1/b", "URL URL EMAIL DESC 10320/loc", 200, 1},
		{"20.500.1%2Fb%20c", "20.500.1/b c", "URL URL EMAIL DESC 10320/loc", 200, 1},
		{"10.5555/B", "10.5555/B", "URL URL EMAIL DESC 10320/loc", 200, 1},
		{"20.500.1/b?type=URL&type=email&index=202", "20.500.1/b", "URL URL EMAIL DESC", 200, 1},
		{"20.500.1/b?index=2", "20.500.1/b", "URL", 200, 1},
		{"20.500.1/b?type=10320%2Floc&auth&cert=true&callback=f&pretty", "20.500.1/b", "10320/loc", 200, 1},
		{"20.500.1/b?type=HS_SITE", "20.500.1/b", "", 200, 200},
		{"20.500.1/b?index=x", "20.500.1/b", "", 200, 200},
		{"20.500.1/b?type=%ZZ", "20.500.1/b", "", 400, 102},
		{"20.500.1/plain", "20.500.1/plain", "URL", 200, 1},
		{"20.500.1/alias?type=HS_ALIAS", "20.500.1/alias", "HS_ALIAS", 200, 1},
		{"20.500.1/reserved", "20.500.1/reserved", "EMAIL DESC", 200, 1},
		{"20.500.1/below", "20.500.1/below", "", 404, 100},
		{"20.500.1/unknown", "20.500.1/unknown", "", 404, 100},
		{"20.500.1/elsewhere", "20.500.1/elsewhere", "", 404, 100},
		{"20.500.1/gone", "20.500.1/gone", "", 410, 100},
		{"20.500.1/down", "20.500.1/down", "", 502, 2},
		{"20.500.2/b", "20.500.2/b", "", 404, 100},
		{"20.500.1", "20.500.1", "", 400, 102},
		{"20.500.1/%FF", "", "", 400, 102},
	} {
		response := s.asked(t, "/api/handles/"+tt.target)
		body := text(t, response)
		var got handleReply
		err := json.Unmarshal([]byte(body), &got)
		if err != nil || response.StatusCode != tt.status || got.ResponseCode != tt.code || got.Handle != tt.handle ||
			got.types() != tt.types {
			t.Errorf("%s: %s, %v\n%s", tt.target, response.Status, err, body)
		}
		if strings.Contains(body, "\n ") != strings.Contains(tt.target, "pretty") ||
			(got.Message != "") != (tt.code != 1 && tt.code != 200) {
			t.Errorf("%s: %q", tt.target, body)
		}
		if page := s.asked(t, "/api/handles/"+tt.target,
			"Accept: text/html"); page.Header.Get("Content-Language") != "" ||
			page.Header.Get("Content-Security-Policy") != response.Header.Get("Content-Security-Policy") {
			t.Errorf("%s for a browser: %v", tt.target, page.Header)
		}
		if kind := response.Header.Get("Content-Type"); kind != "application/json" {
			t.Errorf("%s: %s", tt.target, kind)
		}
	}
}

// The fields of a handle value.
func TestHandleValues(t *testing.T) {
	s := start(t, withHandles)
	response := s.asked(t, "/api/handles/20.500.1/b")
	var got handleReply
	if err := json.Unmarshal([]byte(text(t, response)), &got); err != nil || len(got.Values) != 5 {
		t.Fatalf("%+v, %v", got, err)
	}
	first := got.Values[0]
	if first.Index != 1 || first.Data.Format != "string" || first.Data.Value != "https://a.example/?x=1&y=<2>" ||
		first.TTL != 3600 ||
		first.Timestamp != "2031-05-01T10:00:00Z" {
		t.Errorf("%+v", first)
	}
	if got.Values[1].Index != 2 || got.Values[2].Data.Value != "anna@example.org" ||
		got.Values[3].Data.Value != "A <book> & more" {
		t.Errorf("%+v", got.Values)
	}
	var locations struct {
		Locations []struct {
			HRef    string `xml:"href,attr"`
			Weight  int    `xml:"weight,attr"`
			Country string `xml:"country,attr"`
			Title   string `xml:"title,attr"`
			Rel     string `xml:"rel,attr"`
		} `xml:"location"`
	}
	if err := xml.Unmarshal([]byte(got.Values[4].Data.Value), &locations); err != nil || len(locations.Locations) != 3 {
		t.Fatalf("%+v, %v", locations, err)
	}
	all := locations.Locations
	if all[0].HRef != "https://a.example/?x=1&y=<2>" || all[0].Weight != 1 || all[1].Country != "de" ||
		all[1].Title != `"<Ä>"` || all[1].Weight != 0 ||
		all[2].Rel != "describedby" {
		t.Errorf("%+v", all)
	}
	if links := strings.Join(response.Header.Values("Link"), ", "); !strings.Contains(links, `rel="linkset"`) ||
		!strings.HasPrefix(
			response.Header.Get("Cache-Control"), "max-age=3600") {
		t.Errorf("%v", response.Header)
	}
}
