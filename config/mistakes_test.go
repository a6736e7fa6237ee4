package config_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urnd/urnd/config"
)

var updateMistakes = flag.Bool("update-mistakes", false, "write the answers in testdata/mistakes.txt")

// mistakesFile consists of answers, "== LINE SETTING | MESSAGE", each followed by the configuration they are
// about, comments, and empty lines.
const mistakesFile = "testdata/mistakes.txt"

// mistake is a configuration, and the expected answers.
type mistake struct {
	text    string
	answers []string
}

func parseMistakes(text string) (all []mistake) {
	isAnswer := false
	for line := range strings.Lines(text) {
		answer, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "== ")
		switch {
		case ok && isAnswer:
			last := &all[len(all)-1]
			last.answers = append(last.answers, answer)
		case ok:
			all = append(all, mistake{answers: []string{answer}})
		case len(all) > 0 && line != "\n" && !strings.HasPrefix(line, "#"):
			all[len(all)-1].text += line
		}
		isAnswer = ok
	}
	return all
}

// check returns the faults of "urnd config check" that need no other files.
func check(path string) config.Diagnostics {
	c, origins, err := config.LoadOrigins(path, nil)
	var failures config.Diagnostics
	if errors.As(err, &failures) || err != nil {
		return failures
	}
	failures = origins.Warnings(c)
	failures.Locate(origins)
	return failures
}

// answersOf returns the answers of "urnd config check" to a configuration.
func answersOf(t *testing.T, text string) (answers []string) {
	t.Helper()
	path := write(t, "urnd.yaml", text)
	for _, failure := range check(path) {
		if strings.Contains(failure.Message, "s3cr3t") || failure.File == "" ||
			(failure.Line == 0) != (failure.Column == 0) {
			t.Errorf("%s%+v", text, failure)
		}
		message := strings.ReplaceAll(failure.Message, filepath.Dir(path), "DIRECTORY")
		answers = append(answers, strings.TrimSpace(fmt.Sprintf("%d %s", failure.Line, failure.Path))+" | "+message)
	}
	return answers
}

// TestMistakes requires that each mistake causes exactly the expected messages, with line, setting and
// suggestion. -update-mistakes writes them.
func TestMistakes(t *testing.T) {
	text, err := os.ReadFile(mistakesFile)
	if err != nil {
		t.Fatal(err)
	}
	all := parseMistakes(string(text))
	if len(all) < 200 {
		t.Errorf("%d mistakes", len(all))
	}
	updated := string(text)
	for _, m := range all {
		want := "== " + strings.Join(m.answers, "\n== ") + "\n" + m.text
		got := answersOf(t, m.text)
		if answered := "== " + strings.Join(got, "\n== ") + "\n" + m.text; len(got) == 0 || answered != want {
			if !*updateMistakes {
				t.Errorf("got\n%swant\n%s", answered, want)
			}
			if strings.Count(updated, want) == 0 {
				t.Errorf("the configuration has a comment in it:\n%s", want)
			}
			updated = strings.Replace(updated, want, answered, 1)
		}
	}
	if *updateMistakes {
		if err := os.WriteFile(mistakesFile, []byte(updated), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestNoMistakes has unusual configurations that cause no message.
func TestNoMistakes(t *testing.T) {
	for _, text := range []string{
		"listen: {service: ['127.0.0.1:0']}",
		// On loopback, without rights.
		"access: {trusted_proxies: [0.0.0.0/0], proxy_clients: [], purge_clients: [], fresh_clients: []}",
		"access: {trusted_proxies: [10.0.0.0/8, 100.64.0.0/10, 'fc00::/7'], admin_proxies: [127.0.0.1, '::1']}",
		"access: {admin_proxies: [10.0.0.5], admin_token: 'credential:admin-token'}",
		"access: {proxy_clients: [0.0.0.0/0, '::/0'], purge_clients: [0.0.0.0/0, '::/0']}", // on loopback
		"{listen: {service: ['0.0.0.0:8141'], names: [a.example]}, access: {proxy_clients: [0.0.0.0/0, '::/0'], " +
			"proxy_users: /etc/urnd/users}}",
		"{listen: {service: ['0.0.0.0:8141'], names: [a.example]}, access: {proxy_clients: [0.0.0.0/0, '::/0']}, " +
			"proxy: {rules: [{id: a, action: allow, hosts: [.debian.org]}, {id: b, action: deny}]}}",
		"access: {allow_destinations: [10.0.0.0/8, 127.0.0.0/8, 'fc00::/7', 192.0.2.1, '2001:db8::1']}",
		"proxy: {rules: [{id: a, action: deny, hosts: [.example.org], ports: [80]}, {id: b, action: deny, hosts: " +
			"[www.example.org], ports: [80-90]}]}",
		"proxy: {rules: [{id: a, action: deny, hosts: [www.example.org]}, {id: b, action: deny, hosts: " +
			"[.example.org]}]}",
		"proxy: {rules: [{id: a, action: deny, hosts: ['w?w.example.org']}, {id: b, action: deny, hosts: " +
			"['w*.example.org', 192.0.2.1]}]}",
		"proxy: {rules: [{id: a, action: deny, destinations: [10.0.0.0/8]}, {id: b, action: deny, hosts: " +
			"[a.example]}]}",
		"proxy: {rules: [{id: a, action: allow, methods: [GET]}, {id: b, action: deny}]}",
		"proxy: {upstreams: [{proxies: [direct], hosts: [.example.org]}, {proxies: " +
			"['http://proxy.example.net:3128'], hosts: [.example.net]}]}",
		"proxy: {sites: [{hosts: [www.example.org], servers: ['https://backend.example.org:8443', " +
			"'http://[2606:2800::1]']}]}",
		"{access: {allow_destinations: [127.0.0.1]}, proxy: {sites: [{hosts: [www.example.org], servers: " +
			"['http://127.0.0.1:8080', 'http://127.0.0.1:81']}]}}",
		"proxy: {sites: [{hosts: [www.example.org], servers: ['http://www.example.org:9000']}, {hosts: [a.example], " +
			"servers: ['https://www.example.org:9443']}]}",
		"proxy: {rules: [{id: a, action: deny, destinations: [0.0.0.0/0, '::/0'], methods: [POST]}]}",
		"{listen: {service: ['10.1.0.5:8141', '[2001:db8::5]:8141', '127.0.0.1:8141'], names: [a.example]}, proxy: " +
			"{upstreams: [{hosts: [], proxies: [direct]}]}}",
		"namespaces: [{nid: example, targets: [{pattern: '^home$', template: 'https://example.org/'}, {template: " +
			"'https://{nid}.example.org/{+nss}'}]}]",
		"listen:\ndns:\n  # timeout: 5s\n",
		"registry: {store: 'sqlite:/var/lib/urnd/registry.db', owned: ['urn:nbn:fi:', 'ark:/12345/']}",
		"registry: {store: 'sqlite:/var/lib/urnd/registry.db', owned: ['URN:NBN:fi:', 'ARK:12345/']}",
		"registry: {store: 'sqlite:/var/lib/urnd/registry.db', owned: ['urn:']}",
		"{registry: {store: 'sqlite:/var/lib/urnd/registry.db', owned: ['urn:', 'ARK:12345/']}, ark: {support_who: " +
			"'A: library', support_when: '2031'}}",
		"news: {servers: [news.example.org:119, 'tls://news.example.net:563']}",
		"resolve: {timeout: 1s}",
		"resolve: {fallback: 'https://resolver.example.org/namen-für/{+urn}'}",
		"resolve: {fallback: 'https://resolver.example.org/{+urn}'}",
		"dns: {timeout: 200ms}",
		"namespaces: [{nid: isbn, check: warn}]",
		"cache: {disk: 0, max_saved: 0, responses: 0}",
		"cache: {answers: 64 MiB, records: 16MB}",
	} {
		if got := check(write(t, "urnd.yaml", text)); len(got) > 0 {
			t.Errorf("%s: %v", text, got)
		}
	}
}
