package proxy_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
)

// reader is a browser that a test controls.
type reader interface {
	Show(t testing.TB, url string)
	Evaluate(t testing.TB, expression string, value any)
	Run(t testing.TB, statements string)
	Click(t testing.TB, selector string)
}

type chromium struct{ *testserver.Chromium }

func (c chromium) Show(t testing.TB, url string) {
	t.Helper()
	c.Chromium.Show(t, url, testserver.Screen{Width: 800, Height: 600})
}

const urndName, evilName = "urnd.test", "evil.test"

// readers are urnd, whose reader's browser shows pages of another site, and the servers that it retrieves from.
type readers struct {
	urnd, evil, web string // origins (scheme, host and port)

	mu        sync.Mutex
	requested map[string]int // the number of requests to the servers, by label
}

func (r *readers) times(label string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.requested[label]
}

// fetch is a server that trusts lines; a URL ends with a label.
func (r *readers) fetch(_ context.Context, requested scheme.Request) (*scheme.Resource, error) {
	_, label, _ := strings.Cut(requested.URI.Path(), "/0")
	r.mu.Lock()
	r.requested[label]++
	r.mu.Unlock()
	return scheme.ListingResource(&scheme.Listing{
		Kind: scheme.KindMenu, Title: "TOPSECRET-42", URI: requested.URI.String(),
		Items: []scheme.Item{{Kind: scheme.ItemText, Name: "next", URI: requested.URI.String() + "-next"}},
	}), nil
}

// next resolves urn:example:lines-LABEL and urn:example:web-PATH.
func (r *readers) next(_ context.Context, q resolver.Query) (resolver.Answer, error) {
	kind, rest, _ := strings.Cut(strings.TrimPrefix(q.URI.String(), "urn:example:"), "-")
	location := r.web + "/" + rest
	if kind == "lines" {
		location = "gopher://lines.test/0" + rest
	}
	return resolver.Answer{Locations: []resolver.Location{{URI: location, From: &resolver.Source{}}}}, nil
}

// site is the web server that urnd retrieves from.
func (r *readers) site(w http.ResponseWriter, request *http.Request) {
	r.mu.Lock()
	r.requested[strings.TrimPrefix(request.URL.Path, "/")]++
	r.mu.Unlock()
	switch request.URL.Path {
	case "/pixel.svg":
		w.Header().Set("Content-Type", "image/svg+xml")
		fmt.Fprint(w, `<svg xmlns="http://www.w3.org/2000/svg" width="7" height="7"/>`)
	case "/hostile.html": // the requests of this page to urnd would have a page of urnd as their Referer
		target := func(label string) string { return fetchOf("gopher://lines.test/0sandbox-" + label) }
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w,
			`<!DOCTYPE html><meta name="referrer" content="unsafe-url"><meta http-equiv="refresh" content="0;url=%s">
			<link rel="stylesheet" href="%s"><link rel="prefetch" href="%s"><link rel="icon" href="%s"><img src="%s"><iframe src="%s"></iframe><object data="%s"></object>
			<video src="%s"></video><script>location = %q</script><style>@import "%s"</style><h1 id="shown">shown</h1>`,
			target("refresh"), target("style"), target("prefetch"), target("icon"), target("image"), target("frame"),
			target("object"), target("video"),
			target("script"), target("import"))
	default:
		w.Header().Set("Content-Type", "text/javascript")
		fmt.Fprint(w, `window.secret = "TOPSECRET-42"`)
	}
}

func startReaders(t *testing.T, secure bool) *readers {
	r := &readers{requested: make(map[string]int)}
	web := httptest.NewServer(http.HandlerFunc(r.site))
	t.Cleanup(web.Close)
	r.web = web.URL
	var certificates *tls.Config
	evil, protocol := httptest.NewUnstartedServer(http.HandlerFunc(r.attack)), "http://"
	if secure {
		certificates, protocol = certificate(t), "https://"
		evil.StartTLS()
	} else {
		evil.Start()
	}
	t.Cleanup(evil.Close)
	s := startOn(t, certificates, func(c *proxy.Config) {
		withGopher(c)
		mux, _ := c.Fetch.(scheme.Mux)
		mux["gopher"] = scheme.Gateway{Handler: handlerFunc(r.fetch)}
		c.OwnHosts = route.NewOwnHosts(urndName)
	})
	s.next = r.next
	_, port, _ := net.SplitHostPort(s.addr)
	r.urnd = protocol + net.JoinHostPort(urndName, port)
	_, port, _ = net.SplitHostPort(evil.Listener.Addr().String())
	r.evil = protocol + net.JoinHostPort(evilName, port)
	return r
}

// attack serves the pages of the other site, by a path and the parameters "to", a URL, and "policy", the
// referrer policy.
func (r *readers) attack(w http.ResponseWriter, request *http.Request) {
	query := request.URL.Query()
	to := query.Get("to")
	w.Header().Set("Referrer-Policy", query.Get("policy"))
	w.Header().Set("Content-Type", "text/html")
	fmt.Fprint(w, "<!DOCTYPE html><body>")
	switch request.URL.Path {
	case "/loads":
		fmt.Fprintf(w, loads, to)
	case "/refresh":
		fmt.Fprintf(w, `<meta http-equiv="refresh" content="0;url=%s">`, to)
	case "/location":
		fmt.Fprintf(w, `<script>onload = () => setTimeout(() => { location = %q }, 0)</script>`, to)
	case "/window":
		fmt.Fprintf(w, `<script>window.opened = window.open(%q)</script>`, to)
	case "/form":
		action, rest, _ := strings.Cut(to, "?")
		value, _ := url.QueryUnescape(strings.TrimPrefix(rest, "uri="))
		fmt.Fprintf(w,
			`<form action=%q method=%q><input name="uri" value=%q></form><script>document.forms[0].submit()</script>`,
			action, query.Get("method"), value)
	case "/post":
		fmt.Fprintf(w, `<form action=%q method="post"></form><script>document.forms[0].submit()</script>`, to)
	case "/link":
		fmt.Fprintf(w, `<a id="link" href=%q>a link</a>`, to)
	}
}

// loads is a page that loads a URL in each way, and collects what it could read in window.results.
const loads = `<script>
const to = %q, results = [], waiting = []
const load = (name, attributes) => waiting.push(new Promise(done => {
	const e = document.createElement(name)
	e.onload = () => { results.push((attributes.rel || name) + " loaded"); done() }
	e.onerror = () => { results.push((attributes.rel || name) + " failed"); done() }
	for (const a in attributes) e.setAttribute(a, attributes[a])
	document.body.append(e)
	if (name == "link" && attributes.rel == "prefetch" || name == "video" || name == "object") setTimeout(done, 300) // they may say nothing
}))
load("script", {src: to}); load("script", {src: to, type: "module"}); load("img", {src: to}); load("link", {rel: "stylesheet", href: to})
load("link", {rel: "prefetch", href: to}); load("iframe", {src: to}); load("object", {data: to}); load("video", {src: to})
for (const options of [{mode: "no-cors"}, {mode: "cors"}, {mode: "no-cors", headers: {Accept: "text/html"}}, {mode: "no-cors", method: "POST"}, {mode: "cors", headers: {"Upgrade-Insecure-Requests": "1"}}])
	waiting.push(fetch(to, options).then(r => r.text()).then(text => results.push(options.mode + ": " + text)).catch(() => {}))
Promise.all(waiting).then(() => { window.results = results })
</script>`

// Browsers handle retrieved resources as docs/gateways.md describes, over http, where browsers send no Fetch
// Metadata, and over https.
func TestBrowsers(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	if testing.Short() {
		t.Skip("it starts browsers")
	}
	for name, start := range map[string]func(t *testing.T) (page func(t *testing.T) reader){
		"chromium": func(t *testing.T) func(t *testing.T) reader {
			page := func(t *testing.T) reader {
				return chromium{testserver.StartChromium(t, "--host-resolver-rules=MAP *.test 127.0.0.1",
					"--ignore-certificate-errors")}
			}
			page(t) // keeps the browser running between the tests
			// It opens connections in advance, and servers wait for their first requests: they are closed
			// with the page of a test.
			return page
		},
		"firefox": func(t *testing.T) func(t *testing.T) reader {
			firefox := testserver.StartFirefox(t, urndName, evilName)
			return func(*testing.T) reader { return firefox }
		},
	} {
		t.Run(name, func(t *testing.T) {
			page := start(t)
			for _, secure := range []bool{false, true} {
				for name, test := range map[string]func(*testing.T, reader, *readers){
					"load": loadNothing, "led": areNotLed, "open": open, "retrieved": areNotLedByWhatIsRetrieved,
					"unspecified address": areNotLedByUnspecifiedAddress, "rebound": cannotRebind,
				} {
					t.Run(fmt.Sprintf("%s, TLS %t", name, secure), func(t *testing.T) {
						r := startReaders(t, secure)
						test(t, page(t), r)
					})
				}
			}
		})
	}
}

// evaluates waits until an expression holds in a page. The browser may have navigated to another page meanwhile.
func evaluates(t *testing.T, b reader, what, expression string) {
	t.Helper()
	testserver.Wait(t, what, func() (holds bool) { b.Evaluate(t, "!!("+expression+")", &holds); return holds })
}

func (r *readers) page(path, policy, to string, more ...string) string {
	return r.evil + path + "?" + url.Values{"policy": {policy}, "to": {r.urnd + to}}.Encode() + strings.Join(more, "")
}

// A page of another site cannot load or read a retrieved resource, and causes no line to be sent to a server.
func loadNothing(t *testing.T, b reader, r *readers) {
	t.Helper()
	for i, policy := range []string{"", "no-referrer"} {
		label := fmt.Sprint("load", i)
		for _, target := range []string{
			fetchOf("gopher://lines.test/0" + label), "/uri-res/N2R?urn:example:lines-" + label,
			fetchOf(r.web + "/secret.js"), "/uri-res/N2R?urn:example:web-secret.js",
		} {
			b.Show(t, r.page("/loads", policy, target))
			evaluates(t, b, "all is loaded", "window.results")
			var secret, got string
			b.Evaluate(t, "String(window.secret)", &secret)
			b.Evaluate(t, "window.results.join()", &got)
			if secret != "undefined" || strings.Contains(got, "TOPSECRET") || strings.Contains(got, "script loaded") ||
				strings.Contains(got,
					"stylesheet loaded") || strings.Contains(got, "img loaded") {
				t.Errorf("%s, %q: %s %s", target, policy, secret, got)
			}
		}
		if n := r.times(label); n > 0 {
			t.Errorf("%q: %d lines were sent", policy, n)
		}
	}
}

// A page of another site cannot navigate its reader to a resource for which lines are sent, without user activation.
func areNotLed(t *testing.T, b reader, r *readers) {
	t.Helper()
	for i, policy := range []string{"", "no-referrer"} {
		label := fmt.Sprint("lead", i)
		for _, target := range []string{
			fetchOf("gopher://lines.test/0" + label),
			"/uri-res/N2R?urn:example:lines-" + label,
		} {
			for _, path := range []string{"/refresh", "/location", "/post"} {
				b.Show(t, r.page(path, policy, target))
				evaluates(t, b, "urnd is shown",
					fmt.Sprintf("location.origin == %q && document.readyState == 'complete'", r.urnd))
				var text string
				b.Evaluate(t, "document.body.textContent", &text)
				if path != "/post" && !strings.Contains(text, "Another page may have sent you here") ||
					strings.Contains(text, "TOPSECRET") {
					t.Errorf("%s to %s, %q: %s", path, target, policy, text)
				}
			}
			b.Show(t, r.page("/window", policy, target)) // the browser may block the window
		}
		for _, method := range []string{"get", "post"} {
			b.Show(t, r.page("/form", policy, fetchOf("gopher://lines.test/0"+label), "&method="+method))
			evaluates(t, b, "urnd is shown",
				fmt.Sprintf("location.origin == %q && document.readyState == 'complete'", r.urnd))
		}
		if n := r.times(label); n > 0 {
			t.Errorf("%q: %d lines were sent", policy, n)
		}
	}
}

// A user who clicks a link gets its resource: immediately if the browser reports user activation, over TLS,
// else after another click. From there on no click is needed. Resources of the web are shown immediately.
func open(t *testing.T, b reader, r *readers) {
	t.Helper()
	for i, policy := range []string{"", "no-referrer"} {
		label := fmt.Sprint("open", i)
		for j, target := range []string{
			fetchOf("gopher://lines.test/0" + label),
			"/uri-res/N2R?urn:example:lines-" + label,
		} {
			b.Show(t, r.page("/link", policy, target))
			b.Click(t, "#link")
			shown := fmt.Sprintf("location.origin == %q && document.readyState == 'complete' && "+
				"document.body.textContent.includes", r.urnd)
			if strings.HasPrefix(r.urnd, "http:") {
				evaluates(t, b, "it is asked", shown+"('Another page may have sent you here')")
				if n := r.times(label); n != j {
					t.Errorf("%s, %q: %d lines were sent", target, policy, n)
				}
				b.Click(t, "p a")
			}
			evaluates(t, b, "it is shown", shown+"('TOPSECRET-42')")
			b.Click(t, "a[href*=next]")
			evaluates(t, b, "the next one is shown", "location.href.includes('-next') && "+shown+"('TOPSECRET-42')")
		}
		if n := r.times(label); n != 2 {
			t.Errorf("%q: %d lines were sent", policy, n)
		}
	}
	b.Show(t, r.urnd+fetchOf(r.web+"/pixel.svg"))
	evaluates(t, b, "the picture is shown", "document.documentElement.getBoundingClientRect().width == 7")
}

// A retrieved resource cannot make the browser cause lines to be sent, although it is shown under the origin of urnd.
func areNotLedByWhatIsRetrieved(t *testing.T, b reader, r *readers) {
	t.Helper()
	for _, target := range []string{fetchOf(r.web + "/hostile.html"), "/uri-res/N2R?urn:example:web-hostile.html"} {
		b.Show(t, r.urnd+target)
		evaluates(t, b, "it is shown", "document.getElementById('shown')")
	}
	b.Show(t, r.urnd+"/") // all requests have arrived by now
	r.mu.Lock()
	defer r.mu.Unlock()
	for label, n := range r.requested {
		if label != "hostile.html" {
			t.Errorf("%s was asked for %d times", label, n)
		}
	}
}
