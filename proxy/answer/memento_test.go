package answer_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/proxy/answer"
	"github.com/urnd/urnd/resolver"
)

// RFC 7089 section 4.1.2: the URI of a description is its own TimeGate, and the description as of a time
// links to its memento. Names outside of the registry have no history.
func TestMemento(t *testing.T) {
	changed := time.Date(2031, 5, 1, 12, 0, 0, 5e8, time.UTC)
	requested := time.Date(2031, 6, 1, 0, 0, 0, 0, time.UTC)
	record := &resolver.Record{Name: "urn:x1:a", Version: 2, Changed: changed, Status: "active"}
	const (
		datetime = "Accept-Datetime: Sun, 01 Jun 2031 00:00:00 GMT"
		timegate = `</uri-res/N2C?urn:x1:a>; rel="original", </uri-res/N2C?urn:x1:a>; rel="timegate"`
		ofName   = `</timegate/urn:x1:a>; rel="timegate"; anchor="/urn:x1:a", </timemap/urn:x1:a>; rel="timemap"; anchor="/urn:x1:a"; type="application/link-format"`
		memento  = "/api/v1/resolve?at=2031-05-01T12%3A00%3A00.5Z&uri=urn%3Ax1%3Aa"
	)
	for name, tt := range map[string]struct {
		history   bool
		target    string
		field     string
		record    *resolver.Record
		requested time.Time
		status    int
		vary      string
		timegate  bool
		memento   bool
	}{
		"now": {
			true, "/uri-res/N2C?urn:x1:a", "X: y", record,
			time.Time{},
			200, "Accept, Accept-Datetime",
			true, false,
		},
		"then": {
			true, "/uri-res/N2C?urn:x1:a", datetime, record, requested, 200, "Accept, Accept-Datetime",
			true, true,
		},
		"before it was registered": {
			true, "/uri-res/N2C?urn:x1:a", "Accept-Datetime: Thu, 01 Jan 1970 00:00:00 GMT", record,
			resolver.EndOfSecond(changed.Truncate(time.Second)), 200, "Accept, Accept-Datetime", true, true,
		},
		"the linkset now": {
			true, "/uri-res/N2C.linkset?urn:x1:a", "X: y", record,
			time.Time{},
			200,
			"Accept, Accept-Datetime", true, false,
		},
		"the linkset then": {
			true, "/uri-res/N2C.links?urn:x1:a", datetime, record, requested, 200,
			"Accept, Accept-Datetime", true, true,
		},
		"all descriptions": {
			true, "/uri-res/I2Cs?urn:x1:a", datetime, record, requested, 200,
			"Accept, Accept-Datetime", true, true,
		},
		"no date (section 2.1.1)": {
			true, "/uri-res/N2C?urn:x1:a", "Accept-Datetime: yesterday", record,
			time.Time{},
			400, "Accept, Accept-Datetime", false, false,
		},
		"not of the registry": {true, "/uri-res/N2C?urn:x1:a", datetime, nil, requested, 200, "Accept", false, false},
		"no history": {
			false, "/uri-res/N2C?urn:x1:a", datetime, record,
			time.Time{},
			200, "Accept",
			false, false,
		},
		"no description": {
			true, "/uri-res/N2Ls?urn:x1:a", datetime, record,
			time.Time{},
			200, "Accept",
			false, false,
		},
		"where it leads": {true, "/urn:x1:a", datetime, record, time.Time{}, 302, "Accept", false, false},
		"a memento of the parameter": {
			true, "/api/v1/resolve?at=2031-06-01T00:00:00Z&uri=urn:x1:a", "Accept-Datetime: yesterday", record,
			requested, 200, "Accept", false, false,
		},
	} {
		s := start(t, func(c *answer.Config) {
			if tt.history {
				c.History = history{changed}
			}
		})
		var at time.Time
		s.next = func(_ context.Context, q resolver.Query) (resolver.Answer, error) {
			if at = q.At; !q.Service.Locates() {
				return resolver.Answer{}, &resolver.Negative{Kind: resolver.ErrNotFound, Unclaimed: true}
			}
			return resolver.Answer{Locations: []resolver.Location{{
				URI:  "http://a.example/",
				From: &resolver.Source{Record: tt.record},
			}}, TTL: time.Minute}, nil
		}
		response := s.get(t, tt.target, tt.field)
		if response.StatusCode != tt.status || response.Header.Get("Vary") != tt.vary || !at.Equal(tt.requested) {
			t.Errorf("%s: %d %v, asked for %v", name, response.StatusCode, response.Header, at)
		}
		links := strings.Join(response.Header["Link"], ", ")
		if strings.Contains(links, timegate) != tt.timegate || strings.Contains(links, ofName) != tt.timegate ||
			strings.Contains(links,
				"<"+memento+`>; rel="memento"; datetime="`+changed.Format(http.TimeFormat)+`"`) != tt.memento {
			t.Errorf("%s: the links are %s", name, links)
		}
		if got := response.Header.Get("Memento-Datetime"); (got == changed.Format(http.TimeFormat)) != tt.memento ||
			(got != "") != tt.memento {
			t.Errorf("%s: Memento-Datetime: %q", name, got)
		}
		if got := response.Header.Get("Content-Location"); (got == memento) != tt.memento || (got != "") != tt.memento {
			t.Errorf("%s: Content-Location: %q", name, got)
		}
	}
}
