package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/cli"
	clistatus "github.com/urnd/urnd/internal/cli/status"
)

// runStatus runs urnd status.
func runStatus(t *testing.T, args ...string) (out string, exit int) {
	t.Helper()
	var text bytes.Buffer
	root := newRoot()
	root.SetArgs(append([]string{"status"}, args...))
	root.SetOut(&text)
	root.SetErr(&text)
	err := root.ExecuteContext(t.Context())
	if err == nil {
		return text.String(), 0
	}
	if !errors.Is(err, cli.ErrReported) {
		text.WriteString(err.Error())
	}
	return text.String(), cli.StatusOf(err)
}

// Instances are shown beside each other, summed, and as JSON.
func TestStatus(t *testing.T) {
	dns := udpAndTCP(zone(t, oneRule)).serve(t)
	one, two := startDaemon(t, dns, 0, nil), startDaemon(t, dns, 0, func(c *config.Config) { c.Limits.Requests++ })
	const book = "/urn:isbn:0-395-36341-1"
	for range 3 {
		one.send(t, "GET "+book, "")
	}
	two.send(t, "GET "+book, "")
	out, exit := runStatus(t, one.admin)
	for _, want := range []string{
		`instance +` + one.admin, `\nversion +\S`, `\nconfiguration +[0-9a-f]{16}\n`, `\nready +yes`, `\nrequests +3\n`, `\nfailed +0\n`,
		`\ncache of answers +1 entries, .*, 66\.7 % hits\n`, `\nslowest +DNS \S+: `,
	} {
		if !regexp.MustCompile(want).MatchString(out) || exit != 0 {
			t.Errorf("%d: there is no %q in\n%s", exit, want, out)
		}
	}
	out, exit = runStatus(t, one.admin, strings.TrimPrefix(two.admin, "http://"))
	for _, want := range []string{
		`instance +` + one.admin + ` +` + two.admin + ` +all\n`, `\nconfiguration +[0-9a-f]{16} +[0-9a-f]{16} +differing\n`,
		`\nrequests +3 +1 +4\n`, `\ncache of answers +1 entries, .* +1 entries, .* +2 entries, .*, 50\.0 % hits\n`,
	} {
		if !regexp.MustCompile(want).MatchString(out) || exit != 0 {
			t.Errorf("%d: there is no %q in\n%s", exit, want, out)
		}
	}
	out, exit = runStatus(t, "--json", one.admin)
	var document clistatus.Instance
	if err := json.Unmarshal([]byte(out), &document); err != nil || exit != 0 || document.Requests != 3 || !document.Ready || document.Version == "" {
		t.Errorf("%d, %v: %+v", exit, err, document)
	}
}

// What does not answer is said beside what others show.
func TestStatusFails(t *testing.T) {
	token := writeTemp(t, "token", "a token of administrators\n")
	closed := startDaemon(t, "127.0.0.1:9", 0, func(c *config.Config) { c.Access.AdminToken = token })
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("{}")) }))
	defer web.Close()
	ending := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/readyz" {
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = w.Write([]byte(`{"status": "not ready", "unready": ["urnd is stopping"], "degraded": []}`))
		}
	}))
	defer ending.Close()
	for _, tt := range []struct {
		args, says string
		exit       int
	}{
		{closed.admin, "answered 401: ", 1},
		{closed.admin + " --token-file " + token, "\nready ", 0},
		{"127.0.0.1:1", "connecting to 127.0.0.1:1", 1},
		{"127.0.0.1:1 --token-file " + token + " " + closed.admin, "\nready ", 1},
		{"unix:/nowhere/admin.sock", "connecting to the socket /nowhere/admin.sock", 1},
		{web.URL, "perhaps not an admin interface of urnd", 1},
		{ending.URL, ending.URL + " is not ready: urnd is stopping", 1},
		{"ftp://127.0.0.1", "the address of an admin interface is", 2},
		{"a", "a: ", 1},
		{"--nothing", "unknown flag", 2},
		{"--config " + writeTemp(t, "a.yaml", "listen: {admin: ''}\n"), "listen.admin is empty", 1},
	} {
		if out, exit := runStatus(t, strings.Fields(tt.args)...); exit != tt.exit || !strings.Contains(out, tt.says) {
			t.Errorf("%s: %d, %s", tt.args, exit, out)
		}
	}
}
