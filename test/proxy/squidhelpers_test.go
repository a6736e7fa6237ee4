//go:build e2e

package proxy

import (
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
)

// TestHelpersOfSquid checks that users can log in with passwords of an LDAP directory, and that rules can use
// its groups, with the helper programs of Squid.
func TestHelpersOfSquid(t *testing.T) {
	t.Parallel()
	passwords, groups := testserver.Need(t, "/usr/lib/squid/basic_ldap_auth"),
		testserver.Need(t, "/usr/lib/squid/ext_ldap_group_acl")
	directory := testserver.StartSLAPD(t, map[string]string{"alice": "wonder land", "bob": "builder"},
		map[string][]string{"staff": {"alice"}})
	options := []string{"-v", "3", "-b", testserver.LDAPBase, "-H", directory.URL()}
	web := serveHTTP(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "body") })
	d := urndtest.Start(t, noDNS, func(c *config.Config) {
		urndtest.OpenLoopback(c)
		c.Access.Helpers = []config.Helper{
			{For: "passwords", Command: slices.Concat([]string{passwords, "-P", "-f", "(uid=%s)"}, options)},
			{
				For: "groups",
				Command: slices.Concat([]string{
					groups, "-B", testserver.LDAPBase, "-F", "(uid=%s)", "-f",
					"(&(cn=%g)(member=%u))",
				}, options),
			},
		}
		c.Proxy.Rules = []config.ProxyRule{
			{ID: "staff", Action: "allow", Groups: []string{"staff"}},
			{ID: "rest", Action: "deny"},
		}
	})
	status := func(user, password string) int {
		t.Helper()
		via := &url.URL{Scheme: "http", Host: at(d.URL)}
		if user != "" {
			via.User = url.UserPassword(user, password)
		}
		client := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(via), DisableKeepAlives: true}}
		response, err := client.Get("http://" + web.addr + "/")
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		return response.StatusCode
	}
	for _, tt := range []struct {
		user, password string
		status         int
	}{
		{"", "", 407},
		{"alice", "wonder land", 200},
		{"alice", "wrong", 407},
		{"bob", "builder", 403},
		{"carol", "a", 407},
		{"alice", "", 407},
		{"alice\n", "wonder land", 407},
		{"*", "builder", 407},
		{"ALICE", "wonder land", 200},
		{"alice ", "wonder land", 407},
	} {
		if got := status(tt.user, tt.password); got != tt.status {
			t.Errorf("%s, %q: %d, want %d", tt.user, tt.password, got, tt.status)
		}
	}
	if _, metrics := d.AdminRequest(t, "GET /metrics"); !strings.Contains(metrics,
		`urnd_helper_questions_total{helper="groups"}`) {
		t.Error("the metrics do not count questions")
	}
	if log := d.Log(); strings.Contains(log, "wonder") || strings.Contains(log, "builder") {
		t.Error("the log has a password")
	}
}

// TestBrokenHelper checks that access is denied if a program does not respond, and that the client gets a
// server error.
func TestBrokenHelper(t *testing.T) {
	t.Parallel()
	d := urndtest.Start(t, noDNS, func(c *config.Config) {
		c.Access.Helpers = []config.Helper{{For: "passwords", Command: []string{"/bin/false"}}}
	})
	via := &url.URL{Scheme: "http", Host: at(d.URL), User: url.UserPassword("alice", "secret")}
	client := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(via), DisableKeepAlives: true}}
	response, err := client.Get("http://www.example/")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusServiceUnavailable ||
		!strings.Contains(string(body), "login_unavailable") {
		t.Errorf("%d %s, %v", response.StatusCode, body, err)
	}
	testserver.Wait(t, "the log says which helper is broken",
		func() bool { return strings.Contains(d.Log(), `"helper":"passwords"`) })
	if strings.Contains(d.Log(), "secret") {
		t.Error("the log has a password")
	}
}
