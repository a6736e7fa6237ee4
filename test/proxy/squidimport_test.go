//go:build e2e

package proxy

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
)

// statusFrom returns the status of a request "METHOD TARGET" to a proxy, from a client at a loopback address,
// and of a user, "" for none.
func statusFrom(client, proxy, request, user string) (int, error) {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(client)}}
	conn, err := dialer.Dial("tcp", proxy)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	method, target, _ := strings.Cut(request, " ")
	fields := ""
	if user != "" {
		fields = "Proxy-Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(user+":password")) + "\r\n"
	}
	fmt.Fprintf(conn, "%s HTTP/1.1\r\nHost: %s\r\n%sContent-Length: 0\r\nConnection: close\r\n\r\n", request,
		hostOf(target), fields)
	response, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		return 0, err
	}
	_ = response.Body.Close()
	return response.StatusCode, nil
}

func hostOf(target string) string {
	if _, rest, ok := strings.Cut(target, "://"); ok {
		target = rest
	}
	host, _, _ := strings.Cut(target, "/")
	return host
}

// TestSquidImport checks that with the converted configuration urnd allows the same requests as Squid or, if
// some directives are not converted, a subset.
func TestSquidImport(t *testing.T) {
	t.Parallel()
	testserver.Need(t, "squid")
	const ports = "acl SSL_ports port 443\nacl Safe_ports port 80 443 1025-65535\nhttp_access deny " +
		"!Safe_ports\nhttp_access deny CONNECT !SSL_ports\n"
	const nets = "acl two src 127.0.0.2\nacl three src 127.0.0.3-127.0.0.9\nacl wide src 127.0.0.0/255.255.255.0\n"
	for name, tt := range map[string]struct {
		lines   string
		user    string
		partial bool // some directives are not converted
	}{
		"debian": {lines: ports + "http_access allow localhost manager\nhttp_access deny manager\n"},
		"lists": {lines: ports + nets +
			"acl blocked dstdomain \"DIR/blocked\"\nhttp_access deny blocked\nhttp_access allow wide !three\n"},
		"exceptions": {lines: nets +
			"acl a dstdomain .a.example\nacl get method GET HEAD\nacl p urlpath_regex ^/private/\n" +
			"http_access allow two !a\nhttp_access deny p !get\nhttp_access allow three a\nhttp_access deny two " +
			"!p\nhttp_access allow get !p\n"},
		"times": {lines: nets +
			"acl always time SMTWHFA 00:00-24:00\nacl never time SMTWHFA 00:00-00:00\nacl b dstdom_regex -i " +
			"(^|\\.)b\\.Example$\n" +
			"http_access allow two always !b\nhttp_access deny three !never\nhttp_access allow wide b\n"},
		"opposite": {lines: nets +
			"acl group any-of two three\nacl get method GET\nacl pair all-of wide get\nhttp_access allow group !get\n" +
			"http_access deny pair\nhttp_access allow wide\nhttp_access deny CONNECT two\n"},
		"schemes": {lines: nets +
			"acl h proto HTTP\nacl s proto HTTPS\nacl u url_regex ^http://a\\.example/private/\nhttp_access deny " +
			"u\nhttp_access allow two h\n" +
			"http_access allow three s\nhttp_access allow three CONNECT\n"},
		"school": {lines: ports +
			"acl rooms src \"DIR/rooms\"\nacl exam src 127.0.0.3\nacl teachers src 127.0.1.1\nacl allowed dstdomain " +
			"\"DIR/blocked\"\n" +
			"acl social dstdomain .b.example\nacl lessons time SMTWHFA 00:00-24:00\nacl holidays time SMTWHFA " +
			"00:00-00:00\nacl files urlpath_regex ^/private/\n" +
			"http_access allow teachers\nhttp_access deny exam !allowed\nhttp_access deny social lessons " +
			"!holidays\nhttp_access deny files\n" +
			"http_access allow rooms\nhttp_access deny all\n"},
		"office": {user: "root", lines: ports + nets + "auth_param basic program /usr/lib/squid/basic_fake_auth\n" +
			"external_acl_type unix ttl=60 %LOGIN /usr/lib/squid/ext_unix_group_acl -p\nacl known proxy_auth " +
			"REQUIRED\nacl staff external unix root\n" +
			"acl board external unix www-data\nacl media dstdomain .b.example\nacl work time SMTWHFA " +
			"00:00-24:00\nhttp_access deny !known\n" +
			"http_access allow board\nhttp_access deny media work !two\nhttp_access deny staff three\nhttp_access " +
			"allow staff\nhttp_access deny all\n" +
			"cache_peer 127.0.0.1 parent 1 0 no-query no-digest name=down connect-timeout=1\n"},
		"closed": {lines: nets +
			"acl ads url_regex -i private\nhttp_access deny three ads\nhttp_access allow two !ads\nhttp_access " +
			"allow wide\n", partial: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// A parent for all hosts avoids name lookups.
			parent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Cache-Control", "no-store")
			}))
			t.Cleanup(parent.Close)
			host, port, _ := net.SplitHostPort(at(parent.URL))
			dir := testserver.OpenFolder(t)
			if err := os.WriteFile(filepath.Join(dir, "blocked"), []byte("# a list\n.a.example\nb.example\n"),
				0o644); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "rooms"), []byte("127.0.0.1\n127.0.0.3-127.0.0.9\n"),
				0o644); err != nil {
				t.Fatal(err)
			}
			s := testserver.StartSquid(t, dir, strings.ReplaceAll(tt.lines, "DIR", dir),
				"cache_peer "+host+" parent "+port+" 0 no-query no-digest", "never_direct allow all", "cache deny all")
			text, err := urndtest.Run(t, "", "config", "import", filepath.Join(dir, "squid.conf"))
			if (err != nil) != tt.partial {
				t.Errorf("something is lost: %v\n%s", err, text)
			}
			converted := filepath.Join(t.TempDir(), "urnd.yaml")
			if err := os.WriteFile(converted, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			d := urndtest.StartFile(t, converted)
			allowed := 0
			for _, client := range []string{"127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.1.1"} {
				for _, to := range []string{"a.example", "w.a.example", "b.example", "w.b.example", "c.example"} {
					for _, request := range []string{
						"GET http://H/", "POST http://H/", "GET http://H/private/x", "POST http://H/private/x",
						"GET http://H:8081/", "GET http://H:81/", "CONNECT H:443", "CONNECT H:8443",
					} {
						request = strings.Replace(request, "H", to, 1)
						want, err := statusFrom(client, s.Addr(), request, tt.user)
						got, urndErr := statusFrom(client, at(d.URL), request, tt.user)
						if err != nil || urndErr != nil {
							t.Fatalf("%s, %s: %v, %v", client, request, err, urndErr)
						}
						if want == http.StatusOK {
							allowed++
						}
						wrong := got != want
						if tt.partial {
							wrong = got == http.StatusOK && want != http.StatusOK
						}
						if wrong {
							t.Errorf("%s, %s: Squid %d, urnd %d", client, request, want, got)
						}
					}
				}
			}
			if allowed == 0 || t.Failed() {
				t.Errorf("%d are allowed, by\n%s", allowed, text)
			}
		})
	}
}
