package ftp

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver/scheme"
)

// modified is the modification time of the files of tree.
var modified = time.Date(2024, 2, 29, 13, 14, 15, 0, time.UTC)

// tree creates a directory with files.
func tree(t testing.TB) string {
	t.Helper()
	root := testserver.OpenFolder(t)
	for _, dir := range []string{"pub", "pub/empty", "pub/sub dir", "etc"} {
		if err := os.Mkdir(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{
		"etc/motd": "hello\n", "pub/lines.txt": "one\ntwo\n", "pub/zero": "", "pub/secret": "s",
		"pub/a;b#c%41?.txt": "odd", "pub/\xfcber.txt": "latin", "pub/ leading": "space", "pub/sub dir/x": "y",
		"pub/sub dir/\xff": "telnet", "pub/<b>&\"": "html", "pub/big.bin": strings.Repeat("0123456789", 100_000),
	} {
		path := filepath.Join(root, name)
		if err := errors.Join(os.WriteFile(path, []byte(text), 0o644),
			os.Chtimes(path, modified, modified)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Chmod(filepath.Join(root, "pub/secret"), 0o600),
		os.Symlink("lines.txt", filepath.Join(root, "pub/link")),
		os.Symlink("sub dir/x", filepath.Join(root, "pub/to a name"))); err != nil {
		t.Fatal(err)
	}
	return root
}

// server is a real server, and the userinfo of its URIs.
type server struct {
	start func(t testing.TB, root string) *testserver.FTPServer
	login string
}

func servers() map[string]server {
	return map[string]server{
		"vsftpd": {
			func(t testing.TB, root string) *testserver.FTPServer { return testserver.StartVsftpd(t, root) },
			"",
		},
		"proftpd": {
			func(t testing.TB, root string) *testserver.FTPServer { return testserver.StartProFTPD(t, root) },
			"",
		},
		"pure-ftpd": {func(t testing.TB, root string) *testserver.FTPServer {
			return testserver.StartPureFTPd(t, root, "anna", "geheim")
		}, "anna:geheim@"},
	}
}

// TestServers fetches all kinds of URLs of RFC 1738 section 3.2 from real servers.
func TestServers(t *testing.T) {
	for name, s := range servers() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := "ftp://" + s.login + s.start(t, tree(t)).Addr()
			h := handler(t)
			t.Run("files", func(t *testing.T) { testFiles(t, h, at) })
			t.Run("directory", func(t *testing.T) { testDirectory(t, h, at) })
			t.Run("conditions", func(t *testing.T) { testConditions(t, h, at) })
			t.Run("refusals", func(t *testing.T) { testRefusals(t, h, at) })
			if n := h.pool.Len(); n != 1 {
				t.Errorf("%d connections wait, want one that all requests used", n)
			}
		})
	}
}

func testFiles(t *testing.T, h *Handler, at string) {
	for _, c := range []struct{ path, want string }{
		{"/pub/lines.txt", "one\ntwo\n"},
		{"/pub/lines.txt;type=i", "one\ntwo\n"},
		{"/pub/lines.txt;type=a", "one\r\ntwo\r\n"}, // RFC 959 section 3.1.1.1
		{"/pub/zero", ""},
		{"/etc/motd", "hello\n"},
		{"/%2Fetc/motd", "hello\n"},
		{"//etc/motd", "hello\n"}, // the root of these servers is the home directory
		{"/pub%2Flines.txt", "one\ntwo\n"},
		{"/pub/sub%20dir/x", "y"},
		{"/pub/a%3Bb%23c%2541%3F.txt", "odd"},
		{"/pub/%FCber.txt", "latin"},
		{"/pub/%20leading", "space"},
		{"/pub/sub%20dir/%FF", "telnet"},
		{"/pub/link", "one\ntwo\n"},
		{"/pub/big.bin", strings.Repeat("0123456789", 100_000)},
	} {
		resource, text, err := get(t, h, at+c.path)
		if isText := strings.HasSuffix(c.path, "/motd") || strings.HasSuffix(c.path,
			"/lines.txt"); err == nil && isText && resource.Fields.Get("Content-Type") != "text/plain; charset=utf-8" {
			t.Errorf("%s: %v", c.path, resource.Fields)
		}
		if err != nil || text != c.want || resource.Status != 200 {
			t.Errorf("%s: %d bytes, %v; want %d bytes", c.path, len(text), err, len(c.want))
		}
	}
}

func testDirectory(t *testing.T, h *Handler, at string) {
	want := []string{
		"empty/", "sub dir/", " leading", "<b>&\"", "a;b#c%41?.txt", "big.bin", "lines.txt", "link",
		"secret", "to a name", "zero", "über.txt",
	}
	for _, path := range []string{"/pub/", "/pub;type=d", "/pub/;type=d", "/%2Fpub/"} {
		resource, _, err := get(t, h, at+path)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		l := resource.Listing
		if got := names(l); !slices.Equal(got, want) {
			t.Errorf("%s has %q, want %q", path, got, want)
		}
		if strings.Contains(l.URI, "geheim") || l.Parent == nil || l.Incomplete != "" ||
			len(l.Warnings) > 0 && !strings.Contains(at, "@") {
			t.Errorf("%s: URI %q, parent %v, incomplete %q, warnings %q", path, l.URI, l.Parent, l.Incomplete,
				l.Warnings)
		}
		for _, item := range l.Items {
			if item.Name == "big.bin" &&
				(item.Size == nil || *item.Size != 1_000_000 ||
					item.Modified.Truncate(24*time.Hour) != modified.Truncate(24*time.Hour)) {
				t.Errorf("%s: %+v", path, item)
			}
			if item.Kind != scheme.ItemFile || item.Name == "secret" {
				continue
			}
			withPassword := strings.Replace(item.URI, "anna@", "anna:geheim@", 1)
			if got, _, err := get(t, h, withPassword); err != nil || got.Status != 200 {
				t.Errorf("the link %s: %v", item.URI, err)
			}
		}
	}
	if resource, _, err := get(t, h, at+"/pub/empty/"); err != nil || len(resource.Listing.Items) > 0 {
		t.Errorf("an empty directory: %v, %v", resource, err)
	}
	if resource, _, err := get(t, h, at); err != nil ||
		!slices.Equal(names(resource.Listing), []string{"etc/", "pub/"}) || resource.Listing.Parent != nil {
		t.Errorf("the root: %v, %v", resource, err)
	}
	resource, _, err := get(t, h, at+"/pub")
	if strings.Contains(at, "@") { // a redirect must not contain the password
		if err != nil || len(resource.Listing.Items) < 3 || len(resource.Listing.Warnings) == 0 ||
			strings.Contains(fmt.Sprintf("%+v", *resource.Listing), "geheim") {
			t.Errorf("a directory without slash, with a password: %v, %v", resource, err)
		}
	} else if err != nil || resource.Status != 302 || !strings.HasSuffix(resource.Fields.Get("Location"),
		"/pub/") || strings.Contains(resource.Fields.Get("Location"), "geheim") {
		t.Errorf("a directory without slash: %v, %v", resource, err)
	}
	resource, _, err = get(t, h, at+"/pub/*.txt;type=d")
	if strings.Contains(at, "@") && err != nil {
		return // Pure-FTPd matches patterns in LIST only
	}
	if err != nil || len(resource.Listing.Items) < 2 ||
		!strings.HasSuffix(resource.Listing.Items[0].URI, "/pub/a%3Bb%23c%2541%3F.txt") {
		t.Errorf("a pattern: %v, %v", resource, err)
	}
}

func testConditions(t *testing.T, h *Handler, at string) {
	resource, text, err := get(t, h, at+"/pub/big.bin", "Range", "bytes=999990-")
	if err != nil || resource.Status != 206 || text != "0123456789" ||
		resource.Fields.Get("Content-Range") != "bytes 999990-999999/1000000" {
		t.Fatalf("a range: %v, %q, %v", resource, text, err)
	}
	etag, last := resource.Fields.Get("Etag"), resource.Fields.Get("Last-Modified")
	if last != "Thu, 29 Feb 2024 13:14:15 GMT" || !strings.HasPrefix(etag, `"`) {
		t.Errorf("Last-Modified %q, ETag %q", last, etag)
	}
	for _, c := range []struct {
		field, value string
		status       int
		bytes        int
	}{
		{"If-None-Match", etag, 304, 0},
		{"If-Modified-Since", last, 304, 0},
		{"If-None-Match", `"x"`, 200, 1_000_000},
		{"Range", "bytes=2000000-", 416, 0},
		{"Range", "bytes=-3", 206, 3},
	} {
		resource, text, err := get(t, h, at+"/pub/big.bin", c.field, c.value)
		if err != nil || resource.Status != c.status || len(text) != c.bytes {
			t.Errorf("%s: %s is %v with %d bytes, %v; want %d with %d", c.field, c.value, resource, len(text), err,
				c.status, c.bytes)
		}
	}
	resource, text, err = do(t, h, request(t, http.MethodHead, at+"/pub/lines.txt"))
	// The charset would depend on the content.
	if err != nil || resource.Fields.Get("Content-Length") != "8" || text != "" ||
		resource.Fields.Get("Content-Type") != "" {
		t.Errorf("HEAD: %v, %q, %v", resource, text, err)
	}
}

func testRefusals(t *testing.T, h *Handler, at string) {
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		for _, path := range []string{"/none", "/none/x", "/pub/none.txt;type=a", "/none;type=d", "/pub/lines.txt/"} {
			if _, _, err := do(t, h, request(t, method, at+path)); statusOf(nil, err) != http.StatusNotFound {
				t.Errorf("%s %s: %v, want a refusal 404", method, path, err)
			}
		}
	}
}

// TestMaxPerIP has a server that allows two connections per address: idle connections are closed to make room,
// and further requests wait.
func TestMaxPerIP(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	at := testserver.StartVsftpd(t, tree(t), "max_per_ip=2").Addr()
	h := handler(t)
	for _, user := range []string{"", "ftp:a@", "ftp:b@", "ftp:c@"} { // each has its own connection
		if _, text, err := get(t, h, "ftp://"+user+at+"/etc/motd"); err != nil || text != "hello\n" {
			t.Errorf("%s: %q, %v", user, text, err)
		}
	}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if _, text, err := get(t, h, "ftp://"+at+"/pub/big.bin"); err != nil || len(text) != 1_000_000 {
				t.Errorf("%d bytes, %v", len(text), err)
			}
		})
	}
	all.Wait()
}

// certificate returns a certificate for 127.0.0.1, as a file with its key, and the pool that trusts it.
func certificate(t testing.TB) (file string, roots *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour), IsCA: true,
		BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	text := append(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}),
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})...)
	file = filepath.Join(testserver.OpenFolder(t), "both.pem")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	roots = x509.NewCertPool()
	roots.AppendCertsFromPEM(text)
	return file, roots
}

// TestTLS uses servers that require encryption, and the TLS session of the control connection on data
// connections.
func TestTLS(t *testing.T) {
	file, roots := certificate(t)
	for name, s := range map[string]server{
		"vsftpd": {func(t testing.TB, root string) *testserver.FTPServer {
			return testserver.StartVsftpd(t, root, "ssl_enable=YES", "allow_anon_ssl=YES", "force_anon_logins_ssl=YES",
				"force_anon_data_ssl=YES",
				"require_ssl_reuse=YES", "ssl_ciphers=HIGH", "rsa_cert_file="+file, "rsa_private_key_file="+file)
		}, ""},
		"proftpd": {func(t testing.TB, root string) *testserver.FTPServer {
			return testserver.StartProFTPD(t, root, "LoadModule mod_tls.c", "<IfModule mod_tls.c>", "TLSEngine on",
				"TLSRequired on",
				"TLSECCertificateFile "+file, "TLSECCertificateKeyFile "+file, "</IfModule>")
		}, ""},
		"pure-ftpd": {func(t testing.TB, root string) *testserver.FTPServer {
			return testserver.StartPureFTPd(t, root, "anna", "geheim", "-Y", "3", "-2", file)
		}, "anna:geheim@"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := s.start(t, tree(t))
			at := "ftp://" + s.login + server.Addr()
			for mode, h := range map[string]*Handler{
				"offered":  handler(t),
				"required": handler(t, func(c *Config) { c.TLS, c.RootCAs = TLSRequired, roots }),
			} {
				for range 3 {
					if _, text, err := get(t, h, at+"/pub/big.bin"); err != nil || len(text) != 1_000_000 {
						t.Fatalf("%s: %d bytes, %v\n%s", mode, len(text), err, server.Log())
					}
					if _, text, err := get(t, h, at+"/pub/zero"); err != nil || text != "" {
						t.Errorf("%s: an empty file: %q, %v", mode, text, err)
					}
					if resource, _, err := get(t, h, at+"/pub/"); err != nil || len(resource.Listing.Items) != 12 {
						t.Errorf("%s: %v, %v", mode, resource, err)
					}
				}
				if n := h.pool.Len(); n != 1 || !isByTLS(h) {
					t.Errorf("%s: %d connections, want one, with TLS", mode, n)
				}
			}
			// Pure-FTPd replies 421, as a full server does, so connecting is retried until the timeout.
			never := handler(t, func(c *Config) { c.TLS, c.Limits.Timeout = TLSNever, time.Second })
			if _, _, err := get(t, never, at+"/pub/zero"); err == nil {
				t.Error("the server answers without TLS")
			}
			if _, _, err := get(t, handler(t, func(c *Config) { c.TLS = TLSRequired }), at+"/pub/zero"); !errors.As(err,
				new(x509.UnknownAuthorityError)) {
				t.Errorf("a certificate of an unknown authority: %v", err)
			}
		})
	}
}

// TestLong streams a file of 1 GiB.
func TestLong(t *testing.T) {
	root := tree(t)
	const size = 1 << 30
	path := filepath.Join(root, "long")
	if err := errors.Join(os.WriteFile(path, nil, 0o644), os.Truncate(path, size)); err != nil {
		t.Fatal(err)
	}
	h := handler(t)
	resource, err := h.Fetch(t.Context(),
		request(t, http.MethodGet, "ftp://"+testserver.StartVsftpd(t, root).Addr()+"/long"))
	if err != nil {
		t.Fatal(err)
	}
	defer resource.Body.Close()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var total int64
	buffer := make([]byte, 64<<10)
	for {
		n, err := resource.Body.Read(buffer)
		if total += int64(n); err != nil {
			break
		}
	}
	runtime.ReadMemStats(&after)
	if total != size || after.TotalAlloc-before.TotalAlloc > size/200 {
		t.Errorf("%d bytes, which took %d bytes of memory", total, after.TotalAlloc-before.TotalAlloc)
	}
}

// isByTLS reports whether there are idle connections, all of them encrypted.
func isByTLS(h *Handler) bool {
	plain := h.pool.Drop(func(c *control) bool { return c.tls == nil })
	return plain == 0 && h.pool.Len() > 0
}
