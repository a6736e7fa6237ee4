package http_test

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
	schemehttp "github.com/urnd/urnd/resolver/scheme/http"
	"github.com/urnd/urnd/uri"
)

// secureOrigin starts a TLS server that requests a client certificate, and responds with what it received.
func secureOrigin(t *testing.T, http2 bool) (server *httptest.Server, trusting *tls.Config) {
	t.Helper()
	server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, len(r.TLS.PeerCertificates), " ", r.TLS.ServerName, " ", r.RemoteAddr)
	}))
	server.EnableHTTP2 = http2
	server.TLS = &tls.Config{ClientAuth: tls.RequestClientCert}
	server.StartTLS()
	t.Cleanup(server.Close)
	return server, server.Client().Transport.(*http.Transport).TLSClientConfig
}

// TestTLSOfRequests requires that a request with a client certificate has its own connections, which other
// requests do not use.
func TestTLSOfRequests(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		server, trusting := secureOrigin(t, http2)
		known := trusting.Clone()
		known.Certificates, known.ServerName = server.TLS.Certificates, "example.com"
		h := newHandler(t, func(c *schemehttp.Config) { c.TLS = trusting })
		ask := func(of *tls.Config) (certificates, name, connection string) {
			_, text := fetch(t, h,
				scheme.Request{Request: httpmessage.Request{Method: "GET", URI: parse(t, server.URL+"/")}, TLS: of})
			parts := strings.Split(text, " ")
			return parts[0], parts[1], parts[2]
		}
		connections := make(map[string]*tls.Config)
		for _, of := range []*tls.Config{nil, known, nil, known} {
			certificates, name, connection := ask(of)
			if (certificates == "1") != (of == known) || (name == "example.com") != (of == known) {
				t.Errorf("HTTP/2 %t: %s certificates, for %q", http2, certificates, name)
			}
			if other, ok := connections[connection]; ok && other != of {
				t.Errorf("HTTP/2 %t: requests of others share a connection", http2)
			}
			connections[connection] = of
		}
		// A connection is put into the pool shortly after its response.
		testserver.Wait(t, "connections are used again", func() bool {
			_, _, connection := ask(known)
			return connections[connection] == known
		})
		strange := trusting.Clone()
		strange.ServerName = "a.invalid"
		if _, err := h.Fetch(t.Context(), scheme.Request{
			Request: httpmessage.Request{Method: "GET", URI: parse(t, server.URL+"/")},
			TLS:     strange,
		}); !errors.Is(err, resolver.ErrUnreachable) {
			t.Errorf("HTTP/2 %t, another name: %v", http2, err)
		}
	}
}

// TestTLSOfUpstreams requires that the TLS settings of an https proxy do not apply to the servers behind it.
func TestTLSOfUpstreams(t *testing.T) {
	proxy, trusting := secureOrigin(t, false)
	own := trusting.Clone()
	own.Certificates, own.ServerName = proxy.TLS.Certificates, "example.com"
	for _, tt := range []struct {
		tls  *tls.Config
		want string
	}{{own, "1 example.com "}, {trusting, "0  "}, {nil, ""}} {
		h := newHandler(t, func(c *schemehttp.Config) {
			c.Upstream = func(uri.URI) schemehttp.Route {
				return via(&schemehttp.Upstream{
					Scheme: "https", Address: strings.TrimPrefix(proxy.URL, "https://"),
					TLS: tt.tls,
				})
			}
		})
		resource, err := get(t, h, "http://a.example/")
		if (err != nil) != (tt.want == "") {
			t.Errorf("%q: %v", tt.want, err)
		}
		if err != nil {
			continue
		}
		if text, err := body(resource); !strings.HasPrefix(text, tt.want) || err != nil {
			t.Errorf("%q, want %q: %v", text, tt.want, err)
		}
	}
}
