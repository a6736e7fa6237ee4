//go:build e2e

package registry

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/urnd/urnd/internal/squid"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
)

// helperConfig writes a configuration with a namespace "book" whose names resolve to origin, and an unavailable
// DNS server.
func helperConfig(t *testing.T, origin string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "urnd.yaml")
	text := "dns: {servers: ['127.0.0.1:9'], timeout: 1s, rounds: 1}\nnamespaces:\n" +
		"  - {nid: book, order: [namespace], targets: [{pattern: '^[0-9]+$', template: '" + origin +
		"/books/{nss}'}, {pattern: '^[0-9]+$', template: 'https://mirror.example/{nss}'}]}\n"
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestHelperCommands checks that requests without a channel are answered in order.
func TestHelperCommands(t *testing.T) {
	t.Parallel()
	path := helperConfig(t, "https://books.example")
	for _, tt := range []struct{ command, url, want string }{
		// A URN is resolved: RFC 8141 section 3.1 for equivalent names, section 2.3.2 for the q-component.
		{"url-rewrite", "urn:book:42", `OK status=302 url="https://books.example/books/42"`},
		{"url-rewrite", "URN:Book:42?=a=b#f", `OK status=302 url="https://books.example/books/42?a=b#f"`},
		{"url-rewrite", "urn:book:42?s=I2Ls", `OK status=302 url="https://books.example/books/42"`},
		{"url-rewrite", "urn:book:42?s=I2C", `ERR message="the service I2C is not available for Squid"`},
		{"url-rewrite", "urn:book:x", `ERR message="name not found: ...`},
		{"url-rewrite", "urn:isbn:0-395-36341-2", `ERR message="parsing \"urn:isbn:0-395-36341-2\": offset 21: ...`},
		{"url-rewrite", "urn:elsewhere:1", `BH message="querying elsewhere.urn.arpa. NAPTR: source unreachable...`},
		// A URL is normalized: RFC 3986 section 6.2.
		{"url-rewrite", "http://A.example:80/b/../%7esmith#f", `OK rewrite-url="http://a.example/~smith"`},
		{"url-rewrite", "ftp://A.example/b", `OK rewrite-url="ftp://a.example/b"`},
		{"url-rewrite", "http://a.example/urn:ISBN:0-395-36341-1", "ERR"},
		{"url-rewrite", "http://a.example/", "ERR"},
		{
			"url-rewrite", "http://u:secret@a.example[/",
			`ERR message="parsing \"http://u:xxxxx@a.example[/\": offset ...`,
		},
		// The URL sent is then also the cache key of Squid.
		{"url-rewrite", "http://a.example/100%?a[]=1|2", `OK rewrite-url="http://a.example/100%25?a%5B%5D=1%7C2"`},
		// The host and port of CONNECT are not a URL: RFC 9112 section 3.2.3.
		{"url-rewrite", "A.example:443", "ERR"},
		{"url-rewrite", "[2001:DB8::1]:443", `ERR message="parsing ...`},
		{"store-id", "URN:Book:42", `OK store-id="urn:book:42"`},
		{"store-id", "urn:isbn:0-395-36341-1#f", `OK store-id="urn:isbn:0395363411"`},
		{"store-id", "urn:book:42", "ERR"},
		{"store-id", "urn:book:42?=a=b", `ERR message="the components of a URN are not part of its key"`},
		{"store-id", "http://A.example:80/%7esmith#f", `OK store-id="http://a.example/~smith"`},
		{"store-id", "http://a.example/~smith", "ERR"},
		// Squid sends this unmodified, and uses it as its cache key.
		{"store-id", "http://a.example/|", `ERR message="parsing ...`},
		{"store-id", "A.example:443", "ERR"},
	} {
		for _, channel := range []string{"", "7 "} {
			out, err := urndtest.Run(t, channel+tt.url+" 127.0.0.1/- - GET myip=127.0.0.1 myport=3128\n", "helper",
				tt.command, "--config", path)
			start, more := strings.CutSuffix(tt.want, "...")
			if err != nil || !strings.HasPrefix(out, channel+start) || strings.Count(out, "\n") != 1 ||
				!more && out != channel+start+"\n" {
				t.Errorf("%s %s%s: %q, %v", tt.command, channel, tt.url, out, err)
			}
		}
	}
}

// TestHelperLines checks that all requests with a channel are answered, in any order, and others in order.
func TestHelperLines(t *testing.T) {
	t.Parallel()
	var in, want []string
	for _, n := range strings.Split("1 2 3 4 5 6 7 8 9 10 11 12", " ") {
		in = append(in, n+" urn:ietf:rfc:"+n+"1")
		want = append(want, n+` OK status=302 url="https://www.rfc-editor.org/info/rfc`+n+`1"`)
	}
	out, err := urndtest.Run(t, strings.Join(in, "\n")+"\n", "helper", "url-rewrite", "--config", "")
	got := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	slices.Sort(got)
	slices.Sort(want)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
	out, err = urndtest.Run(t, "urn:ietf:rfc:21\n\n"+strings.Repeat("x", squid.MaxLine)+"\nurn:ietf:rfc:11\n", "helper",
		"url-rewrite", "--config", "")
	inOrder := `OK status=302 url="https://www.rfc-editor.org/info/rfc21"` +
		"\nBH message=\"a line has no URL\"\nBH message=\"a line has more than 16384 bytes\"\n" +
		`OK status=302 url="https://www.rfc-editor.org/info/rfc11"` + "\n"
	if err != nil || out != inOrder {
		t.Errorf("%q, %v", out, err)
	}
}

// TestHelperEndsBySignal checks that SIGTERM ends a helper without pending input.
func TestHelperEndsBySignal(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(urndtest.Binary(t), "helper", "url-rewrite", "--config", "")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(in, "http://a.example/\n"); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, len("ERR\n"))
	if _, err := io.ReadFull(out, answer); err != nil || string(answer) != "ERR\n" {
		t.Errorf("%q, %v", answer, err)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	testserver.Within(t, "urnd helper", func() {
		if err := cmd.Wait(); err != nil {
			t.Errorf("it ended with %v", err)
		}
	})
}
