package answer_test

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver"
)

func TestDescription(t *testing.T) {
	s := start(t, nil)
	s.next = withLocations("http://a.example/")
	var d struct {
		ID        string `json:"@id"`
		SameAs    []string
		URL       []string
		Namespace string
		Status    string
		Warnings  []struct{ Rule string }
	}
	response := s.get(t, "/uri-res/N2C?URN:ISBN:0-395-36341-1", "Accept: */*")
	if err := json.Unmarshal([]byte(text(t, response)), &d); err != nil ||
		response.Header.Get("Content-Type") != "application/ld+json" ||
		d.ID != "urn:isbn:0395363411" || d.SameAs[0] != "urn:isbn:9780395363416" || d.URL[0] != "http://a.example/" ||
		d.Namespace != "isbn" || d.Status != "located" {
		t.Errorf("%+v, %v", d, err)
	}
	rows, err := csv.NewReader(strings.NewReader(text(t,
		s.get(t, "/uri-res/I2Cs?urn:x-a:b", "Accept: text/csv")))).ReadAll()
	if err != nil || len(rows) < 4 || rows[0][0] != "property" || rows[1][1] != "urn:x-a:b" ||
		!strings.Contains(rows[len(rows)-1][1], "experimental") {
		t.Errorf("%q, %v", rows, err)
	}
	if page := text(t, s.get(t, "/uri-res/N2C?urn:example:%3Cb%3E", "Accept: text/html")); !strings.Contains(page,
		`<th scope="row">identifier</th><td><a href="/urn:example:%3Cb%3E"><code dir="auto">urn:example:%3Cb%3E</code></a>`) {
		t.Errorf("%s", page)
	}
	for _, tt := range []struct {
		err    error
		want   string
		status int
	}{
		{&resolver.Negative{Kind: resolver.ErrGone}, "gone", http.StatusGone},
		{&resolver.Negative{Kind: resolver.ErrNotFound}, "unknown", http.StatusNotFound},
		// No authority was queried.
		{&resolver.Negative{Kind: resolver.ErrNotFound, Unclaimed: true}, "unknown", http.StatusOK},
		{resolver.ErrUnreachable, "unreachable", http.StatusOK},
	} {
		err, want := tt.err, tt.want
		s.next = func(context.Context, resolver.Query) (resolver.Answer, error) { return resolver.Answer{}, err }
		response := s.get(t, "/uri-res/N2C?urn:example:a", "Accept: application/json")
		if err := json.Unmarshal([]byte(text(t, response)), &d); err != nil || response.StatusCode != tt.status ||
			d.Status != want {
			t.Errorf("%s: %d %+v, %v", want, response.StatusCode, d, err)
		}
	}
	s.next = func(context.Context, resolver.Query) (resolver.Answer, error) {
		return resolver.Answer{}, &resolver.Negative{Kind: resolver.ErrGone}
	}
	if response := s.get(t, "/urn:example:a"); response.StatusCode != http.StatusGone {
		t.Errorf("a name that is gone: %d", response.StatusCode)
	}
}

// The registry record of a name is in all formats of its description, even if the name does not resolve, and
// no authority is queried for another description. RFC 5829 section 3.3: successors.
func TestDescriptionOfRecord(t *testing.T) {
	day := func(n int) time.Time { return time.Date(2031, 5, n, 0, 0, 0, 0, time.UTC) }
	withdrawn := &resolver.Record{
		Name: "urn:x1:a", Version: 3, Changed: day(2), Status: "withdrawn", Since: day(1), Reason: "a  new\nedition",
		Successors: []string{"urn:x1:b", "urn:x1:c"}, Metadata: `{"title": "A"}`, Contact: "mailto:a@a.example",
		Sandbox: true,
	}
	reserved := &resolver.Record{Name: "urn:x1:a", Version: 1, Changed: day(1), Status: "reserved", Since: day(1)}
	active := &resolver.Record{Name: "urn:x1:a", Version: 2, Changed: day(1), Status: "active", Since: day(1)}
	for _, tt := range []struct {
		record *resolver.Record
		kind   error // of the negative answer, nil for an answer with a location
		http   int
		status string
		rows   string // after the URL
		links  int    // to successors
	}{
		{
			withdrawn, resolver.ErrGone, http.StatusGone, "gone",
			"since=2031-05-01T00:00:00Z|reason=a  new\nedition|successor=urn:x1:b|successor=urn:x1:c|" +
				`metadata={"title": "A"}|contact=mailto:a@a.example|version=3|changed=2031-05-02T00:00:00Z|sandbox=sandbox: it may be removed`, 2,
		},
		{
			reserved, resolver.ErrNotFound, http.StatusNotFound, "reserved",
			"since=2031-05-01T00:00:00Z|version=1|changed=2031-05-01T00:00:00Z", 0,
		},
		{active, nil, http.StatusOK, "located", "since=2031-05-01T00:00:00Z|version=2|changed=2031-05-01T00:00:00Z", 0},
	} {
		s := start(t, nil)
		s.next = func(_ context.Context, q resolver.Query) (resolver.Answer, error) {
			if !q.Service.Locates() {
				t.Errorf("%s: its authority is asked by %s", tt.status, q.Service)
			}
			if tt.kind != nil {
				return resolver.Answer{},
					&resolver.Negative{Kind: tt.kind, TTL: time.Minute, Cache: resolver.CacheHit, Record: tt.record}
			}
			return resolver.Answer{TTL: time.Minute, Cache: resolver.CacheHit, Locations: []resolver.Location{{
				URI:  "http://a.example/",
				From: &resolver.Source{Record: tt.record},
			}}}, nil
		}
		response := s.get(t, "/uri-res/N2C?urn:x1:a", "Accept: text/csv")
		rows, err := csv.NewReader(strings.NewReader(text(t, response))).ReadAll()
		var all []string
		for _, row := range rows {
			all = append(all, strings.Join(row, "="))
		}
		if got := strings.Join(all, "|"); err != nil || response.StatusCode != tt.http || !strings.Contains(got,
			"|status="+tt.status+"|") || !strings.Contains(got, tt.rows) {
			t.Errorf("%s: %d %s, %v", tt.status, response.StatusCode, got, err)
		}
		if response.Header.Get("Cache-Control") != "max-age=60" ||
			(response.Header.Get("Urnd-Sandbox") == "?1") != tt.record.Sandbox {
			t.Errorf("%s: %v", tt.status, response.Header)
		}
		if got := strings.Count(strings.Join(response.Header["Link"], ", "),
			`rel="successor-version"`); got != tt.links {
			t.Errorf("%s: %d successors", tt.status, got)
		}
		var d struct {
			Status   string
			Validity int
			Record   struct{ Version int }
		}
		if err := json.Unmarshal([]byte(text(t, s.get(t, "/uri-res/N2C?urn:x1:a"))),
			&d); err != nil || d.Status != tt.status || d.Validity != 60 || d.Record.Version != tt.record.Version {
			t.Errorf("%s: %+v, %v", tt.status, d, err)
		}
		plain := text(t, s.get(t, "/uri-res/N2C?urn:x1:a", "Accept: text/plain"))
		// Values are single lines.
		if strings.Contains(plain, "reason: ") && !strings.Contains(plain, "reason: a new edition\r\n") {
			t.Errorf("%s: %s", tt.status, plain)
		}
	}
}
