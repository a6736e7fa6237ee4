//go:build e2e

package proxy

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
)

// adminPage returns the texts of a page of the admin listener, with "|" around each.
func adminPage(t *testing.T, d *urndtest.Daemon, target string) string {
	t.Helper()
	status, body := d.AdminRequest(t, "GET "+target)
	if status != http.StatusOK {
		t.Fatalf("%s: %d %s", target, status, body)
	}
	return "|" + strings.Join(testserver.ParseHTML(body).First("main").Texts(), "|") + "|"
}

// TestPagesForOperators checks that operators see the directories of urnd, its certificate, failing servers,
// and the source of each setting, also after a reload.
func TestPagesForOperators(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	ca := urndtest.NewAuthority(t)
	certificate, key := ca.Issue(t, "urn.example")
	files := urndtest.NewPairFiles(t, certificate, key)
	store := filepath.Join(directory, "registry.db")
	cache := "cache: {answers: 1MiB, records: 1MiB, directory: '" + directory + "', disk: 16MiB, disk_directory: '" +
		filepath.Join(directory, "disk") + "'}"
	lines := []string{
		`listen: {service: "127.0.0.1:0", tls: "127.0.0.1:0", admin: "127.0.0.1:0"}`,
		"tls: {certificate: '" + files.Certificate + "', key: '" + files.Key + "'}",
		"dns: {servers: ['127.0.0.1:9'], timeout: 1s}",
		"namespaces: [{nid: book, order: [namespace], targets: [{template: 'https://a.example/{+nss}'}]}]",
		"registry: {store: 'sqlite:" + store + "'}", cache,
		"log: {format: json, access: [{file: '" + filepath.Join(directory, "access") + "'}]}",
	}
	// A separate file leaves most settings at their defaults.
	file := writeTemp(t, "urnd.yaml", strings.Join(lines, "\n"))
	command := exec.Command(urndtest.Binary(t), "serve", "--config", file)
	command.Env = append(os.Environ(), "URND_RESOLVE_BACKOFF=4m")
	d := urndtest.StartCommand(t, command)
	testserver.Wait(t, "the registry answers", func() bool {
		return strings.Contains(adminPage(t, d, "/status"), "|registry|sqlite:"+store+"|available|")
	})
	page := adminPage(t, d, "/status")
	for _, want := range []string{
		"|responses on disk|" + filepath.Join(directory, "disk") + "|in use|0 B|16.0 MiB|",
		"|saved answers|" + filepath.Join(directory, "answers") + "|not saved yet",
		"|access log|" + filepath.Join(directory, "access") + "|in use|", "|subject|CN=urn.example|", "|issuer|",
		"|expires|",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in %s", want, page)
		}
	}
	line := "|file " + file + ":"
	for _, want := range []string{
		"|cache.disk|16MiB|file ", "; the default is|0B|",
		"|resolve.backoff|4m|environment URND_RESOLVE_BACKOFF; the default is|5s|", "|namespaces|[{", line,
	} {
		if page := adminPage(t, d, "/config"); !strings.Contains(page, want) {
			t.Errorf("no %s in %s", want, page)
		}
	}
	if page := adminPage(t, d, "/config?q=dns.rounds"); !strings.Contains(page, "|1 found|") ||
		!strings.Contains(page, "|default|") {
		t.Error(page)
	}
	if page := adminPage(t, d, "/status"); !strings.Contains(page, "|warning|no DNS server responds|") {
		t.Error(page)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(strings.Join(lines, "\n"), "timeout: 1s", "timeout: 777ms", 1)),
		0o600); err != nil {
		t.Fatal(err)
	}
	if err := d.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	d.WaitForLog(t, "configuration reloaded")
	testserver.Wait(t, "the configuration is the other one", func() bool {
		return strings.Contains(adminPage(t, d, "/config?section=dns"), "|dns.timeout|777ms|file ")
	})
	if page := adminPage(t, d, "/status"); !strings.Contains(page, "|no DNS server responds|") {
		t.Errorf("errors end with a configuration: %s", page)
	}
}

// TestFailingServers checks that a server that urnd has abandoned is listed as failing.
func TestFailingServers(t *testing.T) {
	t.Parallel()
	d := urndtest.Start(t, noDNS, func(c *config.Config) {
		urndtest.OpenLoopback(c)
		c.Gateways.AllowPorts = []config.PortRange{{First: 1, Last: 65535}}
	})
	testserver.Wait(t, "an origin is avoided", func() bool {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, d.URL+"/fetch?uri=http://127.0.0.1:1/",
			http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		return strings.Contains(adminPage(t, d, "/status"),
			"|http://127.0.0.1:1|origin or gateway|refuses connections|in ")
	})
}
