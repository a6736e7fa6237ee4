//go:build e2e

package proxy

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
)

// secureSite is a site whose servers use TLS, behind an urnd that uses TLS, too.
type secureSite struct {
	*urndtest.Daemon
	ca     *urndtest.Authority
	folder string
	client *http.Client
}

// newSecureSite creates the certificates of a site in a folder that is accessible to every user.
func newSecureSite(t *testing.T) *secureSite {
	s := &secureSite{ca: urndtest.NewAuthority(t), folder: testserver.OpenFolder(t)}
	s.write(t, "ca.pem", s.ca.PEM)
	for _, name := range []string{"backend", "urnd"} {
		certificate, key := s.ca.Issue(t, name)
		s.write(t, name+".pem", certificate)
		s.write(t, name+".key", key)
	}
	return s
}

func (s *secureSite) write(t *testing.T, name string, text []byte) {
	t.Helper()
	if err := os.WriteFile(s.path(name), text, 0o644); err != nil {
		t.Fatal(err)
	}
}

// start starts urnd for https servers with TLS settings.
func (s *secureSite) start(t *testing.T, server string, tlsOfServers config.ServerTLS) {
	t.Helper()
	s.Daemon = urndtest.Start(t, noDNS, func(c *config.Config) {
		urndtest.OpenLoopback(c)
		urndtest.PairFiles{Certificate: s.path("urnd.pem"), Key: s.path("urnd.key")}.Listen(c, "127.0.0.1:0")
		c.Cache.Responses, c.Cache.MaxResponse = 16<<20, 1<<20
		c.Proxy.Sites = []config.Site{{
			Hosts: []string{"www.example.org"}, Servers: []string{"https://" + server}, Forwarded: "forwarded",
			TLS: tlsOfServers,
		}}
	})
	s.client = s.ca.Client(&tls.Config{ServerName: "urnd.example"})
	s.client.Transport.(*http.Transport).DisableKeepAlives = false
	t.Cleanup(s.client.CloseIdleConnections)
}

func (s *secureSite) path(name string) string { return filepath.Join(s.folder, name) }

// mutual returns settings with which urnd and the servers authenticate each other.
func (s *secureSite) mutual() config.ServerTLS {
	return config.ServerTLS{
		CA: s.path("ca.pem"), ServerName: "backend.example", Certificate: s.path("urnd.pem"), Key: s.path("urnd.key"),
	}
}

// send sends a request for the site by HTTP/2, and returns the response with its body.
func (s *secureSite) send(t *testing.T, method, path string, body io.Reader) response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "https://"+s.TLS+path, body)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = "www.example.org"
	r.Header.Set("Te", "trailers")
	if body != nil {
		r.Trailer = http.Header{"X-Sum": {"7"}}
	}
	got, err := s.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	return response{got, text, err}
}

// nodeSite is an HTTP/2-only server: it reports the request, and echoes data sent to /echo as it arrives.
const nodeSite = `
const http2 = require('http2'), fs = require('fs');
const read = (name) => fs.readFileSync(__dirname + '/' + name);
const server = http2.createSecureServer({key: read('backend.key'), cert: read('backend.pem'), ca: read('ca.pem'), requestCert: true, rejectUnauthorized: true});
server.on('stream', (stream, headers) => {
	const trailers = {'grpc-status': '0'};
	stream.on('wantTrailers', () => stream.sendTrailers(trailers));
	stream.on('trailers', (sent) => { trailers['x-sum'] = sent['x-sum']; });
	if (headers[':path'] === '/echo') {
		stream.respond({':status': 200, 'content-type': 'application/grpc'}, {waitForTrailers: true});
		stream.pipe(stream);
		return;
	}
	let body = '';
	stream.on('data', (part) => { body += part; });
	stream.on('end', () => {
		const client = stream.session.socket.getPeerCertificate().subject.CN;
		stream.respond({':status': 200, 'x-client': client}, {waitForTrailers: true});
		const names = [':method', ':path', ':authority', 'x-forwarded-proto', 'x-forwarded-port', 'forwarded'];
		stream.end([...names.map((name) => headers[name]), body].join(' '));
	});
});
server.listen(process.env.PORT, '127.0.0.1');
`

// TestSiteByHTTP2OfNode checks that an HTTP/2 server of a site receives requests, responds with trailers, and
// streams in both directions: RFC 9113 section 8.
func TestSiteByHTTP2OfNode(t *testing.T) {
	t.Parallel()
	s := newSecureSite(t)
	server := testserver.StartNode(t, s.folder, nodeSite)
	all := s.mutual()
	all.MinVersion = "1.3"
	s.start(t, server.String(), all)
	for _, tt := range []struct {
		method, path string
		body         io.Reader
		want         string
	}{
		{"GET", "/a?b", nil, "GET /a?b www.example.org https 443 for=127.0.0.1;host=www.example.org;proto=https "},
		{"GET", "//a", nil, "GET //a www.example.org https 443 for=127.0.0.1;host=www.example.org;proto=https "},
		{
			"POST", "/", strings.NewReader("body"),
			"POST / www.example.org https 443 for=127.0.0.1;host=www.example.org;proto=https body",
		},
	} {
		got := s.send(t, tt.method, tt.path, tt.body)
		if got.StatusCode != 200 || string(got.body) != tt.want || got.err != nil ||
			got.Trailer.Get("Grpc-Status") != "0" || got.Header.Get("X-Client") != "urnd" {
			t.Errorf("%s %s: %d %q, %v, %v", tt.method, tt.path, got.StatusCode, got.body, got.Header, got.Trailer)
		}
		if sum := got.Trailer.Get("X-Sum"); tt.body != nil && sum != "7" {
			t.Errorf("the trailers of the request: %v", got.Trailer)
		}
	}
	s.streamsBothWays(t, "")
}

// streamsBothWays sends parts of a request, each after the previous one was echoed, like gRPC; first is sent
// before the response begins.
func (s *secureSite) streamsBothWays(t *testing.T, first string) {
	t.Helper()
	in, out := io.Pipe()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://"+s.TLS+"/echo",
		io.MultiReader(strings.NewReader(first), in))
	if err != nil {
		t.Fatal(err)
	}
	r.Host, r.Header = "www.example.org", http.Header{"Content-Type": {"application/grpc"}, "Te": {"trailers"}}
	got, err := s.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	testserver.Within(t, "messages both ways", func() {
		if back := make([]byte, len(first)); first != "" {
			if _, err := io.ReadFull(got.Body, back); err != nil || string(back) != first {
				t.Errorf("%q, %v", back, err)
			}
		}
		for i := range 5 {
			message := fmt.Sprintf("message %d", i)
			if _, err := io.WriteString(out, message); err != nil {
				t.Error(err)
			}
			back := make([]byte, len(message))
			if _, err := io.ReadFull(got.Body, back); err != nil || string(back) != message {
				t.Errorf("%q, %v", back, err)
			}
		}
		_ = out.Close()
		if rest, err := io.ReadAll(got.Body); len(rest) > 0 || err != nil || got.ProtoMajor != 2 ||
			got.Trailer.Get("Grpc-Status") != "0" {
			t.Errorf("%q, %v, %v by %s", rest, err, got.Trailer, got.Proto)
		}
	})
}

// TestSiteByHTTP2OfNginx checks that nginx receives requests by HTTP/2, streams in both directions, and
// verifies the certificate of urnd, and that its TLS settings apply and are reloaded.
func TestSiteByHTTP2OfNginx(t *testing.T) {
	t.Parallel()
	s := newSecureSite(t)
	addr, behind := urndtest.FreeAddress(t), testserver.StartNode(t, s.folder, nodeSite)
	testserver.StartNginxProxy(t, s.folder, `server {
		listen `+addr+` ssl http2;
		ssl_certificate `+s.folder+`/backend.pem;
		ssl_certificate_key `+s.folder+`/backend.key;
		ssl_client_certificate `+s.folder+`/ca.pem;
		ssl_verify_client on;
		ssl_protocols TLSv1.2;
		root `+s.folder+`;
		add_trailer X-T done;
		add_header Cache-Control no-store;
		location /echo {
			grpc_pass grpcs://`+behind.String()+`;
			grpc_ssl_certificate `+s.folder+`/backend.pem;
			grpc_ssl_certificate_key `+s.folder+`/backend.key;
		}
		location /said { return 200 "$server_protocol $request_method $request_uri $host $http_x_forwarded_proto $ssl_client_s_dn $ssl_server_name"; }
	}`)
	all := s.mutual()
	s.start(t, addr, all)
	for _, method := range []string{"GET", "POST"} {
		var body io.Reader
		if method == "POST" {
			body = strings.NewReader("body")
		}
		want := "HTTP/2.0 " + method + " /said?x www.example.org https CN=urnd backend.example"
		if got := s.send(t, method, "/said?x", body); got.StatusCode != 200 || string(got.body) != want {
			t.Errorf("%s: %d %q", method, got.StatusCode, got.body)
		}
	}
	if got := s.send(t, "GET", "/ca.pem", nil); string(got.body) != string(s.ca.PEM) ||
		got.Trailer.Get("X-T") != "done" {
		t.Errorf("a file: %d %q, %v", got.StatusCode, got.body, got.Trailer)
	}
	s.streamsBothWays(t, "first") // nginx forwards nothing before it has received data
	otherName, otherCA, noCA, newer := all, all, all, all
	otherName.ServerName, otherCA.CA, noCA.CA, newer.MinVersion = "other.example", s.path("other.pem"), "", "1.3"
	for _, tt := range []struct {
		tls    config.ServerTLS
		status int
	}{
		{otherName, 502},
		{config.ServerTLS{CA: s.path("ca.pem")}, 400},
		{noCA, 502},
		{newer, 502},
		{otherCA, 502},
		{all, 200},
	} {
		s.write(t, "other.pem", urndtest.NewAuthority(t).PEM)
		if !reload(t, s.Daemon, func(c *config.Config) { c.Proxy.Sites[0].TLS = tt.tls }) {
			t.Errorf("%+v is refused", tt.tls)
		}
		if got := s.send(t, "GET", "/said", nil); got.StatusCode != tt.status {
			t.Errorf("%+v: %d %q", tt.tls, got.StatusCode, got.body)
		}
	}
	s.write(t, "ca.pem", urndtest.NewAuthority(t).PEM) // with unchanged settings
	if !reload(t, s.Daemon, keep) {
		t.Error("the reload is refused")
	}
	if got := s.send(t, "GET", "/said", nil); got.StatusCode != 502 {
		t.Errorf("with another authority: %d %q", got.StatusCode, got.body)
	}
}

// TestTLSOfSitesIsOfSites checks that urnd's certificate for the servers of a site is not used for proxy
// clients that name these servers.
func TestTLSOfSitesIsOfSites(t *testing.T) {
	t.Parallel()
	s := newSecureSite(t)
	server := testserver.StartNode(t, s.folder, nodeSite)
	s.start(t, server.String(), s.mutual())
	if got := s.send(t, "GET", "/", nil); got.StatusCode != 200 {
		t.Errorf("the site: %d", got.StatusCode)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.URL.Opaque = "https://" + server.String() + "/" // RFC 9112 section 3.2.2
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	if status := got.Header.Get("Proxy-Status"); got.StatusCode != 502 ||
		!strings.Contains(status, "tls_certificate_error") {
		t.Errorf("a client of the proxy: %d, %s", got.StatusCode, status)
	}
}

// TestFilesOfServerTLS checks that errors of unusable files name their setting. A check of the configuration
// has no access to systemd credentials.
func TestFilesOfServerTLS(t *testing.T) {
	t.Parallel()
	s := newSecureSite(t)
	path := s.path
	s.write(t, "empty.pem", nil)
	for _, tt := range []struct {
		tls  config.ServerTLS
		want string
	}{
		{config.ServerTLS{CA: path("ca.pem"), Certificate: path("urnd.pem"), Key: path("urnd.key")}, ""},
		{config.ServerTLS{CA: path("none.pem")}, "proxy.sites.0.tls.ca: reading the file: no such file"},
		{config.ServerTLS{CA: path("empty.pem")}, "proxy.sites.0.tls.ca: the file is empty"},
		{
			config.ServerTLS{Certificate: path("urnd.pem"), Key: path("backend.key")},
			"proxy.sites.0.tls.certificate and proxy.sites.0.tls.key: ",
		},
		{config.ServerTLS{Certificate: path("urnd.pem"), Key: "credential:key"}, ""},
		{config.ServerTLS{CA: "credential:ca", MinVersion: "1.3"}, ""},
	} {
		text, err := yaml.Marshal(map[string]any{"proxy": map[string]any{"sites": []any{map[string]any{
			"hosts": []any{"www.example.org"}, "servers": []any{"https://127.0.0.1:1"}, "tls": map[string]any{
				"ca": tt.tls.CA, "certificate": tt.tls.Certificate, "key": tt.tls.Key, "min_version": tt.tls.MinVersion,
			},
		}}}})
		if err != nil {
			t.Fatal(err)
		}
		_, err = urndtest.Run(t, "", "config", "check", writeTemp(t, "urnd.yaml", string(text)))
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = errors.New(string(exit.Stderr))
		}
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v", tt.tls, err)
		}
	}
}
