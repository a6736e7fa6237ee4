//go:build e2e

package clients

import (
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
)

func testCurl(t *testing.T, c *clients) {
	content, text := urndtest.RandomBytes(300_000), []byte(strings.Repeat("some text\n", 4000))
	c.add(t, "curl/file.bin", content)
	c.add(t, "packed/text.txt", text)
	c.add(t, "upload/file.bin", content)
	if err := os.Chmod(filepath.Join(c.folder, "upload"), 0o777); err != nil { // nginx runs as nobody
		t.Fatal(err)
	}
	changed := urndtest.RandomBytes(2_000_000)
	file := filepath.Join(t.TempDir(), "changed")
	urndtest.WriteOld(t, file, changed)
	for _, tt := range []struct {
		name      string
		arguments []string
		header    string // regular expression
		body      string
	}{
		{
			"the first time",
			[]string{c.url("curl/file.bin")},
			`^HTTP/1.1 200 (?s:.*)Cache-Status: urnd; fwd=uri-miss; stored; ttl=\d+\r\n`, string(content),
		},
		{
			"again",
			[]string{c.url("curl/file.bin")},
			`^HTTP/1.1 200 (?s:.*)Cache-Status: urnd; hit; ttl=\d+\r\n`,
			string(content),
		},
		{
			"by HTTP/1.0",
			[]string{"-0", c.url("curl/file.bin")},
			`^HTTP/1.[01] 200 (?s:.*)Cache-Status: urnd; hit; ttl=\d+\r\n`, string(content),
		},
		{
			"only its header",
			[]string{"-I", c.url("curl/file.bin")},
			`^HTTP/1.1 200 (?s:.*)Cache-Status: urnd; hit;(?s:.*)Content-Length: 300000\r\n`, "-",
		},
		{
			"a part",
			[]string{"-r", "100-1099", c.url("curl/file.bin")},
			`^HTTP/1.1 206 (?s:.*)Cache-Status: urnd; hit;`,
			string(content[100:1100]),
		},
		{
			"the end",
			[]string{"-r", "-7", c.url("curl/file.bin")},
			`^HTTP/1.1 206 (?s:.*)Cache-Status: urnd; hit;`,
			string(content[len(content)-7:]),
		},
		{
			"nothing of it",
			[]string{"-r", "300000-", c.url("curl/file.bin")},
			`^HTTP/1.1 416 (?s:.*)Content-Range: bytes \*/300000\r\n`, "-",
		},
		{
			"what has changed",
			[]string{"-z", "1 Jan 2038", c.url("curl/file.bin")},
			`^HTTP/1.1 304 (?s:.*)Cache-Status: urnd; hit;`, "",
		},
		{
			"compressed",
			[]string{"--compressed", c.url("packed/text.txt")},
			`^HTTP/1.1 200 (?s:.*)Content-Encoding: gzip\r\n(?s:.*)Cache-Status: urnd; fwd=uri-miss; stored;`,
			string(text),
		},
		{
			"compressed, again",
			[]string{"--compressed", c.url("packed/text.txt")},
			`^HTTP/1.1 200 (?s:.*)Content-Encoding: gzip\r\n(?s:.*)Cache-Status: urnd; hit;`, string(text),
		},
		{
			"not compressed",
			[]string{c.url("packed/text.txt")},
			`^HTTP/1.1 200 (?s:.*)Cache-Status: urnd; fwd=vary-miss; stored;`, string(text),
		},
		{
			"before it changes",
			[]string{c.url("upload/file.bin")},
			`Cache-Status: urnd; fwd=uri-miss; stored;`,
			string(content),
		},
		{
			"upload",
			[]string{"-T", file, "-H", "Expect: 100-continue", c.url("upload/file.bin")},
			`^HTTP/1.1 100 Continue\r\n(?s:.*)HTTP/1.1 204 (?s:.*)Cache-Status: urnd; fwd=method`, "",
		},
		{
			"after it has changed",
			[]string{c.url("upload/file.bin")},
			`Cache-Status: urnd; fwd=[a-z-]+; stored;`,
			string(changed),
		},
	} {
		header, body := urndtest.Curl(t, c.URL, tt.arguments...)
		if !regexp.MustCompile(tt.header).MatchString(header) || tt.body != "-" && string(body) != tt.body {
			t.Errorf("%s: %d bytes\n%s", tt.name, len(body), header)
		}
	}
	if n := c.requested(t, "GET /curl/file.bin"); n != 1 {
		t.Errorf("the site was asked %d times", n)
	}
}

// testCurlUsers tests Basic authentication: RFC 9110 section 11.7.
func testCurlUsers(t *testing.T, c *clients) {
	const password = "s3cr3t"
	c.add(t, "curl/users.bin", urndtest.RandomBytes(10))
	hash, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	users := filepath.Join(t.TempDir(), "users")
	urndtest.WriteOld(t, users, []byte("me:"+string(hash)+"\n"))
	p := c.start(t, func(settings *config.Config) { settings.Access.ProxyUsers = users })
	secure := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "a secret")
	}))
	defer secure.Close()
	for _, tt := range []struct {
		url, user, status string
	}{
		{c.url("curl/users.bin"), ":", "407"},
		{c.url("curl/users.bin"), "me:wrong", "407"},
		{c.url("curl/users.bin"), "me:" + password, "200"},
		{secure.URL, "me:" + password, "200"},
	} {
		header, _ := urndtest.Curl(t, p.URL, "-k", "--proxy-user", tt.user, tt.url)
		if !strings.HasPrefix(header, "HTTP/1.1 "+tt.status) ||
			(tt.status == "407") != strings.Contains(header, "Proxy-Authenticate: Basic ") {
			t.Errorf("%s as %q: %s", tt.url, tt.user, header)
		}
	}
}

// testCurlTLS tests TLS to the origin in a tunnel, to the proxy, and both: the content of the tunnel is from
// the origin.
func testCurlTLS(t *testing.T, c *clients) {
	content := urndtest.RandomBytes(500_000)
	c.add(t, "curl/tls.bin", content)
	authority, folder := testserver.NewAuthority(t), t.TempDir()
	certificate, key := authority.Issue(time.Hour, "127.0.0.1")
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		t.Fatal(err)
	}
	certificateFile, keyFile := filepath.Join(folder, "certificate.pem"), filepath.Join(folder, "key.pem")
	urndtest.WriteOld(t, certificateFile, certificate)
	urndtest.WriteOld(t, keyFile, key)
	secure := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Protocol", r.Proto)
		_, _ = w.Write(content)
	}))
	secure.TLS, secure.EnableHTTP2 = &tls.Config{Certificates: []tls.Certificate{pair}}, true
	secure.StartTLS()
	defer secure.Close()
	p := c.start(t, func(settings *config.Config) {
		settings.Listen.TLS = []string{"127.0.0.1:0"}
		settings.TLS.Certificate, settings.TLS.Key = certificateFile, keyFile
	})
	type step struct {
		proxy     string
		arguments []string
		header    string
	}
	steps := []step{
		{
			p.URL,
			[]string{"--http1.1", secure.URL},
			`^HTTP/1.1 200 Connection established\r\n(?s:.*)X-Protocol: HTTP/1.1\r\n`,
		},
		{p.URL, []string{"--http2", secure.URL}, `(?i)x-protocol: HTTP/2.0\r\n`},
		{"https://" + p.TLS, []string{secure.URL}, `(?i)x-protocol: HTTP/2.0\r\n`},
		{"https://" + p.TLS, []string{c.url("curl/tls.bin")}, `Cache-Status: urnd; fwd=uri-miss; stored`},
		{"https://" + p.TLS, []string{c.url("curl/tls.bin")}, `Cache-Status: urnd; hit`},
	}
	if strings.Contains(urndtest.RunProgram(t, "", nil, "curl", "--help", "all"), "--proxy-http2") { // since 8.1
		steps = append(steps, step{
			"https://" + p.TLS,
			[]string{"--proxy-http2", secure.URL},
			`(?i)x-protocol: HTTP/2.0\r\n`,
		})
	}
	for _, r := range steps {
		header, body := urndtest.Curl(t, r.proxy,
			append([]string{"--cacert", authority.File, "--proxy-cacert", authority.File}, r.arguments...)...)
		if !regexp.MustCompile(r.header).MatchString(header) || string(body) != string(content) {
			t.Errorf("%s %s: %d bytes\n%s", r.proxy, r.arguments, len(body), header)
		}
	}
}
