package config_test

import (
	"strings"
	"testing"

	"github.com/urnd/urnd/config"
)

func TestRoots(t *testing.T) {
	for root, want := range map[string]string{
		"/": "is all of this machine", "/proc": "the state of processes", "/proc/1/root": "the state of processes", "/sys/kernel": "the state of processes", "/dev": "devices",
		"srv": "not an absolute path", "/srv/../etc": "not an absolute path", "/srv/": "not an absolute path",
		"/srv": "", "/processes": "", "/srv/proc": "", "/development": "",
	} {
		_, err := config.Load(write(t, "urnd.yaml", "file: {roots: [/srv/a, '"+root+"']}"), nil)
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), "file.roots.1: ") || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", root, err, want)
		}
	}
}

// Files of urnd itself that a root makes public.
func TestWarningsOfRoots(t *testing.T) {
	for text, want := range map[string]string{
		"file: {roots: [/var/lib]}":                                                      "file.roots.0: all clients of the proxy can read what urnd has in /var/lib/urnd",
		"file: {roots: [/srv, /etc/urnd/documents]}":                                     "file.roots.1: all clients of the proxy can read what urnd has in /etc/urnd",
		"{file: {roots: [/srv]}, tls: {key: /srv/tls/key, certificate: /a}}": "has in /srv/tls/key",
		"{file: {roots: [/srv]}, cache: {directory: /srv/cache}}":                        "has in /srv/cache",
		"{file: {roots: [/srv]}, cache: {directory: /srv2/cache}}":                       "",
		"{file: {roots: [/srv/a]}, tls: {key: /srv/key, certificate: /a}}":                                "",
	} {
		c, err := config.Load(write(t, "urnd.yaml", text), nil)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got := c.Warnings(); (want == "") != (len(got) == 0) || !strings.Contains(got.Error(), want) {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// Servers that take lines of text for commands listen at these ports: RFC 1738 section 6.
func TestDeniedPorts(t *testing.T) {
	denied := func(port uint16) bool {
		for _, r := range config.Default().Gateways.DenyPorts {
			if r.First <= port && port <= r.Last {
				return true
			}
		}
		return false
	}
	for _, port := range []uint16{1025, 2525, 5984, 8125, 9050, 9051, 10050, 10051, 6379, 11211} {
		if !denied(port) {
			t.Errorf("%d is not denied", port)
		}
	}
	for _, port := range []uint16{1024, 7070, 8000, 8080, 9000, 10070} { // gopher and ftp servers without privileges, and the web
		if denied(port) {
			t.Errorf("%d is denied", port)
		}
	}
}
