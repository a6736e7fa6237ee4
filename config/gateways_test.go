package config_test

import (
	"strings"
	"testing"

	"github.com/urnd/urnd/config"
)

func TestRoots(t *testing.T) {
	for root, want := range map[string]string{
		"/": "is the whole file system: name the", "/proc": "but devices and process state",
		"/proc/1/root": "but devices and process state", "/sys/kernel": "but devices and process state",
		"/dev": "devices", "srv": "not an absolute path", "/srv/../etc": "not an absolute path",
		"/srv/": "not an absolute path", "/srv": "", "/processes": "", "/srv/proc": "", "/development": "",
	} {
		_, err := config.Load(write(t, "urnd.yaml", "file: {roots: [/srv/a, '"+root+"']}"), nil)
		if (err == nil) != (want == "") ||
			err != nil && (!strings.Contains(err.Error(), "file.roots.1: ") || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", root, err, want)
		}
	}
}

// TestWarningsOfRoots requires warnings about files of urnd itself in a served directory.
func TestWarningsOfRoots(t *testing.T) {
	for text, want := range map[string]string{
		"file: {roots: [/var/lib]}":                                                                           "file.roots.0: all clients of the proxy can read the files of urnd in /var/lib/urnd",
		"file: {roots: [/srv, /etc/urnd/documents]}":                                                          "file.roots.1: all clients of the proxy can read the files of urnd in /etc/urnd",
		"{file: {roots: [/srv]}, tls: {key: /srv/tls/key, certificate: /a}}":                                  "files of urnd in /srv/tls/key",
		"{file: {roots: [/srv]}, cache: {directory: /srv/cache}}":                                             "files of urnd in /srv/cache",
		"{file: {roots: [/srv]}, cache: {directory: /srv2/cache}}":                                            "",
		"{file: {roots: [/srv/a]}, tls: {key: /srv/key, certificate: /a}, listen: {tls: ['127.0.0.1:8443']}}": "",
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

// TestDeniedPorts: servers at these ports take lines of text for commands: RFC 1738 section 6.
func TestDeniedPorts(t *testing.T) {
	denied := func(port uint16) bool {
		for _, r := range config.Default().Gateways.DenyPorts {
			if r.First <= port && port <= r.Last {
				return true
			}
		}
		return false
	}
	for _, port := range []uint16{
		1025, 2525, 5984, 8125, 9050, 9051, 10050, 10051, 6379, 11211,
		3310, 4730, 6600, 11300, 2003, 4242, 8009, 9000, 7000, 16379, // ports found in reviews of the list
		1099, 1344, 1978, 2049, 2181, 2617, 2623, 3003, 3306, 3493, 3632, 4150, 4160, 4369, 4373, 4712, 4949, 5038,
		5432, 5672, 6082, 6557, 6667, 7419, 7711, 8021, 8765, 8086, 9200, 9300, 9101, 9104, 10011, 10023, 10040, 12345,
		12525, 13666, 27017, 33060, 33062, 61613,
	} {
		if !denied(port) {
			t.Errorf("%d is not denied", port)
		}
	}
	// Ports of unprivileged gateway servers, and of the web.
	for _, port := range []uint16{
		1024, 1070, 1119, 1979, 2100, 2121, 7070, 7090, 8000, 8080, 8443, 9999, 10000, 10070,
		32768, 50000, 60000,
	} {
		if denied(port) {
			t.Errorf("%d is denied", port)
		}
	}
	last := uint16(1023)
	for _, r := range config.Default().Gateways.DenyPorts {
		if r.First <= last || r.Last < r.First {
			t.Errorf("%d to %d is after %d", r.First, r.Last, last)
		}
		last = r.Last
	}
}

// TestWarningOfDeniedPorts: a list that includes some of the default ports causes no warning.
func TestWarningOfDeniedPorts(t *testing.T) {
	wantWarnings(t, map[string]string{
		"gateways: {deny_ports: [8080]}":            "gateways.deny_ports: replaces the default, and has none of its",
		"gateways: {deny_ports: [1025, 1433-1434]}": "",
		"gateways: {deny_ports: []}":                "",
		"gateways: {ttl: 2m}":                       "",
	})
}

// wantWarnings loads configurations, and checks that their warnings contain the texts, "" for none.
func wantWarnings(t *testing.T, cases map[string]string) {
	t.Helper()
	for text, want := range cases {
		c, err := config.Load(write(t, "urnd.yaml", text), nil)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := c.Warnings(); (want == "") != (len(got) == 0) || !strings.Contains(got.Error(), want) {
			t.Errorf("%s: %v, want %q", text, got, want)
		}
	}
}
