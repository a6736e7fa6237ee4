package proxy_test

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/proxy/forward"
)

// named returns the lines of a request that describe its client, sorted.
func named(request string) string {
	var found []string
	for _, name := range []string{
		"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Port",
		"X-Forwarded-Proto", "X-Real-IP",
	} {
		for _, value := range field(request, name) {
			found = append(found, name+"="+value)
		}
	}
	return strings.Join(found, " ")
}

// throughProxy is a site behind a proxy on loopback, trusted or not.
func throughProxy(t *testing.T, o *peer, trusted bool, change func(*proxy.Config)) *server {
	t.Helper()
	return site(t, []string{o.addr}, func(c *proxy.Config) {
		c.Access.Resolve = []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0")}
		if trusted {
			c.Access.Trusted = []netip.Prefix{loopback}
		}
		if change != nil {
			change(c)
		}
	})
}

// The fields about the client from a trusted proxy are generated anew; its scheme is part of the key. From
// other clients, the fields about themselves are forwarded, and those about the way of the request are
// removed (RFC 7239 section 8.1).
func TestFieldsOfProxies(t *testing.T) {
	o := always(t, "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 0\r\n\r\n")
	const front = "X-Forwarded-For: 203.0.113.1, 192.0.2.1\r\nX-Real-IP: 203.0.113.1\r\nX-Forwarded-Host: " +
		"evil.example\r\nX-Forwarded-Proto: https\r\n" +
		"X-Forwarded-Server: a\r\nX-Forwarded-Prefix: /evil\r\nX_Forwarded_Host: evil.example\r\nx-forwarded-port: 444"
	for i, tt := range []struct {
		mode    forward.Forwarded
		trusted bool
		fields  string
		want    string
	}{
		{
			forward.ForwardedTransparent, true, front,
			"X-Forwarded-For=192.0.2.1 X-Forwarded-Host=www.example X-Forwarded-Port=443 X-Forwarded-Proto=https " +
				"X-Real-IP=192.0.2.1",
		},
		{
			forward.ForwardedStandard, true, front,
			"Forwarded=for=192.0.2.1;host=www.example;proto=https X-Forwarded-Host=www.example X-Forwarded-Port=443 " +
				"X-Forwarded-Proto=https",
		},
		{forward.ForwardedNothing, false, front, ""},
		{
			forward.ForwardedTransparent, true, "Forwarded: for=192.0.2.1;proto=https;host=evil.example",
			"Forwarded=for=192.0.2.1;host=www.example;proto=https X-Forwarded-Host=www.example X-Forwarded-Port=443 " +
				"X-Forwarded-Proto=https",
		},
		{
			forward.ForwardedTransparent, true, "Forwarded: for=unknown",
			"Forwarded=for=unknown;host=www.example;proto=http X-Forwarded-Host=www.example X-Forwarded-Port=80 " +
				"X-Forwarded-Proto=http",
		},
		{
			forward.ForwardedTransparent, true, "X-Forwarded-For: 192.0.2.1\r\nX-Forwarded-Proto: gopher",
			"X-Forwarded-For=192.0.2.1 X-Forwarded-Host=www.example X-Forwarded-Port=80 X-Forwarded-Proto=http",
		},
		{
			forward.ForwardedTransparent, false, "X: 1",
			"X-Forwarded-Host=www.example X-Forwarded-Port=80 X-Forwarded-Proto=http",
		},
		{
			forward.ForwardedTransparent, false, "Forwarded: for=203.0.113.2;proto=https;host=evil\r\n" + front,
			"X-Forwarded-For=203.0.113.1, 192.0.2.1 X-Forwarded-Host=www.example X-Forwarded-Port=80 " +
				"X-Forwarded-Proto=http X-Real-IP=203.0.113.1",
		},
	} {
		s := throughProxy(t, o, tt.trusted, func(c *proxy.Config) { c.Sites[0].Forwarded = tt.mode })
		s.visit(t, "GET", fmt.Sprintf("/%d", i), "www.example", tt.fields)
		if got := named(o.last()); got != tt.want {
			t.Errorf("%d, trusted %t, %q:\n%s, want\n%s", tt.mode, tt.trusted, tt.fields, got, tt.want)
		}
		if strings.Contains(strings.ToLower(o.last()), "evil") {
			t.Errorf("%q is passed on: %q", tt.fields, o.last())
		}
	}
}

// Behind a trusted proxy that terminates TLS, responses are shared, separately from those without TLS.
func TestTrustedProxySharesResponses(t *testing.T) {
	o := answering(t, func(request string) string {
		proto := strings.Join(field(request, "X-Forwarded-Proto"), ",")
		return fmt.Sprintf("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nVary: "+
			"X-Forwarded-Proto\r\nContent-Length: %d\r\n\r\n%s", len(proto), proto)
	})
	s := throughProxy(t, o, true, nil)
	for _, proto := range []string{"https", "http"} {
		get := func(client string) *http.Response {
			return s.visit(t, "GET", "/", "www.example", "X-Forwarded-For: "+client, "X-Real-IP: "+client,
				"X-Forwarded-Proto: "+proto,
				"X-Forwarded-Host: www.example", "X-Forwarded-Port: 443")
		}
		testserver.Wait(t, "the response to one client is stored",
			func() bool { return strings.Contains(get("192.0.2.1").Header.Get("Cache-Status"), "; hit") })
		if response := get("192.0.2.2"); !strings.Contains(response.Header.Get("Cache-Status"), "; hit") ||
			text(t, response) != proto {
			t.Errorf("%s of another client: %s", proto, response.Header.Get("Cache-Status"))
		}
	}
}

// With the usual configuration of nginx in front, its fields about each client make no response private.
func TestBehindNginx(t *testing.T) {
	o := answering(t, func(request string) string {
		return "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 0\r\nLink: <" +
			strings.Join(field(request, "X-Forwarded-Proto"),
				",") + "://" + strings.Join(field(request, "X-Forwarded-Host"), ",") + ">\r\n\r\n"
	})
	s := throughProxy(t, o, true, nil)
	front := testserver.StartNginx(t, testserver.OpenFolder(t), "location /site/ {", "proxy_pass http://"+s.addr+"/;",
		"proxy_http_version 1.1;",
		"proxy_set_header Host www.example;",
		"proxy_set_header X-Real-IP $remote_addr;", "proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;",
		"proxy_set_header X-Forwarded-Proto https;", "proxy_set_header X-Forwarded-Host $host;",
		"proxy_set_header X-Forwarded-Port 443;", "}")
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	get := func() *http.Response {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+front.Addr()+"/site/a", nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		return response
	}
	testserver.Wait(t, "the response is stored",
		func() bool { return strings.Contains(get().Header.Get("Cache-Status"), "; hit") })
	if got := get().Header.Get("Link"); got != "<https://www.example>" {
		t.Errorf("the server makes links to %s", got)
	}
	if got := named(o.last()); got != "X-Forwarded-For=127.0.0.1 X-Forwarded-Host=www.example X-Forwarded-Port=443 "+
		"X-Forwarded-Proto=https X-Real-IP=127.0.0.1" {
		t.Errorf("the server is told %s", got)
	}
}
