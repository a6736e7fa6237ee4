package gate_test

import (
	"errors"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/gate"
	"github.com/urnd/urnd/proxy/problem"
)

// behind returns a function that returns the error for a request of a client behind a proxy on this machine,
// which sends fields "Name: value".
func behind(t testing.TB) func(access gate.Access, method, target, fields string) error {
	t.Helper()
	ask := asking(t)
	return func(access gate.Access, method, target, fields string) error {
		header := make(http.Header)
		for line := range strings.SplitSeq(fields, "\r\n") {
			name, value, _ := strings.Cut(line, ": ")
			header.Add(name, value)
		}
		lines := httpmessage.NewHeader(header)
		client := gate.NewClient("127.0.0.1:1", lines, access.Trusted)
		client.Header = lines
		requested := ask(method, target, "urnd.example", client.Addr.IsLoopback())
		v := gate.New(gate.Config{Access: access, Now: at}).Admit(t.Context(), &client, &requested)
		return v.Err
	}
}

func TestAccess(t *testing.T) {
	access := gate.Access{
		Resolve: prefixes("198.51.100.0/24", "203.0.113.0/24", "2001:db8::/32"),
		Proxy:   prefixes("203.0.113.0/24", "192.0.2.9/32"),
		Trusted: prefixes("127.0.0.0/8"),
	}
	refused := behind(t)
	const forward, batch = "http://origin.example/", "/api/v1/resolve"
	for _, tt := range []struct {
		client, target string
		want           error
	}{
		{"203.0.113.1", "/urn:example:a", nil},
		{"203.0.113.1", "/http://a.example/", nil},
		{"203.0.113.1", forward, nil},
		{"198.51.100.1", "/urn:example:a", nil},
		{"2001:db8::1", "/urn:example:a", nil},
		{"198.51.100.1", "/", nil},
		{"198.51.100.1", "/uri-res/N2L?urn:example:a", nil},
		{"198.51.100.1", "/api/v1/resolve?uri=urn:example:a", nil},
		{"198.51.100.1", "/http://a.example/", problem.ErrProxyClient},
		{"198.51.100.1", "/?uri=http://a.example/", problem.ErrProxyClient},
		{"198.51.100.1", "/mailto:a@a.example", problem.ErrProxyClient},
		{"198.51.100.1", "mailto:a@a.example", problem.ErrProxyClient},
		{"198.51.100.1", "/uri-res/L2Ls?http://a.example/", problem.ErrProxyClient},
		{"198.51.100.1", "/uri-res/N2R?urn:example:a", problem.ErrProxyClient},
		{"198.51.100.1", "/uri-res/N2Rs?urn:example:a", problem.ErrProxyClient},
		{"198.51.100.1", "/api/v1/resolve?uri=http://a.example/", problem.ErrProxyClient},
		{"198.51.100.1", forward, problem.ErrProxyClient},
		{"198.51.100.1", "/fetch?uri=gopher://a.example/1", problem.ErrProxyClient},
		{"198.51.100.1", "/fetch?uri=urn:example:a", problem.ErrProxyClient},
		{"203.0.113.1", "/fetch?uri=urn:example:a", nil},
		{"198.51.100.1", "ftp://a.example/", problem.ErrProxyClient},
		{"192.0.2.1", "/urn:example:a", problem.ErrResolveClient},
		{"192.0.2.1", "urn:example:a", problem.ErrResolveClient},
		{"192.0.2.1", "/uri-res/N2L?urn:example:a", problem.ErrResolveClient},
		{"192.0.2.1", "/api/v1/resolve?uri=urn:example:a", problem.ErrResolveClient},
		{"192.0.2.1", "/http://a.example/", problem.ErrResolveClient},
		{"192.0.2.1", "/nothing", problem.ErrResolveClient},
		{"192.0.2.1", "/", problem.ErrResolveClient},
		{"192.0.2.1", forward, problem.ErrProxyClient},
		{"2001:db9::1", "/urn:example:a", problem.ErrResolveClient},
		{"192.0.2.9", forward, nil},
		{"192.0.2.9", "/urn:example:a", problem.ErrResolveClient},
		{"192.0.2.9", "/http://a.example/", problem.ErrResolveClient},
		{"198.51.100.1", batch, nil},
		{"192.0.2.1", batch, problem.ErrResolveClient},
	} {
		method := http.MethodGet
		if tt.target == batch {
			method = http.MethodPost
		}
		for _, field := range []string{
			"X-Forwarded-For: 203.0.113.7, " + tt.client,
			`Forwarded: for="[` + tt.client + `]"`,
		} {
			if strings.HasPrefix(field, "Forwarded") && !strings.Contains(tt.client, ":") {
				field = "Forwarded: for=" + tt.client
			}
			if err := refused(access, method, tt.target, field); !errors.Is(err, tt.want) ||
				(err == nil) != (tt.want == nil) {
				t.Errorf("%s with %s: %v, want %v", tt.target, field, err, tt.want)
			}
		}
	}
}

// The zero value of Access denies everything.
func TestNoAccess(t *testing.T) {
	refused := behind(t)
	for _, target := range []string{
		"/", "/urn:example:a", "/http://a.example/", "http://a.example/",
		"/uri-res/N2R?urn:example:a",
	} {
		if err := refused(gate.Access{}, http.MethodGet, target, "X: 1"); problem.Status(err) != http.StatusForbidden {
			t.Errorf("%s: %v", target, err)
		}
	}
}

// A client that a trusted proxy does not name has only the rights of all clients, not those of the proxy.
func TestUnknownClientsAreNotTheirProxy(t *testing.T) {
	refused := behind(t)
	for name, field := range map[string]string{
		"unknown":       "X-Forwarded-For: unknown",
		"hidden":        "Forwarded: for=_hidden",
		"without for":   "Forwarded: proto=http",
		"empty":         "X-Forwarded-For: ",
		"fields differ": "X-Forwarded-For: 203.0.113.9\r\nForwarded: for=198.51.100.1",
		"one unknown":   "X-Forwarded-For: 203.0.113.9\r\nForwarded: for=unknown",
		"too many hops": "X-Forwarded-For: " + strings.Repeat("a,", 100) + "203.0.113.9",
	} {
		for resolve, isAllowed := range map[string]bool{"127.0.0.0/8": false, "0.0.0.0/0": true} {
			access := gate.Access{
				Resolve: prefixes(resolve), Proxy: prefixes("127.0.0.0/8"),
				Trusted: prefixes("127.0.0.0/8"),
			}
			if err := refused(access, http.MethodGet, "/urn:example:a", field); (err == nil) != isAllowed {
				t.Errorf("%s: a name, for %s alone: %v", name, resolve, err)
			}
			for _, target := range []string{"/http://a.example/", "http://origin.example/"} {
				if err := refused(access, http.MethodGet, target, field); problem.Status(err) != http.StatusForbidden {
					t.Errorf("%s: %s: %v", name, target, err)
				}
			}
		}
	}
}

// Behind a proxy that is not trusted the address of the client is unknown, and is not that of the proxy.
func TestRelayedClientsGetNoURLs(t *testing.T) {
	refused := behind(t)
	access := gate.Access{Resolve: prefixes("127.0.0.0/8"), Proxy: prefixes("127.0.0.0/8")}
	for _, field := range []string{"X-Forwarded-For: 198.51.100.7", "Forwarded: for=198.51.100.7"} {
		if err := refused(access, http.MethodGet, "/http://evil.example/", field); !errors.Is(err,
			problem.ErrProxyClient) {
			t.Errorf("%s: a redirect to anywhere: %v", field, err)
		}
		if err := refused(access, http.MethodGet, "/urn:ietf:rfc:2648", field); err != nil {
			t.Errorf("%s: a name: %v", field, err)
		}
	}
}

// Only some clients may bypass the caches by Cache-Control: no-cache.
func TestNoCache(t *testing.T) {
	for _, tt := range []struct {
		clients []netip.Prefix
		header  http.Header
		want    bool
	}{
		{prefixes("127.0.0.0/8"), http.Header{"Cache-Control": {"no-cache"}}, true},
		{prefixes("127.0.0.0/8"), http.Header{"Cache-Control": {"max-age=0"}}, false},
		{prefixes("127.0.0.0/8"), http.Header{"Pragma": {"no-cache"}}, true},
		{prefixes("127.0.0.0/8"), http.Header{"Pragma": {"no-cache"}, "Cache-Control": {"max-age=0"}}, false},
		{prefixes("192.0.2.0/24"), http.Header{"Cache-Control": {"no-cache"}}, false},
		{nil, http.Header{"Cache-Control": {"no-cache"}}, false},
	} {
		access, client := gate.Access{BypassCache: tt.clients}, gate.Client{Addr: netip.MustParseAddr("127.0.0.1")}
		if got := access.MayBypassCache(&client) &&
			gate.WantsCacheBypass(httpmessage.NewHeader(tt.header)); got != tt.want {
			t.Errorf("%v, %v: fresh %t", tt.clients, tt.header, got)
		}
		client.Unknown = true
		if access.MayBypassCache(&client) {
			t.Errorf("%v: a client that is not known", tt.clients)
		}
	}
}
