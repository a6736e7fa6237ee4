package config_test

import (
	"strings"
	"testing"

	"github.com/urnd/urnd/config"
)

// warns requires that the warnings of a configuration contain a text, or that there are none for "".
func warns(t *testing.T, settings, want string) {
	t.Helper()
	c, err := config.Load(write(t, "urnd.yaml", settings), nil)
	if err != nil {
		t.Errorf("%s: %v", settings, err)
		return
	}
	if got := c.Warnings(); (want == "") != (len(got) == 0) || !strings.Contains(got.Error(), want) {
		t.Errorf("%s: %v, want %q", settings, got, want)
	}
}

// TestWarningsOfNames: browsers on other machines that use http must reach urnd by a name in listen.names.
func TestWarningsOfNames(t *testing.T) {
	const missing = "listen.names: is empty: browsers that reach listen.service by another name than"
	const service, clients = "listen: {service: ['192.168.1.5:8141']}", "access: {proxy_clients: [192.168.0.0/16]}"
	for settings, want := range map[string]string{
		"{" + service + ", " + clients +
			"}": missing,
		"{listen: {service: [':8141']}, " + clients +
			"}": missing,
		"{listen: {service: ['127.0.0.1:8141', '[2001:db8::1]:8141']}, " + clients +
			"}": missing,
		"{" + service +
			", access: {proxy_clients: [127.0.0.0/8, '::1', '2001:db8::/32']}}": missing,
		"{" + service +
			", access: {proxy_clients: [0.0.0.0/0]}}": missing,
		"access: {proxy_clients: [192.168.0.0/16], trusted_proxies: [127.0.0.1]}": missing,
		"{listen: {proxy_protocol: [127.0.0.1]}, " + clients +
			"}": missing,
		"{listen: {service: ['192.168.1.5:8141'], names: [urnd.example]}, " + clients +
			"}": "",
		"{listen: {service: ['192.168.1.5:8141'], redirect_tls: true, tls: ['192.168.1.5:8143']}, tls: " +
			"{certificate: /c, key: /k}, " + clients + "}": "",
		service: "",
		clients: "",
		"{" + service + ", access: {proxy_clients: [127.0.0.1, 127.1.0.0/16, '::1/128']}}":         "",
		"{listen: {service: ['127.0.0.1:8141', 'localhost:8143', '[::1]:8141']}, " + clients + "}": "",
	} {
		warns(t, settings, want)
	}
}

// TestBrowserOrigins: origins are compared in the serialization of browsers: RFC 6454 section 6.2,
// without the default port.
func TestBrowserOrigins(t *testing.T) {
	for origin, plain := range map[string]string{
		"https://a.example": "", "HTTPS://A.example": "", "http://a.example:81": "", "https://a.example:80": "",
		"http://[::1]:8141":     "",
		"https://a.example:443": "https://a.example", "http://a.example:80": "http://a.example",
		"https://a.example:":   "https://a.example",
		"http://a.example:081": "http://a.example:81", "http://[0:0::1]": "http://[::1]",
	} {
		_, err := config.Load(write(t, "urnd.yaml", "access: {embedders: ['https://b.example', '"+origin+"']}"), nil)
		if (err == nil) != (plain == "") || err != nil && !strings.Contains(err.Error(), "access.embedders.1: ") ||
			err != nil && !strings.HasSuffix(err.Error(), "write "+plain) {
			t.Errorf("%s: %v, want %q", origin, err, plain)
		}
	}
	warns(t, "access: {cors: ['*', 'https://b.example', 'https://a.example:443']}",
		"access.cors.2: \"https://a.example:443\" is not the form that browsers send for this origin, and never "+
			"matches: write https://a.example")
	warns(t, "access: {cors: ['https://A.example']}", "write https://a.example")
	warns(t, "access: {cors: ['*', 'https://b.example', 'http://a.example:81']}", "")
}
