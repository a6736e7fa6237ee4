package main

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
)

// send sends a request as it is, with its fields, and returns the response.
func (w *testDaemon) send(t *testing.T, request, body string, fields ...string) *http.Response {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	lines := append([]string{request + " HTTP/1.1", "Host: a", "Connection: close", fmt.Sprintf("Content-Length: %d", len(body))}, fields...)
	if _, err := io.WriteString(conn, strings.Join(lines, "\r\n")+"\r\n\r\n"+body); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatalf("%.80q: %v", request, err)
	}
	_, _ = io.Copy(io.Discard, response.Body)
	return response
}

// logsTo lets urnd log requests in a format, to a file where it has a name.
func logsTo(format, file string, change func(*config.Config)) func(*config.Config) {
	return func(c *config.Config) {
		openLoopback(c)
		c.Log.Access, c.Log.AccessFile = format, file
		if change != nil {
			change(c)
		}
	}
}

func TestAccessLogs(t *testing.T) {
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
		"json":     regexp.MustCompile(`^\{"time":"2096-10-02T07:06:40Z","client":"127\.0\.0\.1","user":"me","method":"(\S+)","target":("(?:[^"\\]|\\.)*"),"proto":"HTTP/1\.1","status":(\d+),"bytes":(\d+),"ms":0,"cache":"(\S+?)"(?:,"origin":"127\.0\.0\.1:\d+")?,"form":"(\S+)","service":"(\S+)","request_id":"([0-9a-f]{16})","referer":"http://r\.example/","user_agent":"a b"\}$`),
		"combined": regexp.MustCompile(`^127\.0\.0\.1 - me \[02/Oct/2096:07:06:40 \+0000\] "(\S+) (\S+) HTTP/1\.1" (\d+) (\d+) "http://r\.example/" "a b"$`),
		"squid":    regexp.MustCompile(`^4000000000\.000      0 127\.0\.0\.1 (?:NONE|TCP_MEM_HIT|TCP_MISS)/(\d+) (\d+) (\S+) (\S+) me HIER_(?:NONE/-|DIRECT/127\.0\.0\.1) \S+$`),
	}
	t.Setenv("TZ", "UTC")
	for format, shape := range lines {
		for _, file := range []string{"", filepath.Join(t.TempDir(), "access.log")} {
			w := startDaemon(t, "127.0.0.1:9", 0, logsTo(format, file, nil))
			var ids []string
			for _, r := range requests {
				response := w.send(t, r.request, r.body, "User-Agent: a b", "Referer: http://r.example/",
					"Proxy-Authorization: Basic "+base64.StdEncoding.EncodeToString([]byte("me:"+password)))
				ids = append(ids, response.Header.Get("X-Request-Id"))
			}
			w.stop()
			text := w.log.String()
			if file != "" {
				text = readFile(t, file)
			}
			found := slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool { return line == "" || strings.Contains(line, `"msg":`) })
			if len(found) != len(requests) {
				t.Errorf("%s, to %q: %d lines:\n%s", format, file, len(found), text)
				continue
			}
			for i, line := range found {
				m := shape.FindStringSubmatch(line)
				if m == nil {
					t.Errorf("%s: %s", format, line)
					continue
				}
				r := requests[i]
				method, _, _ := strings.Cut(r.request, " ")
				var got, want []string
				switch format {
				case "json":
					got, want = []string{m[1], m[3], m[5], m[6], m[7], m[8]}, []string{method, r.status, r.cache, r.form, r.service, ids[i]}
				case "combined":
					got, want = []string{m[1], m[3]}, []string{method, r.status}
				default:
					got, want = []string{m[3], m[1]}, []string{method, r.status}
				}
				if !slices.Equal(got, want) {
					t.Errorf("%s: %q, want %q: %s", format, got, want, line)
				}
			}
		}
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// SIGHUP reopens an access log that was renamed, and no line is lost.
func TestAccessLogIsReopened(t *testing.T) {
	file := filepath.Join(t.TempDir(), "access.log")
	w := startDaemon(t, "127.0.0.1:9", 0, logsTo("combined", file, nil))
	for i := range 3 {
		w.send(t, fmt.Sprintf("GET /urn:ietf:rfc:%d", i+1), "")
		old := fmt.Sprintf("%s.%d", file, i)
		if err := os.Rename(file, old); err != nil {
			t.Fatal(err)
		}
		w.hangups <- syscall.SIGHUP
		testserver.Wait(t, "the configuration is reloaded", func() bool { return strings.Count(w.log.String(), "was reloaded") == i+1 })
		testserver.Wait(t, "the line is in the old file", func() bool { return strings.Count(readFile(t, old), "\n") == 1 })
	}
	if info, err := os.Stat(file); err != nil || info.Mode() != 0o640 || info.Size() != 0 {
		t.Errorf("%v, %v", info, err)
	}
}

// A trusted proxy in front of urnd sets the identifier and the client of a request.
func TestAccessLogBehindAProxy(t *testing.T) {
	for _, trusted := range []bool{true, false} {
		w := startDaemon(t, "127.0.0.1:9", 0, logsTo("json", "", func(c *config.Config) {
			if trusted {
				c.Access.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
			}
		}))
		response := w.send(t, "GET /urn:ietf:rfc:2648", "", "X-Request-Id: from-the-front", "X-Forwarded-For: 198.51.100.7")
		w.stop()
		var line struct {
			Client    string
			RequestID string `json:"request_id"`
		}
		for text := range strings.Lines(w.log.String()) {
			if strings.Contains(text, `"form":`) {
				_ = json.Unmarshal([]byte(text), &line)
			}
		}
		if id := response.Header.Get("X-Request-Id"); line.RequestID != id || (id == "from-the-front") != trusted || (line.Client == "198.51.100.7") != trusted {
			t.Errorf("trusted %t: %+v, and %q in the response", trusted, line, id)
		}
	}
}

// password is in URLs of the tests, and must not be in a log.
const password = "s3cr3t"

// A password in a URL of a client, a server or an administrator is never logged.
func TestNoPasswordIsLogged(t *testing.T) {
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
			w := startDaemon(t, "127.0.0.1:9", 0, logsTo(format, "", func(c *config.Config) {
				c.Log.Format, c.Log.Level = logs, slog.LevelDebug
				c.Namespaces = []config.Namespace{{NID: "book", THTTP: []string{"http://" + web.addr}}}
			}))
			sent := 0
			for _, u := range []string{
				"ftp://" + at + "a.example/", "http://" + at + web.addr + "/", "https://" + at + "127.0.0.1:1/", "HTTP://" + at + "[::1]/",
				"gopher://:" + password + "@a.example",
				"http://user:it's" + password + "@a.example/", "http://user:a/" + password + "@a.example/", "http://user:a@" + password + "@a.example/",
				"http://user:a%40" + password + "@a.example",
				"http://user:" + password + "|@a.example/", "http:/" + at + "a.example/", "http:///" + at + "a.example/", "//" + at + "a.example/",
				"http://a.example/?http://" + at + "b.example/", "view-source:http://" + at + "a.example/", "http://user:(" + password + ")!$&*+,;=@a.example/",
			} {
				for _, target := range []string{
					u, "/" + u, "/?uri=" + u, "/?uri=" + encoded.Replace(u), "/uri-res/N2L?" + u, "/uri-res/N2R?" + u, "/api/v1/resolve?uri=" + u,
					"/api/v1/resolve?uri=" + encoded.Replace(u), "/api/v1/explain?uri=" + strings.ToLower(encoded.Replace(u)), "/uri-res/I=I?" + u + "%20" + u,
				} {
					w.send(t, "GET "+target, "")
					sent++
				}
				body, _ := json.Marshal([]string{u})
				w.send(t, "POST /api/v1/resolve", string(body), "Referer: "+u, "User-Agent: bot (+"+u+")", "Proxy-Authorization: Basic "+credentials,
					"Authorization: Basic "+credentials)
				w.send(t, "GET /urn:a1:b", "", "Referer: "+u, "X-Request-Id: "+password, "Referer: https://b.example/?u="+encoded.Replace(u))
			}
			for _, name := range []string{"ftp", "closed", "bad"} {
				for _, service := range []string{"N2L", "N2Ls", "N2R", "N2Rs", "N2C"} {
					w.send(t, "GET /uri-res/"+service+"?urn:book:"+name, "")
				}
			}
			w.send(t, "CONNECT "+at+"a.example:443", "")
			w.setLoad(func() (config.Config, error) {
				return w.config, errors.New(`namespaces.0.thttp.0: "http://` + at + `h/x" is not`)
			})
			w.hangups <- syscall.SIGHUP
			w.waitForLog(t, "was not reloaded")
			if ready := w.readiness(t); strings.Contains(ready, password) {
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
		}
	}
}
