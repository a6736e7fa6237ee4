package main

import (
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/testserver"
)

// adminPage returns a page of the admin listener, each run of tags as "|".
func (l *fileDaemon) adminPage(t *testing.T, target string) string {
	t.Helper()
	response, err := http.Get("http://" + l.admin + target)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %v", target, response.StatusCode, err)
	}
	_, content, _ := strings.Cut(string(body), "<main")
	return regexp.MustCompile(`(?:\s*<[^>]*>\s*)+`).ReplaceAllString(content, "|")
}

// Operators see where urnd keeps something, its certificate, which servers fail, and where each setting comes from, as it is after a
// reload.
func TestPagesForOperators(t *testing.T) {
	directory := t.TempDir()
	ca := newAuthority(t)
	certificate, key := ca.issue(t, "urn.example")
	files := newPairFiles(t, certificate, key)
	t.Setenv("URND_RESOLVE_BACKOFF", "4m")
	store := filepath.Join(directory, "registry.db")
	cache := "cache: {answers: 1MiB, records: 1MiB, directory: '" + directory + "', disk: 16MiB, disk_directory: '" + filepath.Join(directory, "disk") + "'}"
	lines := []string{
		`listen: {service: "127.0.0.1:0", tls: "127.0.0.1:0", admin: "127.0.0.1:0"}`, "tls: {certificate: '" + files.certificate + "', key: '" + files.key + "'}",
		"registry: {store: 'sqlite:" + store + "'}", cache, "log: {format: text, access: json, access_file: '" + filepath.Join(directory, "access") + "'}",
	}
	l := start(t, lines...)
	testserver.Wait(t, "the registry answers", func() bool {
		return strings.Contains(l.adminPage(t, "/status"), "|registry|sqlite:"+store+"|it answers|")
	})
	page := l.adminPage(t, "/status")
	for _, want := range []string{
		"|responses on disk|" + filepath.Join(directory, "disk") + "|in use|0 B|16.0 MiB|", "|saved answers|" + filepath.Join(directory, "answers") + "|not saved yet",
		"|access log|" + filepath.Join(directory, "access") + "|in use|", "|subject|CN=urn.example|", "|issuer|", "|expires|",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in %s", want, page)
		}
	}
	line := "|file " + l.file + ":"
	for _, want := range []string{"|cache.disk|16MiB|file ", "; the default is|0B|", "|resolve.backoff|4m|environment URND_RESOLVE_BACKOFF; the default is|5s|", "|namespaces|[{", line} {
		if page := l.adminPage(t, "/config"); !strings.Contains(page, want) {
			t.Errorf("no %s in %s", want, page)
		}
	}
	if page := l.adminPage(t, "/config?q=dns.rounds"); !strings.Contains(page, "|1 found|") || !strings.Contains(page, "|default|") {
		t.Error(page)
	}
	if page := l.adminPage(t, "/faults"); !strings.Contains(page, "|warning|no DNS server answers|") {
		t.Error(page)
	}
	l.write(t, append(lines, "dns: {servers: ['127.0.0.1:9'], timeout: 777ms}")...)
	if !l.reload(t) {
		t.Fatal("no reload")
	}
	testserver.Wait(t, "the configuration is the other one", func() bool {
		return strings.Contains(l.adminPage(t, "/config?section=dns"), "|dns.timeout|777ms|file ")
	})
	if page := l.adminPage(t, "/faults"); !strings.Contains(page, "|no DNS server answers|") {
		t.Errorf("faults end with a configuration: %s", page)
	}
}

// A server that urnd has given up is among those that fail now.
func TestFailingServers(t *testing.T) {
	l := start(t, `listen: {service: "127.0.0.1:0", admin: "127.0.0.1:0"}`, "gateways: {allow_ports: [1-65535]}")
	testserver.Wait(t, "an origin is avoided", func() bool {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, l.url+"/fetch?uri=http://127.0.0.1:1/", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		return strings.Contains(l.adminPage(t, "/status"), "|http://127.0.0.1:1|origin or gateway|it failed lately|in ")
	})
}
