//go:build e2e

package proxy

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
)

// TestAccessLogTools checks that Calamaris and GoAccess interpret the access logs correctly: complete targets,
// origins, and rejections.
func TestAccessLogTools(t *testing.T) {
	t.Parallel()
	web := serveHTTP(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=60")
		if r.URL.Path == "/forbidden" {
			w.WriteHeader(http.StatusForbidden)
		}
		_, _ = io.WriteString(w, "body")
	})
	requests := []struct{ request, host, target, squid string }{
		{"GET /urn:ietf:rfc:2648", "", "/urn:ietf:rfc:2648", "TCP_MISS/302 HIER_NONE/-"},
		{"GET http://" + web.addr + "/a", "", "http://" + web.addr + "/a", "TCP_MISS/200 HIER_DIRECT/127.0.0.1"},
		{"GET http://" + web.addr + "/a", "", "http://" + web.addr + "/a", "TCP_MEM_HIT/200 HIER_NONE/-"},
		{
			"GET http://" + web.addr + "/forbidden", "", "http://" + web.addr + "/forbidden",
			"TCP_MISS/403 HIER_DIRECT/127.0.0.1",
		},
		{"GET http://10.9.9.1/", "", "http://10.9.9.1/", "TCP_DENIED/403 HIER_NONE/-"},
		{"GET /page?b", "www.example.org", "http://www.example.org/page?b", "TCP_MISS/200 HIER_DIRECT/127.0.0.1"},
		{"GET /page?b", "www.example.org", "http://www.example.org/page?b", "TCP_MEM_HIT/200 HIER_NONE/-"},
		{"POST /page?b", "www.example.org", "http://www.example.org/page?b", "TCP_MISS/200 HIER_DIRECT/127.0.0.1"},
		{"CONNECT " + web.addr, "", web.addr, "TCP_TUNNEL/200 HIER_DIRECT/127.0.0.1"},
	}
	line := regexp.MustCompile(`^\S+ +\d+ 127\.0\.0\.1 (\S+) \d+ \S+ (\S+) - (\S+) \S+$`)
	for _, format := range []string{"squid", "combined", "json"} {
		file := filepath.Join(t.TempDir(), "access.log")
		w := urndtest.Start(t, noDNS, logsTo(format, file, func(c *config.Config) {
			c.Proxy.Sites = []config.Site{{Hosts: []string{"www.example.org"}, Servers: []string{"http://" + web.addr}}}
			c.Proxy.ConnectPorts = []config.PortRange{{First: 1, Last: 65535}}
		}))
		for _, r := range requests {
			if r.host == "" {
				r.host = "a"
			}
			method, rest, _ := strings.Cut(r.request, " ")
			if method == http.MethodConnect {
				exchangeBytes(t, at(w.URL),
					r.request+" HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
				continue
			}
			exchangeBytes(t, at(w.URL),
				method+" "+rest+" HTTP/1.1\r\nHost: "+r.host+"\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
		}
		w.Stop()
		text := urndtest.ReadFile(t, file)
		lines := strings.Split(strings.TrimSpace(text), "\n")
		if len(lines) != len(requests) {
			t.Fatalf("%s: %d lines:\n%s", format, len(lines), text)
		}
		for i, r := range requests {
			if format == "combined" { // contains the request line as received
				_, r.target, _ = strings.Cut(r.request, " ")
			}
			if !strings.Contains(lines[i], r.target) {
				t.Errorf("%s: no %q in %s", format, r.target, lines[i])
			}
			if hasOrigin := strings.Contains(lines[i], `"origin":"`+web.addr+`"`); format == "json" &&
				hasOrigin != strings.Contains(r.squid, "DIRECT") {
				t.Errorf("the origin is in the line: %v: %s", hasOrigin, lines[i])
			}
			if m := line.FindStringSubmatch(lines[i]); format == "squid" &&
				(m == nil || m[1]+" "+m[3] != r.squid || m[2] != r.target) {
				t.Errorf("%q, want %q: %s", m, r.squid, lines[i])
			}
		}
		switch format {
		case "squid":
			readByCalamaris(t, text)
			readByGoAccess(t, file, len(lines), "--log-format=%x.%^ %~%L %h %^/%s %b %m %U", "--datetime-format=%s")
		case "combined":
			readByGoAccess(t, file, len(lines), "--log-format=COMBINED")
		}
	}
}

func readByCalamaris(t *testing.T, text string) {
	t.Helper()
	testserver.Need(t, "calamaris")
	command := exec.Command("calamaris", "-a")
	command.Stdin = strings.NewReader(text)
	report, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, report)
	}
	for _, want := range []string{
		`invalid lines: +lines +0 `, `Total amount cached: +requests +2 `, `\n TCP_MEM_HIT +2 `, `\n TCP_MISS +4 `,
		`\n TCP_TUNNEL +1 `, `\n TCP_DENIED +1 `, `\n HIER_DIRECT +5 `, `\*\.example\.org +3 `,
	} {
		if !regexp.MustCompile(want).Match(report) {
			t.Errorf("Calamaris: no %q in\n%s", want, report)
		}
	}
}

func readByGoAccess(t *testing.T, file string, lines int, arguments ...string) {
	t.Helper()
	testserver.Need(t, "goaccess")
	report := filepath.Join(t.TempDir(), "report.json")
	command := exec.Command("goaccess", append([]string{file, "--no-global-config", "-o", report}, arguments...)...)
	command.Env = append(os.Environ(), "HOME="+t.TempDir())
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var found struct {
		General struct {
			Valid  int `json:"valid_requests"`
			Failed int `json:"failed_requests"`
		}
		Requests struct{ Data []struct{ Data string } }
	}
	if err := json.Unmarshal([]byte(urndtest.ReadFile(t, report)), &found); err != nil {
		t.Fatal(err)
	}
	if found.General.Valid != lines || found.General.Failed != 0 ||
		!strings.Contains(strings.Join(strings.Fields(urndtest.ReadFile(t, report)), " "), "page?b") {
		t.Errorf("GoAccess: %+v", found)
	}
}
