package answer_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/answer"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// history are the times of the versions of all names but those that end with "unknown" and "broken".
type history []time.Time

func (h history) Versions(_ context.Context, q resolver.Query) (resolver.Versions, error) {
	switch name := q.URI.String(); {
	case strings.HasSuffix(name, "unknown"):
		return resolver.Versions{}, &resolver.Negative{Kind: resolver.ErrNotFound, Reason: "the name is not registered"}
	case strings.HasSuffix(name, "broken"):
		return resolver.Versions{}, errors.New("broken")
	}
	var times []time.Time
	for _, at := range h {
		times = append(times, at.Truncate(time.Second))
	}
	name, _, _ := strings.Cut(q.URI.String(), "?")
	canonical, err := uri.Parse(name)
	return resolver.Versions{Name: canonical, Times: times, TTL: time.Minute}, err
}

// years returns the beginnings of n years from 2031 on.
func years(n int) history {
	times := make(history, n)
	for i := range times {
		times[i] = time.Date(2031+i, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return times
}

// ofYears returns a responder with a registry that changed a name each year: it was withdrawn in 2033, and
// restored in 2034.
func ofYears(t *testing.T, n int) *responder {
	t.Helper()
	s := start(t, func(c *answer.Config) { c.History = years(n) })
	s.next = func(_ context.Context, q resolver.Query) (resolver.Answer, error) {
		year := q.At.Year()
		if q.At.Nanosecond() != int(time.Second-time.Nanosecond) || q.Service != resolver.I2L {
			return resolver.Answer{}, errors.New("the end of a second was not asked for")
		}
		record := &resolver.Record{
			Name: "urn:x1:a", Status: "active",
			Changed: time.Date(year, 1, 1, 0, 0, 0, 5e8, time.UTC),
		}
		switch year {
		case 2033:
			record.Status, record.Successors = "withdrawn", []string{"urn:x1:b"}
			return resolver.Answer{},
				&resolver.Negative{Kind: resolver.ErrGone, Reason: "it was withdrawn", Record: record}
		case 2035: // its target has been withdrawn since
			record.Changed = time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC)
			return resolver.Answer{},
				&resolver.Negative{Kind: resolver.ErrGone, Reason: "it was withdrawn since", Record: record}
		case 2036:
			record.Redirect = http.StatusMovedPermanently
		}
		return resolver.Answer{
			Locations: []resolver.Location{{
				URI:  fmt.Sprintf("https://a.example/%d", year),
				From: &resolver.Source{Record: record},
			}}, TTL: time.Minute,
		}, nil
	}
	return s
}

const siteBase = "https://resolver.example.org"

// at returns the response of the server at siteBase.
func (s *responder) at(t *testing.T, target string, fields ...string) *http.Response {
	t.Helper()
	header := headerOf(fields...)
	parsed, err := route.Parse(target)
	var reply message.Reply
	if err == nil {
		reply, err = s.Reply(t.Context(),
			&answer.Request{
				Target: &parsed, Header: httpmessage.NewHeader(header), HTTP11: true, IsName: true,
				Base: siteBase,
			})
	}
	return written(header, reply, err)
}

// linkOf returns the target of the only link with a relation, "" for none.
func linkOf(t *testing.T, text, rel string) string {
	t.Helper()
	found := regexp.MustCompile(`<([^>]*)>; rel="([^"]*)"`).FindAllStringSubmatch(text, -1)
	target := ""
	for _, link := range found {
		if link[2] == rel {
			if target != "" {
				t.Errorf("two links are %s in %s", rel, text)
			}
			target = link[1]
		}
	}
	return target
}

func mementoOf(year int) string {
	return fmt.Sprintf(siteBase+"/memento/%d0101000000/urn:x1:a", year)
}

// RFC 7089 sections 4.2.1 and 4.5: a TimeGate redirects to the memento as of the requested time; the first
// one for an earlier time, and the last one for a later time or none.
func TestTimeGate(t *testing.T) {
	s := ofYears(t, 4)
	for field, year := range map[string]int{
		"X: y": 2034,
		"Accept-Datetime: Thu, 01 Jan 1970 00:00:00 GMT":  2031,
		"Accept-Datetime: Wed, 01 Jan 2031 00:00:00 GMT":  2031,
		"Accept-Datetime: Wed, 31 Dec 2031 23:59:59 GMT":  2031,
		"Accept-Datetime: Thu, 01 Jan 2032 00:00:00 GMT":  2032,
		"Accept-Datetime: Thursday, 01-Jan-32 00:00:00 G": 0,
		"Accept-Datetime: Fri, 01 Jan 2100 00:00:00 GMT":  2034,
		"Accept-Datetime: yesterday":                      0,
	} {
		response := s.at(t, "/timegate/urn:x1:a", field)
		links := response.Header.Get("Link")
		if response.Header.Get("Vary") != "Accept-Datetime" && year > 0 ||
			!strings.HasSuffix(response.Header.Get("Vary"), "Accept-Datetime") {
			t.Errorf("%s: Vary: %q", field, response.Header.Get("Vary"))
		}
		if year == 0 {
			if response.StatusCode != http.StatusBadRequest {
				t.Errorf("%s: %d", field, response.StatusCode)
			}
			continue
		}
		if got := response.Header.Get("Location"); response.StatusCode != http.StatusFound || got != mementoOf(year) ||
			response.Header.Get("Memento-Datetime") != "" {
			t.Errorf("%s: %d %s", field, response.StatusCode, got)
		}
		if len(response.Header["Link"]) != 1 || linkOf(t, links, "original") != siteBase+"/urn:x1:a" ||
			linkOf(t, links, "timegate") != siteBase+"/timegate/urn:x1:a" ||
			linkOf(t, links, "timemap") != siteBase+"/timemap/urn:x1:a" ||
			response.Header.Get("Cache-Control") != "max-age=60" {
			t.Errorf("%s: %v", field, response.Header)
		}
	}
}

// RFC 7089 section 2.2.4: a TimeGate and a memento link to the first and the last memento, and to their
// neighbours.
func TestMementoLinks(t *testing.T) {
	for versions, want := range map[int]map[int]string{
		1: {2031: "last first memento=2031"},
		2: {2031: "first memento=2031 last next memento=2032", 2032: "first prev memento=2031 last memento=2032"},
		5: {
			2031: "first memento=2031 next memento=2032 last memento=2035",
			2032: "first prev memento=2031 memento=2032 next memento=2033 last memento=2035",
			2034: "first memento=2031 prev memento=2033 memento=2034 last next memento=2035",
		},
	} {
		s := ofYears(t, versions)
		for year, mementos := range want {
			at := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC).Format(http.TimeFormat)
			links := s.at(t, "/timegate/urn:x1:a", "Accept-Datetime: "+at).Header.Get("Link")
			var got []string
			for _, link := range regexp.MustCompile(`/memento/(\d{4})0101000000/urn:x1:a>; rel="([^"]*)"; datetime="([^"]*)"`).FindAllStringSubmatch(links, -1) {
				got = append(got, link[2]+"="+link[1])
				if when, err := http.ParseTime(link[3]); err != nil || when.Format("2006") != link[1] {
					t.Errorf("the datetime of %s is %s", link[0], link[3])
				}
			}
			if strings.Join(got, " ") != mementos {
				t.Errorf("%d of %d: %s, want %s", year, versions, got, mementos)
			}
			if year != 2033 && year != 2035 &&
				!strings.HasSuffix(s.at(t, fmt.Sprintf("/memento/%d0101000000/urn:x1:a", year)).Header.Get("Link"),
					links) {
				t.Errorf("the memento of %d has other links", year)
			}
		}
	}
}

// RFC 7089 section 4.5.4: a memento is the former response of the name, with the time since which it was
// valid.
func TestMementoOfAName(t *testing.T) {
	s := ofYears(t, 6)
	for target, want := range map[string]struct {
		status   int
		location string
		year     int // of Memento-Datetime
	}{
		"/memento/20310101000000/urn:x1:a": {302, "https://a.example/2031", 2031},
		"/memento/20330101000000/urn:x1:a": {410, "", 2033},
		"/memento/20350101000000/urn:x1:a": {410, "", 0}, // it is not the former response of the name
		"/memento/20360101000000/urn:x1:a": {301, "https://a.example/2036", 2036},
		"/memento/20310101000001/urn:x1:a": {302, mementoOf(2031), 0},
		"/memento/19700101000000/urn:x1:a": {302, mementoOf(2031), 0},
		"/memento/99991231235959/urn:x1:a": {302, mementoOf(2036), 0},
		"/memento/20310101000000/unknown":  {400, "", 0},
		"/memento/20310101/urn:x1:a":       {400, "", 0},
		// A service that the URN selects is ignored.
		"/memento/20310101000000/urn:x1:a?s=I2C": {302, "https://a.example/2031", 2031},
		"/memento/20310101000000/urn:x1:unknown": {404, "", 0},
	} {
		response := s.at(t, target, "Accept: application/linkset+json, application/vnd.urnd.trace+json")
		datetime := ""
		if want.year > 0 {
			datetime = time.Date(want.year, 1, 1, 0, 0, 0, 0, time.UTC).Format(http.TimeFormat)
		}
		if response.StatusCode != want.status || response.Header.Get("Location") != want.location ||
			response.Header.Get("Memento-Datetime") != datetime {
			t.Errorf("%s: %d %v", target, response.StatusCode, response.Header)
		}
		if links := response.Header["Link"]; datetime != "" &&
			(len(links) != 1 || linkOf(t, links[0], "original") != siteBase+"/urn:x1:a") {
			t.Errorf("%s: the links are %v", target, links)
		}
	}
	if links := s.at(t, "/timegate/urn%3Ax1%3Aa%252C,").Header.Get("Link"); linkOf(t, links, "original") != siteBase+
		"/urn%3Ax1:a%252C%2C" {
		t.Errorf("bytes of a name become the links %q", links)
	}
	links := s.at(t, "/memento/20330101000000/urn:x1:a").Header.Get("Link")
	if linkOf(t, links, "successor-version") != siteBase+"/urn:x1:b" {
		t.Errorf("the memento of a withdrawn name has the links %s", links)
	}
}

// RFC 7089 section 5: the list of all mementos, in the syntax of RFC 6690.
func TestTimeMap(t *testing.T) {
	const (
		original = "<https://resolver.example.org/urn:x1:a>; rel=\"original\",\n"
		timegate = "<https://resolver.example.org/timegate/urn:x1:a>; rel=\"timegate\",\n"
		ends     = `; rel="self"; type="application/link-format"; from="Wed, 01 Jan 2031 00:00:00 GMT"; until="Sat, 01 Jan 2033 00:00:00 GMT"` + ",\n"
		mementos = `<https://resolver.example.org/memento/20310101000000/urn:x1:a>; rel="first memento"; datetime="Wed, 01 Jan 2031 00:00:00 GMT",
<https://resolver.example.org/memento/20320101000000/urn:x1:a>; rel="memento"; datetime="Thu, 01 Jan 2032 00:00:00 GMT",
<https://resolver.example.org/memento/20330101000000/urn:x1:a>; rel="last memento"; datetime="Sat, 01 Jan 2033 00:00:00 GMT"
`
	)
	s := ofYears(t, 3)
	for target, self := range map[string]string{
		"/timemap/urn:x1:a":   "<https://resolver.example.org/timemap/urn:x1:a>",
		"/timemap/1/urn:x1:a": "<https://resolver.example.org/timemap/1/urn:x1:a>",
	} {
		response := s.at(t, target)
		body := text(t, response)
		if response.StatusCode != http.StatusOK || response.Header.Get("Content-Type") != "application/link-format" ||
			response.Header.Get("Cache-Control") != "max-age=60" || body != original+timegate+self+ends+mementos {
			t.Errorf("%s: %d %v %s", target, response.StatusCode, response.Header, body)
		}
	}
	for target, status := range map[string]int{
		"/timemap/2/urn:x1:a": 404, "/timemap/urn:x1:unknown": 404,
		"/timemap/0/urn:x1:a": 400, "/timemap/urn:x1:broken": 500,
	} {
		if got := s.at(t, target).StatusCode; got != status {
			t.Errorf("%s: %d, want %d", target, got, status)
		}
	}
	if body := text(t, s.get(t, "/timemap/urn:x1:a,b;c")); !strings.HasPrefix(body,
		`</urn%3Ax1:a%2Cb%3Bc>; rel="original",`) || strings.Count(body, ",\n") != 5 {
		t.Errorf("where clients split at commas, and the URL of the server is not known: %s", body)
	}
}

// A TimeMap of many mementos links to its pages, which link to each other (RFC 7089 section 5.1).
func TestTimeMapInPages(t *testing.T) {
	s := ofYears(t, 2500)
	for page, want := range map[string]struct{ mementos, pages int }{
		"": {2, 3}, "1/": {1000, 2}, "2/": {1000, 2}, "3/": {500, 2}, "4/": {},
	} {
		response := s.at(t, "/timemap/"+page+"urn:x1:a")
		body := text(t, response)
		if want.pages == 0 {
			if response.StatusCode != http.StatusNotFound {
				t.Errorf("page %s: %d", page, response.StatusCode)
			}
			continue
		}
		if strings.Count(body, `memento"; datetime=`) != want.mementos ||
			strings.Count(body, `rel="timemap"`) != want.pages ||
			!strings.Contains(linkOf(t, body, "self")+"|", "/timemap/"+page+"urn:x1:a|") ||
			strings.Contains(body, `"first memento"`) != (page == "" || page == "1/") ||
			strings.Contains(body, `"last memento"`) != (page == "" || page == "3/") {
			t.Errorf("page %q: %d %s", page, response.StatusCode, body[:min(len(body), 1500)])
		}
	}
}

// Invalid requests fail, and the error of a TimeGate has Accept-Datetime in Vary, too.
func TestMomentsThatFail(t *testing.T) {
	s := ofYears(t, 1)
	for target, status := range map[string]int{
		"/timegate/urn:x1:unknown": 404, "/timegate/urn:x1:broken": 500, "/memento/20310101000000/urn:x1:broken": 500,
		"/uri-res/N2C?urn:x1:broken": 500,
	} {
		response := s.at(t, target, "Accept-Datetime: Wed, 01 Jan 2031 00:00:00 GMT")
		if response.StatusCode != status ||
			strings.HasPrefix(target, "/timegate/") && response.Header.Get("Vary") != "Accept, Accept-Datetime" {
			t.Errorf("%s: %d %v", target, response.StatusCode, response.Header)
		}
	}
	for _, target := range []string{"/timegate/urn:x1:a", "/timemap/urn:x1:a", "/memento/20310101000000/urn:x1:a"} {
		if got := start(t, nil).at(t, target).StatusCode; got != http.StatusNotFound {
			t.Errorf("%s without a registry: %d", target, got)
		}
	}
	s.next = failing(problem.ErrTooManyBatches)
	if got := s.at(t, "/memento/20310101000000/urn:x1:a").StatusCode; got != http.StatusServiceUnavailable {
		t.Errorf("a registry that is not available: %d", got)
	}
}

// The linkset of a name of the registry links to its TimeGate and TimeMap.
func TestMomentsInLinksets(t *testing.T) {
	for _, knows := range []bool{true, false} {
		s := start(t, func(c *answer.Config) {
			if knows {
				c.History = years(1)
			}
		})
		s.next = linked
		body := text(t, s.at(t, "/uri-res/N2C.links?urn:x1:a"))
		for rel, target := range map[string]string{
			"timegate": siteBase + "/timegate/urn:x1:a",
			"timemap":  siteBase + "/timemap/urn:x1:a",
		} {
			if got := linkOf(t, body, rel); (got == target) != knows || (got == "") == knows {
				t.Errorf("%s is %q", rel, got)
			}
		}
	}
}
