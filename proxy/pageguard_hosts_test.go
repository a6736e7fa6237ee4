package proxy_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver/scheme"
)

// Browsers connect to this machine by 0.0.0.0, and send no Fetch Metadata there: it is not a potentially
// trustworthy origin. A page that suppresses Referer and sets its own Accept cannot cause a retrieval by it.
func areNotLedByUnspecifiedAddress(t *testing.T, b reader, r *readers) {
	t.Helper()
	for i, host := range []string{"0.0.0.0", "0", "[::]", "[::ffff:0.0.0.0]", "[::ffff:127.0.0.1]"} {
		label := fmt.Sprint("counted-", i)
		u, _ := url.Parse(r.urnd)
		to := u.Scheme + "://" + host + ":" + u.Port() + fetchOf(r.web+"/"+label)
		b.Show(t, r.evil+"/link?to=x")
		b.Run(t,
			fmt.Sprintf(`return fetch(%q, {mode: "no-cors", referrerPolicy: "no-referrer", headers: {Accept: "text/html"}}).catch(() => {})`, to))
		if n := r.times(label); n > 0 {
			t.Errorf("%s: it was retrieved %d times", host, n)
		}
	}
}

// A page of another site whose name now resolves to urnd (DNS rebinding) is same-origin: it may read all
// responses, and set fields with which it looks like a program. Its reader is not on this machine.
func cannotRebind(t *testing.T, b reader, r *readers) {
	t.Helper()
	s := start(t, func(c *proxy.Config) {
		withGopher(c)
		mux, _ := c.Fetch.(scheme.Mux)
		mux["gopher"] = scheme.Gateway{Handler: handlerFunc(r.fetch)}
		c.OwnHosts = route.NewOwnHosts(urndName)
		c.Access.Trusted, c.Access.Proxy = []netip.Prefix{loopback}, prefixes("192.0.2.0/24")
	})
	urnd := httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) {
		p.SetURL(&url.URL{Scheme: "http", Host: s.addr})
		p.Out.Host = p.In.Host
		p.Out.Header.Set("X-Forwarded-For", "192.0.2.7")
	}}
	both := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		if request.URL.Path == "/link" {
			r.attack(w, request)
			return
		}
		urnd.ServeHTTP(w, request)
	}))
	t.Cleanup(both.Close)
	_, port, _ := net.SplitHostPort(both.Listener.Addr().String())
	b.Show(t, "http://"+net.JoinHostPort(evilName, port)+"/link?to=x")
	for _, fields := range []string{
		`{}`, `{"User-Agent": "curl/8"}`, `{"User-Agent": "Lynx/2.9.0"}`,
		`{"User-Agent": "curl/8", "Accept-Language": ""}`, `{"User-Agent": "", "Accept": "", "Accept-Language": ""}`,
	} {
		b.Run(t, fmt.Sprintf(`return fetch(%q, {referrerPolicy: "no-referrer", headers: %s}).then(r => r.text())
			.catch(String).then(text => { window.got = text })`, fetchOf("gopher://lines.test/0rebound"), fields))
		var got string
		b.Evaluate(t, "window.got", &got)
		if n := r.times("rebound"); n > 0 || !strings.Contains(got, "listen.names") {
			t.Errorf("%s: %d lines were sent: %.300s", fields, n, got)
		}
	}
}
