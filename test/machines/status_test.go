//go:build e2e

package machines

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/test/urndtest"
)

// TestStatus checks that instances are shown side by side, summed, and as JSON.
func TestStatus(t *testing.T) {
	t.Parallel()
	dns := urndtest.UDPAndTCP(urndtest.Zone(t, urndtest.ExampleRule)).Serve(t)
	one, two := startInstance(t, dns, nil), startInstance(t, dns, func(c *config.Config) { c.Limits.Requests++ })
	const book = "/urn:isbn:0-395-36341-1"
	for range 3 {
		one.Get(t, book)
	}
	two.Get(t, book)
	out, exit := runUrnd(t, "status", one.Admin)
	for _, want := range []string{
		`instance +` + one.Admin, `\nversion +\S`, `\nconfiguration +[0-9a-f]{16}\n`, `\nready +yes`, `\nrequests +3\n`,
		`\nfailed +0\n`, `\ncache of answers +1 entries, .*, 66\.7 % hits\n`, `\nslowest +DNS \S+: `,
	} {
		if !regexp.MustCompile(want).MatchString(out) || exit != 0 {
			t.Errorf("%d: no %q in\n%s", exit, want, out)
		}
	}
	out, exit = runUrnd(t, "status", one.Admin, strings.TrimPrefix(two.Admin, "http://"))
	for _, want := range []string{
		`instance +` + one.Admin + ` +` + two.Admin + ` +all\n`,
		`\nconfiguration +[0-9a-f]{16} +[0-9a-f]{16} +differing\n`, `\nrequests +3 +1 +4\n`,
		`\ncache of answers +1 entries, .* +1 entries, .* +2 entries, .*, 50\.0 % hits\n`,
	} {
		if !regexp.MustCompile(want).MatchString(out) || exit != 0 {
			t.Errorf("%d: no %q in\n%s", exit, want, out)
		}
	}
	out, exit = runUrnd(t, "status", "--output=json", one.Admin)
	var document struct {
		Requests float64
		Ready    bool
		Version  string
	}
	if err := json.Unmarshal([]byte(out), &document); err != nil || exit != 0 || document.Requests != 3 ||
		!document.Ready || document.Version == "" {
		t.Errorf("%d, %v: %+v", exit, err, document)
	}
}

// TestStatusFails checks that an instance without a response is reported beside the others.
func TestStatusFails(t *testing.T) {
	t.Parallel()
	token := writeTemp(t, "token", "a token of administrators\n")
	closed := startInstance(t, "127.0.0.1:9", func(c *config.Config) { c.Access.AdminToken = token })
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("{}"))
	}))
	defer web.Close()
	ending := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/readyz" {
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = w.Write([]byte(`{"status": "not ready", "unready": ["urnd is stopping"], "degraded": []}`))
		}
	}))
	defer ending.Close()
	alone := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text := `{"status": "ready", "unready": [], "degraded": []}`
		if r.URL.Path == "/metrics" {
			text = "urnd_shared_cache_alone{cache=\"answers\"} 0\nurnd_shared_cache_alone{cache=\"records\"} 1\n"
		}
		_, _ = w.Write([]byte(text))
	}))
	defer alone.Close()
	for _, tt := range []struct {
		args, message string
		exit          int
	}{
		{alone.URL, alone.URL + " has a shared cache, but shares records with no other instance", 0},
		{closed.Admin, "responded with status 401: ", 1},
		{closed.Admin + " --token-file " + token, "\nready ", 0},
		{"127.0.0.1:1", "connecting to 127.0.0.1:1", 1},
		{"127.0.0.1:1 --token-file " + token + " " + closed.Admin, "\nready ", 1},
		{"unix:/nowhere/admin.sock", "connecting to the socket /nowhere/admin.sock", 1},
		{web.URL, "check that this is an admin interface of urnd", 1},
		{ending.URL, ending.URL + " is not ready: urnd is stopping", 1},
		{"ftp://127.0.0.1", "the address of an admin interface is", 2},
		{"a", "the address of an admin interface is", 2},
		{"--nothing", "unknown flag", 2},
		{"--config " + writeTemp(t, "a.yaml", "listen: {admin: ''}\n"), "listen.admin is empty", 1},
	} {
		if out, exit := runUrnd(t, append([]string{"status"}, strings.Fields(tt.args)...)...); exit != tt.exit ||
			!strings.Contains(out, tt.message) {
			t.Errorf("%s: %d, %s", tt.args, exit, out)
		}
	}
}
