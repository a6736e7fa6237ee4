//go:build e2e

package clients

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
)

// clientsZone has names for loopback: some clients use no proxy for localhost and 127.0.0.1.
const clientsZone = `
$TTL 60
@ SOA ns.elsewhere.test. admin.elsewhere.test. 1 3600 600 86400 60
@ NS  ns.elsewhere.test.
* A   127.0.0.1
`

// clients are urnd as the forward proxy of real clients, and the site that they ask for.
type clients struct {
	*urndtest.Daemon
	folder string // of the site
	site   *testserver.WebServer
	dns    string
}

// start runs another urnd beside that of all clients.
func (c *clients) start(t *testing.T, change func(*config.Config)) *urndtest.Daemon {
	t.Helper()
	return urndtest.Start(t, c.dns, func(settings *config.Config) {
		urndtest.OpenLoopback(settings)
		settings.Proxy.ConnectPorts = []config.PortRange{{First: 1, Last: 65535}}
		settings.DNS.Timeout = testserver.Patience // for a busy machine
		if change != nil {
			change(settings)
		}
	})
}

// Real clients get what they ask for through urnd, and from its cache where they ask again.
func TestClients(t *testing.T) {
	t.Parallel()
	c := &clients{
		folder: testserver.OpenFolder(t),
		dns:    testserver.StartBIND(t, testserver.Zone{Name: "clients.example.org", Text: clientsZone}).Addr(),
	}
	c.site = testserver.StartNginx(t, c.folder, "location /packed/ { gzip on; gzip_vary on; gzip_proxied any; gzip_types text/plain; expires 1h; }",
		"location /upload/ { dav_methods PUT; client_max_body_size 16m; expires 1h; }")
	c.Daemon = c.start(t, nil)
	for _, client := range []struct {
		name string
		test func(*testing.T, *clients)
	}{
		{"curl", testCurl},
		{"curl and users", testCurlUsers},
		{"curl and TLS", testCurlTLS},
		{"wget", testWget},
		{"apt", testAPT},
		{"go", testGoModules},
		{"pip", testPip},
		{"Chromium", testChromium},
	} {
		t.Run(client.name, func(t *testing.T) {
			t.Parallel()
			client.test(t, c)
		})
	}
}

// url returns the URL of a file of the site.
func (c *clients) url(path string) string {
	return fmt.Sprintf("http://www.clients.example.org:%d/%s", c.site.Port(), path)
}

// add adds a file to the site, which was last modified days ago, so that it is fresh for one
// (RFC 9111 section 4.2.2).
func (c *clients) add(t *testing.T, path string, content []byte) {
	t.Helper()
	writeOld(t, filepath.Join(c.folder, path), content)
}

func writeOld(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	modified := time.Now().Add(-20 * 24 * time.Hour)
	if err := os.Chtimes(path, modified, modified); err != nil {
		t.Fatal(err)
	}
}

// octets returns random ones.
func octets(n int) []byte {
	b := make([]byte, n)
	random := rand.NewChaCha8([32]byte{byte(n)})
	_, _ = random.Read(b) // it does not fail
	return b
}

// asked returns how often the site answered requests for a path that begin with a text such as
// "GET /a".
func (c *clients) asked(t *testing.T, prefix string) (n int) {
	t.Helper()
	for _, line := range c.site.Log(t) {
		if strings.HasPrefix(line, prefix) {
			n++
		}
	}
	return n
}

// runProgram runs a program in a folder and returns what it prints. The test fails where the program does.
func runProgram(t *testing.T, folder string, environment []string, program string, arguments ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), testserver.Need(t, program), arguments...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), environment...)
	var out, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &log
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s%s", program, strings.Join(arguments, " "), err, out.String(), log.String())
	}
	return out.String()
}

// wantFile compares a file with what it should contain.
func wantFile(t *testing.T, path string, want []byte) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s: %d octets, %v, want %d others", filepath.Base(path), len(got), err, len(want))
	}
}

// readFile returns what a file contains.
func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
