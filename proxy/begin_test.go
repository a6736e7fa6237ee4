package proxy_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/proxy/gate/policy"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/proxytest"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver"
)

// The targets that are cached in most tests.
const (
	cachedName = "/urn:example:one"
	cachedPage = "http://a.example/page"
)

var everybody = []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}

// trusting lets a proxy on this machine name clients.
func trusting(c *proxy.Config) {
	c.Access.Trusted, c.Access.Resolve = []netip.Prefix{loopback},
		append(c.Access.Resolve, netip.MustParsePrefix("192.0.2.0/24"))
	c.Access.Proxy = append(c.Access.Proxy, netip.MustParsePrefix("192.0.2.1/32"))
}

func withIDs(c *proxy.Config) { c.SendRequestID = true }

func exact(c *proxy.Config) {
	c.Spelling, c.Sites[0].Route.Spelling = route.SpellingExact, route.SpellingExact
}

// denying sets policy rules.
func denying(rules ...policy.Rule) func(*proxy.Config) {
	return func(c *proxy.Config) {
		if made, err := policy.New(policy.ModeEnforce, rules); err == nil {
			c.Policy = made
		}
	}
}

// Begin answers from the caches, in the goroutine that reads the connection.
func TestBeginAnswers(t *testing.T) {
	large := strings.Repeat("0123456789abcdef", 3000)
	for _, tt := range []struct {
		change         func(*proxy.Config)
		method, target string
		fields         []string
		want           string // the status, and the location or the content
	}{
		// Names, in each form of request.
		{nil, "GET", cachedName, nil, "302 https://a.example/urn:example:one"},
		{nil, "HEAD", cachedName, nil, "302 https://a.example/urn:example:one"},
		{nil, "GET", "urn:example:one", nil, "302 https://a.example/urn:example:one"},
		{nil, "GET", "/URN:Example:one", nil, "302 https://a.example/urn:example:one"},
		{nil, "GET", "/uri-res/N2L?urn:example:one", nil, "303 https://a.example/urn:example:one"},
		{nil, "GET", "/?uri=urn%3Aexample%3Aone&service=I2L", nil, "302 https://a.example/urn:example:one"},
		{nil, "GET", "/urn:example:escaped", nil, "302 https://a.example/?a=b&c='d'(e);f"},
		{nil, "GET", "/urn:example:record", nil, "302 https://a.example/record"},
		{nil, "GET", "/urn:example:moved", nil, "301 https://a.example/moved"},
		{nil, "GET", "/urn:example:lasting", nil, "308 https://a.example/lasting"},
		{nil, "GET", "/urn:example:two", nil, "302 https://a.example/1"},
		{nil, "GET", cachedName, []string{"Connection", "keep-alive"}, "302 https://a.example/urn:example:one"},
		// Not a trusted proxy.
		{nil, "GET", cachedName, []string{"X-Forwarded-For", "192.0.2.99"}, "302 https://a.example/urn:example:one"},
		{nil, "GET", cachedName, []string{"Range", "bytes=0-1"}, "302 https://a.example/urn:example:one"},
		// Their components: RFC 8141 section 2.3.
		{nil, "GET", "/urn:example:one?=q", nil, "302 https://a.example/urn:example:one?q"},
		{nil, "GET", "/urn:example:one?=q#f", nil, "302 https://a.example/urn:example:one?q#f"},
		{nil, "GET", "/uri-res/N2L?urn:example:one?=q", nil, "303 https://a.example/urn:example:one?q"},
		// One of several locations.
		{
			func(c *proxy.Config) {
				c.Unhealthy = func(location string) bool { return location == "https://a.example/1" }
			}, "GET", "/urn:example:two",
			nil, "302 https://b.example/2",
		},
		// Web hosts whose paths are names, and identifiers in web addresses.
		{nil, "GET", "/one", []string{"Host", "purl.example"}, "302 https://a.example/one"},
		{nil, "GET", "/moved", []string{"Host", "PURL.example:8080"}, "301 https://a.example/moved"},
		{nil, "HEAD", "/lasting", []string{"Host", "purl.example"}, "308 https://a.example/lasting"},
		{nil, "GET", "/x/../%c3%a4", []string{"Host", "purl.example."}, "301 https://a.example/%C3%A4"},
		{nil, "GET", "http://purl.example/kept", nil, "307 https://a.example/kept"},
		{nil, "GET", "/01/09506000134352", []string{"Host", "id.example", "Accept", "*/*"}, "307 https://a.example"},
		// Negative answers.
		{nil, "GET", "/urn:example:none", nil, "404 application/problem+json"},
		{nil, "GET", "/urn:example:none", []string{"Accept", "text/html"}, "404 text/html; charset=utf-8"},
		{nil, "GET", "/urn:example:gone", nil, "410 application/problem+json"},
		{
			nil, "GET", "/urn:example:withdrawn",
			[]string{"Accept", "text/html", "Accept-Language", "de"},
			"410 text/html; charset=utf-8",
		},
		{nil, "GET", "/absent", []string{"Host", "purl.example"}, "404 application/problem+json"},
		// Stored responses, of the proxy and of a site.
		{nil, "GET", cachedPage, nil, "200 a page"},
		{nil, "HEAD", cachedPage, nil, "200 "},
		{nil, "GET", "/page", []string{"Host", "www.example"}, "200 a page"},
		{nil, "GET", "http://a.example/large", nil, "200 " + large},
		{nil, "GET", "http://a.example/notfound", nil, "404 nothing"},
		{nil, "GET", "http://a.example/moved", nil, "301 http://a.example/page"},
		{nil, "GET", cachedPage, []string{"Cookie", "a=b", "User-Agent", "x"}, "200 a page"},
		// Conditions: RFC 9110 section 13.
		{nil, "GET", cachedPage, []string{"If-None-Match", `"x", W/"v1"`}, "304 "},
		{nil, "HEAD", cachedPage, []string{"If-None-Match", "*"}, "304 "},
		{nil, "GET", cachedPage, []string{"If-None-Match", `"x"`}, "200 a page"},
		{nil, "GET", cachedPage, []string{"If-Modified-Since", "Fri, 31 Dec 1999 00:00:00 GMT"}, "304 "},
		{nil, "GET", cachedPage, []string{"If-None-Match", `"v1"`, "Range", "bytes=0-1"}, "304 "},
		// Ranges: RFC 9110 section 14.
		{nil, "GET", cachedPage, []string{"Range", "bytes=0-1"}, "206 a "},
		{nil, "GET", cachedPage, []string{"Range", "bytes=-4", "If-Range", `"v1"`}, "206 page"},
		{nil, "GET", cachedPage, []string{"Range", "bytes=-4", "If-Range", `"x"`}, "200 a page"},
		{nil, "GET", cachedPage, []string{"Range", "bytes=100-"}, "416 "},
		{nil, "GET", cachedPage, []string{"Range", "x"}, "200 a page"},
		{nil, "GET", "http://a.example/large", []string{"Range", "bytes=16-31"}, "206 0123456789abcdef"},
		// Selection: RFC 9111 section 4.1.
		{nil, "GET", "http://a.example/vary", []string{"Accept-Language", "de"}, "200 in de"},
		// Spelling.
		{exact, "GET", "http://a.example/x/../page", nil, "200 a page"},
		{exact, "GET", "/%70age", []string{"Host", "www.example"}, "200 a page"},
		// Clients that a proxy in front names.
		{
			trusting, "GET", cachedName,
			[]string{"X-Forwarded-For", "192.0.2.2", "X-Forwarded-Proto", "https", "Via", "1.1 x"},
			"302 https://a.example/urn:example:one",
		},
		{trusting, "GET", cachedName, []string{"Forwarded", "for=192.0.2.2"}, "302 https://a.example/urn:example:one"},
		{trusting, "GET", cachedPage, []string{"X-Forwarded-For", "192.0.2.1"}, "200 a page"},
		// Rules that allow it, also by the address that it came from.
		{
			denying(policy.Rule{
				ID: "net", Deny: true,
				Destinations: []netip.Prefix{netip.MustParsePrefix("198.51.100.0/24")},
			}), "GET", cachedPage,
			nil, "200 a page",
		},
	} {
		w := newWorld(t, tt.change)
		host := httpmessage.NewFields(tt.fields...).Get("Host")
		if host == "" {
			host = "a"
		}
		var selecting []string
		for i := 0; i+1 < len(tt.fields); i += 2 {
			if name := tt.fields[i]; strings.HasPrefix(name, "Accept") || strings.HasSuffix(name, "For") ||
				name == "Forwarded" {
				selecting = append(selecting, name, tt.fields[i+1])
			}
		}
		w.warm(t, tt.target, host, selecting...)
		before := len(w.events)
		got, started := w.ask(request(tt.method, tt.target, tt.fields...))
		text := got.Fields.Get("Location")
		switch {
		case text != "":
		case strings.Contains(got.Fields.Get("Content-Type"), "html") ||
			strings.Contains(got.Fields.Get("Content-Type"), "json"):
			text = got.Fields.Get("Content-Type")
		default:
			text = got.Body.String()
		}
		if text = strconv.Itoa(got.Status) + " " + text; text != tt.want || !started {
			t.Errorf("%s %s %q: %.80s, want %.80s; by Begin: %t", tt.method, tt.target, tt.fields, text, tt.want,
				started)
		}
		if e := w.event(t); len(w.events) != before+1 || e.Status != got.Status ||
			e.Cache != "hit" && got.Status < 400 || e.Bytes != int64(got.Body.Len()) {
			t.Errorf("%s %s: %d events, %+v", tt.method, tt.target, len(w.events)-before, e)
		}
	}
}

// A request that needs more than a cache is left to Continue, and Begin has written nothing.
func TestBeginLeaves(t *testing.T) {
	page := []string{"GET", cachedPage}
	for name, tt := range map[string]struct {
		change    func(*proxy.Config)
		request   []string // the method, the target and the fields
		alter     func(*httpmessage.Incoming)
		wantsCode int
	}{
		"a method with content": {
			nil,
			[]string{"POST", cachedPage},
			func(in *httpmessage.Incoming) { proxytest.WithBody(in, "x") }, 200,
		},
		"content of GET": {
			nil,
			[]string{"GET", cachedName},
			func(in *httpmessage.Incoming) { proxytest.WithBody(in, "x") }, 302,
		},
		"an unknown field":   {nil, append(page, "X-Unknown", "1"), nil, 200},
		"credentials":        {nil, append(page, "Authorization", "Basic eDp5"), nil, 200},
		"no-cache":           {nil, append(page, "Cache-Control", "no-cache"), nil, 200},
		"an upgrade":         {nil, append(page, "Connection", "upgrade", "Upgrade", "x"), nil, 200},
		"another selection":  {nil, []string{"GET", "http://a.example/vary", "Accept-Language", "fr"}, nil, 200},
		"a name to be found": {nil, []string{"GET", "/urn:example:short"}, nil, 302},
		"a description":      {nil, []string{"GET", "/uri-res/N2C?urn:example:one"}, nil, 200},
		"a list":             {nil, []string{"GET", "/uri-res/N2Ls?urn:example:one"}, nil, 200},
		"a document about a name": {
			nil,
			[]string{"GET", cachedName, "Accept", "application/vnd.urnd.trace+json"},
			nil, 200,
		},
		"a URL":                 {nil, []string{"GET", "/http://a.example/"}, nil, 302},
		"a page of this server": {nil, []string{"GET", "/", "Accept", "text/html"}, nil, 200},
		"a malformed name":      {nil, []string{"GET", "/urn:a"}, nil, 400},
		"a loop":                {nil, append(page, "Urnd-Hops", "4"), nil, 508},
		"a rule by the address": {
			denying(policy.Rule{
				ID: "net", Deny: true,
				Destinations: []netip.Prefix{netip.MustParsePrefix("192.0.2.80/32")},
			}), page, nil, 403,
		},
		"a rule by the host": {
			denying(policy.Rule{ID: "host", Deny: true, Hosts: []string{"a.example"}}), page,
			nil, 403,
		},
		"no client of the proxy": {func(c *proxy.Config) { c.Access.Proxy = nil }, page, nil, 403},
		"no client of names": {
			func(c *proxy.Config) { c.Access.Resolve = nil },
			[]string{"GET", cachedName},
			nil, 403,
		},
		"a spelling to be changed": {
			func(c *proxy.Config) { c.Spelling = route.SpellingRedirect },
			[]string{"GET", "http://a.example/%70age"},
			nil, 308,
		},
		"a span": {func(c *proxy.Config) {
			c.StartSpan = func(string, httpmessage.Header, time.Time, bool) proxy.Span { return untraced{} }
		}, page, nil, 200},
		"a log of refusals": {func(c *proxy.Config) {
			c.Log = slog.New(slog.NewTextHandler(new(strings.Builder), &slog.HandlerOptions{Level: slog.LevelDebug}))
		}, []string{"GET", "/urn:example:none"}, nil, 404},
		"no cache of answers": {func(c *proxy.Config) { c.Finder = nil }, []string{"GET", cachedName}, nil, 302},
	} {
		w := newWorld(t, nil)
		for _, target := range []string{cachedName, cachedPage, "http://a.example/vary", "/urn:example:none"} {
			w.warm(t, target, "a")
		}
		if tt.change != nil {
			config := w.config
			tt.change(&config)
			w.Handler = proxy.New(config)
		}
		in := request(tt.request[0], tt.request[1], tt.request[2:]...)
		if tt.alter != nil {
			tt.alter(in)
		}
		got := new(proxytest.Recorder)
		rest := w.Begin(in, got)
		if rest == nil || got.Status != 0 || len(got.Interim) > 0 || got.Flushes > 0 {
			t.Errorf("%s: Begin has answered: %t, %d", name, rest == nil, got.Status)
			continue
		}
		if rest.Continue(); got.Status != tt.wantsCode {
			t.Errorf("%s: %d %s, want %d", name, got.Status, &got.Body, tt.wantsCode)
		}
	}
}

// The sampling of spans counts a request once, whether it is a cache hit or not.
func TestBeginIsSampledOnce(t *testing.T) {
	w := newWorld(t, nil)
	w.warm(t, cachedName, "a")
	config, counted, started := w.config, 0, 0
	config.SkipSpan = func() bool { counted++; return true }
	config.StartSpan = func(string, httpmessage.Header, time.Time, bool) proxy.Span { started++; return nil }
	w.Handler = proxy.New(config)
	for _, tt := range []struct {
		target           string
		counted, started int
	}{
		{cachedName, 1, 0},                      // in a cache
		{"/urn:example:short", 1, 0},            // not in a cache
		{"/uri-res/N2Ls?urn:example:two", 1, 0}, // for Continue, after admission
		{"/", 0, 1},                             // for Continue only
	} {
		counted, started = 0, 0
		if w.ask(request("GET", tt.target)); counted != tt.counted || started != tt.started {
			t.Errorf("%s: counted %d times, begun %d times", tt.target, counted, started)
		}
	}
}

// untraced is a span that is not exported.
type untraced struct{}

func (untraced) Traceparent() string {
	return "00-11111111111111111111111111111111-2222222222222222-00"
}
func (untraced) End(*proxy.Event, []resolver.Step) {}

// By HTTP/2 Begin writes a response only if it fits into the window of the client (RFC 9113 section 5.2).
func TestBeginWithoutRoom(t *testing.T) {
	w := newWorld(t, nil)
	for _, target := range []string{"http://a.example/large", "/urn:example:none", cachedName} {
		w.warm(t, target, "a")
		in := request("GET", target)
		in.Major, in.Minor = 2, 0
		got := &proxytest.Recorder{Window: 100}
		rest := w.Begin(in, got)
		if (rest == nil) != (target == cachedName) {
			t.Errorf("%s: Begin has answered: %t", target, rest == nil)
		}
		if rest != nil {
			rest.Continue()
		}
		if got.Status == 0 {
			t.Errorf("%s: no answer", target)
		}
	}
}

// Begin does not use an expired entry, and states the remaining TTL (RFC 9111 section 4.2, RFC 9211 section 2).
func TestBeginKnowsTheTime(t *testing.T) {
	w := newWorld(t, nil)
	for _, tt := range []struct{ target, status, control, age string }{
		{cachedName, "urnd; hit; ttl=80", "max-age=80", ""},
		{"/urn:example:none", "urnd; hit; ttl=3590", "max-age=3590", ""},
		{"/urn:example:gone", "urnd; hit; ttl=3590", "max-age=60", ""},
		{"/urn:example:lasting", "urnd; hit; ttl=3590", "max-age=60", ""},
		{cachedPage, "urnd; hit; ttl=50", "max-age=60", "10"},
	} {
		w.nanos.Store(0)
		w.warm(t, tt.target, "a")
		w.pass(10 * time.Second)
		got, started := w.ask(request("GET", tt.target))
		status, control, age := got.Fields.Get("Cache-Status"), got.Fields.Get("Cache-Control"), got.Fields.Get("Age")
		if !started || status != tt.status || control != tt.control || age != tt.age {
			t.Errorf("%s: by Begin %t, %s, %s, Age %q", tt.target, started, status, control, age)
		}
		w.pass(2 * time.Hour)
		if got, started := w.ask(request("GET", tt.target)); started || got.Status >= 500 {
			t.Errorf("%s, expired: by Begin %t, %d", tt.target, started, got.Status)
		}
	}
}

// A cache hit has the request identifier, tags and CORS fields like any other response.
func TestBeginFields(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*proxy.Config)
		target string
		fields []string
		want   string // lines
		not    string // names of absent fields
	}{
		{"identified", withIDs, cachedName, nil, "X-Request-Id: *", ""},
		{"identified", withIDs, cachedPage, nil, "X-Request-Id: *", ""},
		{"not identified", nil, cachedPage, nil, "", "X-Request-Id"},
		{"a refusal", nil, "/urn:example:none", nil, "X-Request-Id: *", ""},
		{
			"the identifier of a proxy", func(c *proxy.Config) { withIDs(c); trusting(c) }, cachedName,
			[]string{"X-Request-Id", "abc"},
			"X-Request-Id: abc", "",
		},
		{
			"tags", func(c *proxy.Config) { c.Tags = message.CacheTag }, cachedName, nil,
			"Cache-Tag: urnd,urn:example,*", "",
		},
		{"tags of a page", func(c *proxy.Config) { c.Tags = message.CacheTag }, cachedPage, nil, "", "Cache-Tag"},
		{"a lifetime for caches", nil, "/urn:example:lasting", nil, "CDN-Cache-Control: max-age=86400", ""},
		{"for trial", nil, "/urn:example:sandbox", nil, "Urnd-Sandbox: ?1", ""},
		{
			"every origin", func(c *proxy.Config) { c.CORS, c.Access.Resolve = []string{"*"}, everybody }, cachedName,
			nil, "Access-Control-Allow-Origin: *", "",
		},
		{
			"an origin", func(c *proxy.Config) { c.CORS = []string{"https://b.example"} }, cachedName,
			[]string{"Origin", "https://b.example"},
			"Access-Control-Allow-Origin: https://b.example|Vary: Origin", "",
		},
		{
			"another origin", func(c *proxy.Config) { c.CORS = []string{"https://b.example"} }, cachedName,
			[]string{"Origin", "https://c.example"},
			"Vary: Origin", "Access-Control-Allow-Origin",
		},
		{
			"an origin of a refusal", func(c *proxy.Config) { c.CORS = []string{"https://b.example"} },
			"/urn:example:none",
			[]string{"Origin", "https://b.example"},
			"Access-Control-Allow-Origin: https://b.example", "",
		},
		{
			"a page for any origin", func(c *proxy.Config) { c.CORS, c.Access.Resolve = []string{"*"}, everybody },
			cachedPage, nil, "", "Access-Control-Allow-Origin",
		},
	} {
		w := newWorld(t, tt.change)
		w.warm(t, tt.target, "a")
		got, started := w.ask(request("GET", tt.target, tt.fields...))
		if started == (tt.name == "the identifier of a proxy") { // X-Request-Id may have a meaning for the origin
			t.Errorf("%s: by Begin: %t", tt.name, started)
		}
		for _, line := range strings.Split(tt.want, "|") {
			name, value, _ := strings.Cut(line, ": ")
			begin, some := strings.CutSuffix(value, "*")
			ok := name == ""
			for _, sent := range got.Fields.Values(name) {
				ok = ok || sent == value || some && begin+"*" == value && strings.HasPrefix(sent, begin) && sent != ""
			}
			if !ok {
				t.Errorf("%s: no %s in %q", tt.name, line, got.Fields)
			}
		}
		if tt.not != "" && got.Fields.Has(tt.not) {
			t.Errorf("%s: %s in %q", tt.name, tt.not, got.Fields)
		}
		if id := w.event(t).ID; id != got.Fields.Get("X-Request-Id") {
			t.Errorf("%s: %q is observed", tt.name, id)
		}
	}
}

// A rendered refusal is used only for requests with equal fields, comparing all of their lines (RFC 9110 section 5.3).
func TestBeginRefusalsByAllLines(t *testing.T) {
	for _, field := range [][3]string{{"Accept", "*/*;q=0.1", "text/html"}, {"Accept-Language", "en;q=0.1", "de"}} {
		w := newWorld(t, nil)
		w.warm(t, "/urn:example:none", "a")
		page := []string{"Accept", "text/html;q=0.1"}
		if field[0] == "Accept" {
			page = nil
		}
		one := append(page, field[0], field[1])
		both, _ := w.ask(request("GET", "/urn:example:none", append(one, field[0], field[2])...))
		got, started := w.ask(request("GET", "/urn:example:none", one...))
		want, _ := newWorld(t, nil).ask(request("GET", "/urn:example:none", one...))
		if !started || got.Body.String() != want.Body.String() || both.Body.String() == want.Body.String() {
			t.Errorf("%s, by Begin %t: %.200s, want %.200s, not %.200s", field, started, &got.Body, &want.Body,
				&both.Body)
		}
	}
}

// Each request counts towards the rate, also a cache hit.
func TestBeginCounts(t *testing.T) {
	w := newWorld(t, nil)
	w.warm(t, cachedName, "a")
	config := w.config
	config.Access.Rate = 3
	w.Handler = proxy.New(config)
	refused := 0
	for range 10 {
		if got, _ := w.ask(request("GET", cachedName)); got.Status == 429 {
			refused++
		}
	}
	if refused == 0 || refused == 10 {
		t.Errorf("%d are refused", refused)
	}
}

// A target that exceeds the configured length is rejected by each protocol, and observed (RFC 9110 section 15.5.15).
func TestTargetTooLong(t *testing.T) {
	w := newWorld(t, nil)
	in := request("GET", "/urn:a1:"+strings.Repeat("a", 2000))
	in.Major, in.Minor = 2, 0
	if got, _ := w.ask(in); got.Status != 414 || summary(w.event(t)) != "none I2L bypass 414 application/problem+json" {
		t.Errorf("%d, %s", got.Status, summary(w.event(t)))
	}
}

// The client is cached as the state of the connection; another Handler, after a reload, determines it again.
func TestBeginAfterAReload(t *testing.T) {
	w := newWorld(t, nil)
	w.warm(t, cachedName, "a")
	conn := request("GET", "/").Conn
	ask := func(want int) {
		t.Helper()
		in := request("GET", cachedName)
		in.Conn = conn
		if got, _ := w.ask(in); got.Status != want {
			t.Errorf("%d, want %d", got.Status, want)
		}
	}
	ask(302)
	config := w.config
	config.Access.Resolve = nil
	w.Handler = proxy.New(config)
	ask(403)
}

// A request that is aborted before its response gets none: its event has no status, and the log says who
// aborted it. A failure at the same time is not logged as one of the server.
func TestContinueOfAbortedRequests(t *testing.T) {
	reset, late := errors.New("the stream was reset"), fmt.Errorf("%w: late", resolver.ErrUnreachable)
	for _, tt := range []struct {
		cause, err error // the cause of the end of the request, nil for none; a nil err means cause
		status     int
		log        string
	}{
		{context.Canceled, nil, 0, "DEBUG request aborted, the client disconnected"},
		{reset, nil, 0, "DEBUG request aborted, the client disconnected"},
		{
			reset, fmt.Errorf("%w: %w", resolver.ErrUnreachable, reset), 0,
			"DEBUG request aborted, the client disconnected",
		},
		{http.ErrServerClosed, nil, 0, "WARN request aborted, the server stopped"},
		{http.ErrServerClosed, late, 0, "WARN request aborted, the server stopped"},
		{context.Canceled, late, 502, "WARN request failed, "},
		{nil, reset, 500, "WARN request failed, "},
	} {
		var log bytes.Buffer
		w := newWorld(t, func(c *proxy.Config) {
			c.Resolver = resolver.Func(func(ctx context.Context, _ resolver.Query) (resolver.Answer, error) {
				return resolver.Answer{}, cmp.Or(tt.err, context.Cause(ctx))
			})
			c.Log = slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		})
		ctx, end := context.WithCancelCause(t.Context())
		if tt.cause != nil {
			end(tt.cause)
		}
		got := &proxytest.Recorder{Client: ctx}
		w.Begin(request("GET", cachedName), got).Continue()
		e := w.event(t)
		if e.Status != tt.status || got.Status != tt.status || got.Aborted != (tt.status == 0) || e.Err == nil ||
			tt.status == 0 && e.Bytes != 0 {
			t.Errorf("%v, %v: response %d, aborted %t, event %+v", tt.cause, tt.err, got.Status, got.Aborted, e)
		}
		var line struct{ Level, Msg, Reason string }
		if err := json.Unmarshal(log.Bytes(), &line); err != nil || line.Level+" "+line.Msg+", "+line.Reason != tt.log {
			t.Errorf("%v, %v: %v, %s", tt.cause, tt.err, err, log.Bytes())
		}
		end(nil)
	}
}
