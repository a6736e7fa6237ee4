//go:build e2e

package proxy

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
)

// logsTo configures an access log in a format, to a file if its name is not "".
func logsTo(format, file string, change func(*config.Config)) func(*config.Config) {
	return func(c *config.Config) {
		urndtest.OpenLoopback(c)
		c.Log.Access = []config.AccessLog{{Format: format, File: file}}
		if change != nil {
			change(c)
		}
	}
}

func TestAccessLogs(t *testing.T) {
	t.Parallel()
	web := serveHTTP(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "body") })
	requests := []struct{ request, body, form, service, cache, status string }{
		{"GET /urn:ietf:rfc:2648", "", "path", "I2L", "miss", "302"},
		{"GET /URN:IETF:RFC:2648", "", "path", "I2L", "hit", "302"},
		{"GET /?uri=urn%3Aietf%3Arfc%3A2648", "", "path", "I2L", "hit", "302"},
		{"GET urn:ietf:rfc:2648", "", "target", "I2L", "hit", "302"},
		{"GET /uri-res/N2Ls?urn:ietf:rfc:2648", "", "thttp", "I2Ls", "miss", "200"},
		{"HEAD /uri-res/N2C?urn:ietf:rfc:2648", "", "thttp", "I2C", "hit", "200"},
		{"GET /api/v1/resolve?uri=urn:ietf:rfc:2648", "", "api", "I2L", "hit", "200"},
		{"POST /api/v1/resolve", `["urn:ietf:rfc:2648"]`, "batch", "I2L", "bypass", "200"},
		{"GET http://" + web.addr + "/a?b", "", "forward", "I2L", "miss", "200"},
		{"GET /", "", "home", "I2L", "bypass", "200"},
		{"GET /urn:a", "", "path", "I2L", "bypass", "400"},
		{`GET /urn:a1:"\`, "", "path", "I2L", "bypass", "400"},
	}
	lines := map[string]*regexp.Regexp{
		"json": regexp.MustCompile(`^\{"time":"([^"]+Z)","client":"127\.0\.0\.1","user":"me","method":"(\S+)","target":(?:"(?:[^"\\]|\\.)*"),` +
			`"proto":"HTTP/1\.1","status":(\d+),"bytes":\d+,"ms":[\d.]+,"cache":"(\S+?)"(?:,"origin":"127\.0\.0\.1:\d+")?,"form":"(\S+)",` +
			`"service":"(\S+)","request_id":"([0-9a-f]{16})","referer":"http://r\.example/","user_agent":"a b"\}$`),
		"combined": regexp.MustCompile(`^127\.0\.0\.1 - me \[(\S+ \+0000)\] "(\S+) \S+ HTTP/1\.1" (\d+) (?:\d+|-) "http://r\.example/" "a b"$`),
		"squid": regexp.MustCompile(`^(\d{10}\.\d{3}) [ \d]{6} 127\.0\.0\.1 (?:NONE|TCP_MEM_HIT|TCP_MISS)/(\d+) \d+ (\S+) \S+ me ` +
			`HIER_(?:NONE/-|DIRECT/127\.0\.0\.1) \S+$`),
	}
	for format, shape := range lines {
		for _, file := range []string{"", filepath.Join(t.TempDir(), "access.log")} {
			t.Run(fmt.Sprintf("%s, to a file %t", format, file != ""), func(t *testing.T) {
				t.Parallel()
				c := urndtest.Default(noDNS)
				logsTo(format, file, nil)(&c)
				began := time.Now().Truncate(time.Second)
				w := urndtest.StartConfig(t, c, "TZ=UTC")
				var ids []string
				for _, r := range requests {
					response := sendAsIs(t, w, r.request, r.body, "User-Agent: a b", "Referer: http://r.example/",
						"Proxy-Authorization: Basic "+base64.StdEncoding.EncodeToString([]byte("me:"+password)))
					ids = append(ids, response.Header.Get("X-Request-Id"))
				}
				w.Stop()
				text := w.Log()
				if file != "" {
					text = urndtest.ReadFile(t, file)
				}
				found := slices.DeleteFunc(strings.Split(text, "\n"),
					func(line string) bool { return line == "" || strings.Contains(line, `"msg":`) })
				if len(found) != len(requests) {
					t.Fatalf("%d lines:\n%s", len(found), text)
				}
				for i, line := range found {
					m := shape.FindStringSubmatch(line)
					if m == nil {
						t.Errorf("%s", line)
						continue
					}
					if when := timeOf(t, format, m[1]); when.Before(began) || when.After(time.Now()) {
						t.Errorf("%v is not a time of the test: %s", when, line)
					}
					r := requests[i]
					method, _, _ := strings.Cut(r.request, " ")
					want := map[string][]string{
						"json":     {method, r.status, r.cache, r.form, r.service, ids[i]},
						"combined": {method, r.status}, "squid": {r.status, method},
					}[format]
					if !slices.Equal(m[2:], want) {
						t.Errorf("%q, want %q: %s", m[2:], want, line)
					}
				}
			})
		}
	}
}

// timeOf parses the time in a line of an access log.
func timeOf(t *testing.T, format, text string) time.Time {
	t.Helper()
	if format == "squid" {
		seconds, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Error(err)
		}
		return time.UnixMilli(int64(seconds * 1000))
	}
	layout := map[string]string{"json": time.RFC3339, "combined": "02/Jan/2006:15:04:05 -0700"}[format]
	when, err := time.Parse(layout, text)
	if err != nil {
		t.Error(err)
	}
	return when
}

// TestAccessLogIsReopened checks that SIGHUP reopens a renamed access log without losing lines.
func TestAccessLogIsReopened(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "access.log")
	w := urndtest.Start(t, noDNS, logsTo("combined", file, nil))
	for i := range 3 {
		sendAsIs(t, w, fmt.Sprintf("GET /urn:ietf:rfc:%d", i+1), "")
		old := fmt.Sprintf("%s.%d", file, i)
		if err := os.Rename(file, old); err != nil {
			t.Fatal(err)
		}
		if !reload(t, w, keep) {
			t.Error("the reload is refused")
		}
		testserver.Wait(t, "the line is in the old file",
			func() bool { return strings.Count(urndtest.ReadFile(t, old), "\n") == 1 })
	}
	if info, err := os.Stat(file); err != nil || info.Mode() != 0o640 || info.Size() != 0 {
		t.Errorf("%v, %v", info, err)
	}
}

// TestAccessLogBehindAProxy checks that a trusted proxy in front of urnd sets the request identifier and the
// client.
func TestAccessLogBehindAProxy(t *testing.T) {
	t.Parallel()
	for _, trusted := range []bool{true, false} {
		w := urndtest.Start(t, noDNS, logsTo("json", "", func(c *config.Config) {
			if trusted {
				c.Access.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
			}
		}))
		response := sendAsIs(t, w, "GET /urn:ietf:rfc:2648", "", "X-Request-Id: from-the-front",
			"X-Forwarded-For: 198.51.100.7")
		w.Stop()
		var line struct {
			Client    string
			RequestID string `json:"request_id"`
		}
		for text := range strings.Lines(w.Log()) {
			if strings.Contains(text, `"form":`) {
				_ = json.Unmarshal([]byte(text), &line)
			}
		}
		if id := response.Header.Get("X-Request-Id"); line.RequestID != id || (id == "from-the-front") != trusted ||
			(line.Client == "198.51.100.7") != trusted {
			t.Errorf("trusted %t: %+v, and %q in the response", trusted, line, id)
		}
	}
}

// password occurs in URLs of the tests, and must not occur in a log.
const password = "s3cr3t"

// TestNoPasswordIsLogged checks that passwords in URLs of clients, servers and administrators are never logged.
func TestNoPasswordIsLogged(t *testing.T) {
	t.Parallel()
	const at = "user:" + password + "@"
	web := serveHTTP(t, func(w http.ResponseWriter, r *http.Request) {
		scheme, rest, _ := strings.Cut(r.URL.RawQuery, ":book:")
		redirect(w, map[string]string{
			"ftp": "ftp://" + at + "192.0.2.1/", "closed": "http://" + at + "127.0.0.1:1/",
			"bad": "http://user:" + password + " @192.0.2.1/", "": scheme,
		}[rest])
	})
	encoded := strings.NewReplacer(":", "%3A", "/", "%2F", "@", "%40")
	credentials := base64.StdEncoding.EncodeToString([]byte("user:" + password))
	for _, format := range []string{"json", "combined", "squid"} {
		for _, logs := range []string{"json", "text"} {
			t.Run(format+", "+logs, func(t *testing.T) {
				t.Parallel()
				c := urndtest.Default(noDNS)
				logsTo(format, "", func(c *config.Config) {
					c.Log.Format, c.Log.Level = logs, slog.LevelDebug
					c.Namespaces = []config.Namespace{{NID: "book", THTTP: []string{"http://" + web.addr}}}
				})(&c)
				w := startWithLog(t, c)
				sent := 0
				for _, u := range []string{
					"ftp://" + at + "a.example/", "http://" + at + web.addr + "/", "https://" + at + "127.0.0.1:1/",
					"HTTP://" + at + "[::1]/",
					"gopher://:" + password + "@a.example",
					"http://user:it's" + password + "@a.example/", "http://user:a/" + password + "@a.example/",
					"http://user:a@" + password + "@a.example/",
					"http://user:a%40" + password + "@a.example",
					"http://user:" + password + "|@a.example/", "http:/" + at + "a.example/",
					"http:///" + at + "a.example/", "//" + at + "a.example/",
					"http://a.example/?http://" + at + "b.example/", "view-source:http://" + at + "a.example/",
					"http://user:(" + password + ")!$&*+,;=@a.example/",
				} {
					for _, target := range []string{
						u, "/" + u, "/?uri=" + u, "/?uri=" + encoded.Replace(u), "/uri-res/N2L?" + u,
						"/uri-res/N2R?" + u, "/api/v1/resolve?uri=" + u, "/api/v1/resolve?uri=" + encoded.Replace(u),
						"/api/v1/explain?uri=" + strings.ToLower(encoded.Replace(u)), "/uri-res/I=I?" + u + "%20" + u,
					} {
						sendAsIs(t, w.Daemon, "GET "+target, "")
						sent++
					}
					body, _ := json.Marshal([]string{u})
					sendAsIs(t, w.Daemon, "POST /api/v1/resolve", string(body), "Referer: "+u,
						"User-Agent: bot (+"+u+")", "Proxy-Authorization: Basic "+credentials,
						"Authorization: Basic "+credentials)
					sendAsIs(t, w.Daemon, "GET /urn:a1:b", "", "Referer: "+u, "X-Request-Id: "+password,
						"Referer: https://b.example/?u="+encoded.Replace(u))
				}
				for _, name := range []string{"ftp", "closed", "bad"} {
					for _, service := range []string{"N2L", "N2Ls", "N2R", "N2Rs", "N2C"} {
						sendAsIs(t, w.Daemon, "GET /uri-res/"+service+"?urn:book:"+name, "")
					}
				}
				sendAsIs(t, w.Daemon, "CONNECT "+at+"a.example:443", "")
				w.refuse(t, func(c *config.Config) { c.Namespaces[0].THTTP = []string{"http://" + at + "h/x"} })
				if ready := readiness(t, w.Daemon); strings.Contains(ready, password) ||
					!strings.Contains(ready, "namespaces.0.thttp.0") {
					t.Errorf("readiness: %s", ready)
				}
				w.stop()
				text := w.log.String()
				seen := make(map[string]bool)
				for line := range strings.Lines(text) {
					for _, secret := range []string{password, credentials} {
						shown := regexp.MustCompile(`.{0,40}` + regexp.QuoteMeta(secret) + `.{0,20}`).FindString(line)
						if shown != "" && !seen[shown] && len(seen) < 40 {
							seen[shown] = true
							t.Errorf("access log %s, log %s: %s", format, logs, shown)
						}
					}
				}
				if n := strings.Count(text, "\n"); n < sent {
					t.Errorf("only %d lines are there to look at", n)
				}
			})
		}
	}
}

// logDaemon is an urnd with a log in any format.
type logDaemon struct {
	*urndtest.Daemon // addresses and requests
	process          *exec.Cmd
	file             string
	log              syncBuffer
	stop             func()
}

// syncBuffer is a buffer that is safe for concurrent use.
type syncBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func startWithLog(t *testing.T, c config.Config) *logDaemon {
	t.Helper()
	w := &logDaemon{Daemon: &urndtest.Daemon{Config: c}, file: filepath.Join(t.TempDir(), "urnd.yaml")}
	w.write(t)
	w.process = exec.Command(urndtest.Binary(t), "serve", "--config", w.file)
	w.process.Stderr = &w.log
	if err := w.process.Start(); err != nil {
		t.Fatal(err)
	}
	w.stop = sync.OnceFunc(func() {
		_ = w.process.Process.Signal(os.Interrupt) // it may have ended
		if err := w.process.Wait(); err != nil {
			t.Errorf("urnd ended with %v", err)
		}
	})
	t.Cleanup(w.stop)
	address := regexp.MustCompile(`urnd is ready".*\bservice"?[=:]"?([0-9.:]+).*\badmin"?[=:]"?([0-9.:]+)`)
	var found []string
	testserver.Wait(t, "urnd is ready", func() bool {
		found = address.FindStringSubmatch(w.log.String())
		return found != nil
	})
	w.URL, w.Admin = "http://"+found[1], "http://"+found[2]
	return w
}

func (w *logDaemon) write(t *testing.T) {
	t.Helper()
	text, err := yaml.Marshal(config.ToPlain(w.Config.Map()))
	if err == nil {
		err = os.WriteFile(w.file, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// refuse reloads the configuration with an invalid change.
func (w *logDaemon) refuse(t *testing.T, change func(*config.Config)) {
	t.Helper()
	change(&w.Config)
	w.write(t)
	if err := w.process.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	testserver.Wait(t, "the reload is refused",
		func() bool { return strings.Contains(w.log.String(), "configuration reload failed") })
}
