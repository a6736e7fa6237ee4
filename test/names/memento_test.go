//go:build e2e

package names

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/test/urndtest"
)

// head sends HEAD for a URL with a Host, "" for its own, and follows no redirects.
func head(t *testing.T, target, host, datetime string) *http.Response {
	t.Helper()
	request, err := http.NewRequest(http.MethodHead, target, nil)
	if err != nil {
		t.Fatal(err)
	}
	if request.Host = host; datetime != "" {
		request.Header.Set("Accept-Datetime", datetime)
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	return response
}

// clientLinks returns the targets of a Link field by relation, as parsed by mementoweb's client: byte by byte,
// a target ends before the next semicolon, and a value before the next quote; targets with the same byte
// sequence are identical.
func clientLinks(t *testing.T, field string) map[string]string {
	t.Helper()
	links := make(map[string]string)
	for rest := strings.TrimSpace(field); rest != ""; {
		target, after, ok := strings.Cut(rest, ";")
		if !ok || !strings.HasPrefix(target, "<") || !strings.HasSuffix(target, ">") {
			t.Fatalf("a client cannot read the link %q of %s", target, field)
		}
		for rest = ";" + after; strings.HasPrefix(rest, ";"); rest = strings.TrimSpace(rest) {
			name, value, _ := strings.Cut(rest[1:], `="`)
			value, rest, ok = strings.Cut(value, `"`)
			if !ok {
				t.Fatalf("a client cannot read the parameter %q of %s", name, field)
			}
			if strings.TrimSpace(name) == "rel" {
				for rel := range strings.FieldsSeq(value) {
					links[rel] = strings.Trim(target, "<>")
				}
			}
		}
		rest = strings.TrimSpace(strings.TrimPrefix(rest, ","))
	}
	return links
}

// mementoSite is a site whose registry changed names in the first seconds of 2021.
type mementoSite struct {
	*urndtest.Daemon
	origin string
}

func second(n int) time.Time { return time.Date(2021, 1, 1, 0, 0, n, 0, time.UTC) }

func startMementoSite(t *testing.T) mementoSite {
	t.Helper()
	origin := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(origin.Close)
	r := urndtest.NewRegistry(t)
	now := second(1)
	r = r.For(t, func() time.Time { return now })
	book, secret := registry.Name("urn:example:book,1"), registry.Name("urn:example:secret")
	for _, name := range []registry.Key{
		book, secret, registry.Name("https://purl.example/a"),
		registry.Name("ark:/12345/x1"),
	} {
		r.Put(t, name, registry.Record{Targets: urndtest.Targets(origin.URL + "/old")})
	}
	now = second(3)
	r.Put(t, book, registry.Record{
		Targets:  urndtest.Targets(origin.URL + "/new"),
		Redirect: http.StatusPermanentRedirect,
	})
	for _, name := range []registry.Key{book, secret} {
		now = now.Add(2 * time.Second)
		r.Edit(t, registry.Edit{Key: name, IfVersion: registry.AnyVersion, Change: registry.Withdraw("why")})
	}
	now = second(9)
	r.Edit(t, registry.Edit{
		Key: book, IfVersion: registry.AnyVersion, Activate: true,
		Change: registry.Put(registry.Record{Targets: urndtest.Targets(origin.URL + "/last")}),
	})
	return mementoSite{r.Start(t, func(c *config.Config) {
		c.Registry.Owned, c.Registry.Hosts = []string{"urn:", "ark:/12345/"}, []string{"purl.example"}
	}), origin.URL}
}

// TestMementoClient: the client of mementoweb.org requests the TimeGate from the original. A redirect does not
// name it to a client that follows it, so the client appends the original to the TimeGate with which it was
// configured. It follows redirects of the TimeGate, and reads the links of the first response.
func TestMementoClient(t *testing.T) {
	t.Parallel()
	w := startMementoSite(t)
	original := w.URL + "/urn%3Aexample:book%2C1"
	for datetime, want := range map[time.Time]string{
		second(0): "/old", second(2): "/old", second(3): "/new", second(4): "/new", second(6): "", second(100): "/last",
	} {
		at, timegate := w.URL+"/timegate/"+original, ""
		for range 5 {
			response := head(t, at, "", datetime.Format(http.TimeFormat))
			if timegate == "" && response.Header.Get("Vary") == "Accept-Datetime" {
				links := clientLinks(t, response.Header.Get("Link"))
				if links["original"] != original ||
					links["first"] != w.URL+"/memento/20210101000001/urn%3Aexample:book%2C1" ||
					links["last"] != w.URL+"/memento/20210101000009/urn%3Aexample:book%2C1" {
					t.Errorf("at %s the links are %v", datetime, links)
				}
				timegate = at
			}
			location := response.Header.Get("Location")
			if location == "" {
				if gone := response.StatusCode == http.StatusGone; gone != (want == "") ||
					gone == (response.Header.Get("Memento-Datetime") == "") {
					t.Errorf("at %s %s is %d %v", datetime, at, response.StatusCode, response.Header)
				}
				break
			}
			at = location
		}
		if want != "" && at != w.origin+want || timegate == "" {
			t.Errorf("at %s the client is led to %s by the TimeGate %q, want %s", datetime, at, timegate, want)
		}
	}
}

// TestMementosOfNames checks that the mementos of a name of any scheme match its TimeMap.
func TestMementosOfNames(t *testing.T) {
	t.Parallel()
	w := startMementoSite(t)
	for identifier, want := range map[string]string{
		"urn:example:book,1": "302 /old 308 /new 410 302 /last",
		// Earlier targets are no longer shown.
		"urn:example:secret":              "410",
		"URN:Example:secret":              "410",
		"https://purl.example/a":          "302 /old",
		"http://purl.example/a?utm":       "302 /old?utm",
		"ark:12345/x-1":                   "302 /old",
		"https://any.example/ark:12345/x": "",
		"urn:example:none":                "",
		"https://any.example/":            "",
		"urn:ietf:rfc:2648":               "",
	} {
		reply := w.Get(t, "/timemap/"+url.QueryEscape(identifier))
		var got []string
		for line := range strings.Lines(reply.Body) {
			if !strings.Contains(line, `memento"`) {
				continue
			}
			at, _, _ := strings.Cut(strings.TrimPrefix(line, "<"), ">")
			memento := head(t, at, "", "")
			if !strings.Contains(line, `datetime="`+memento.Header.Get("Memento-Datetime")+`"`) ||
				!strings.Contains(memento.Header.Get("Link"), strings.TrimSuffix(line, "\n")[:len(at)+2]) {
				t.Errorf("%s: the memento %s has %v", identifier, line, memento.Header)
			}
			got = append(got,
				strings.TrimSpace(strconv.Itoa(memento.StatusCode)+" "+
					strings.TrimPrefix(memento.Header.Get("Location"), w.origin)))
		}
		if strings.Join(got, " ") != want || (want == "") != (reply.Status == http.StatusNotFound) {
			t.Errorf("%s: %q, %d %s, want %s", identifier, got, reply.Status, reply.Body, want)
		}
	}
	// The content of a withdrawn name is also denied for earlier times, and the withdrawal is not dated back.
	if gone := head(t, w.URL+"/memento/20210101000007/urn:example:secret", "",
		""); gone.StatusCode != http.StatusGone || gone.Header.Get("Memento-Datetime") == "" {
		t.Errorf("the memento of the withdrawal: %d %v", gone.StatusCode, gone.Header)
	}
	if earlier := head(t, w.URL+"/memento/20210101000001/urn:example:secret", "",
		""); !strings.HasSuffix(earlier.Header.Get("Location"), "/memento/20210101000007/urn:example:secret") {
		t.Errorf("before that: %d %v", earlier.StatusCode, earlier.Header)
	}
}

// TestMementoAtWebHosts checks that a web host whose paths are names provides the TimeGates of its names and of
// URNs; other paths are names.
func TestMementoAtWebHosts(t *testing.T) {
	t.Parallel()
	w := startMementoSite(t)
	const host = "purl.example"
	for path, status := range map[string]int{
		"/timegate/https://purl.example/a": 302, "/timegate/urn:example:secret": 302, "/timegate/a": 404,
		"/timegate/https://w3id.example/a": 404,
	} {
		response := head(t, w.URL+path, host, "")
		if response.StatusCode != status ||
			status == http.StatusFound &&
				!strings.HasPrefix(response.Header.Get("Location"), "http://purl.example/memento/20210101") {
			t.Errorf("%s: %d %v", path, response.StatusCode, response.Header)
		}
	}
}
