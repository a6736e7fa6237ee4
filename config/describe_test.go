package config_test

import (
	"strings"
	"testing"

	"github.com/urnd/urnd/config"
)

// TestFind: a name selects a setting, a section with its settings, a setting in tables of lists, or all
// settings with that last component.
func TestFind(t *testing.T) {
	for name, want := range map[string]string{
		"dns.timeout":          "dns.timeout",
		"reload":               "reload reload.watch",
		"timeout":              "dns.timeout thttp.timeout slp.timeout resolve.timeout gateways.timeout",
		"proxy.sites.0.hosts":  "proxy.sites.*.hosts",
		"proxy.sites.*.tls.ca": "proxy.sites.*.tls.ca",
		"namespaces":           "namespaces",
		"cache.size":           "cache.size: unknown key: write cache.responses, the memory for HTTP responses",
		"dns.tiemout":          "dns.tiemout: unknown key; did you mean dns.timeout?",
		"":                     ": unknown key",
	} {
		found, err := config.Find(name)
		var got []string
		for _, s := range found {
			got = append(got, s.Path)
		}
		if err != nil {
			got = []string{err.Error()}
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%s: %s, want %s", name, text, want)
		}
	}
}

// TestDescribe requires that each setting is described completely.
func TestDescribe(t *testing.T) {
	for _, s := range config.Settings() {
		text := s.Describe()
		isLeaf := s.Variable() != ""
		if !strings.HasPrefix(text, s.Path+"\n  ") ||
			strings.Contains(text, "variable: "+s.Variable()+"\n  reload:   ") != isLeaf {
			t.Errorf("%s: %s", s.Path, text)
		}
	}
	found, err := config.Find("dns.timeout")
	want := "dns.timeout\n  timeout of one query to one server\n  values:   1ms to 1m\n  default:  " +
		config.Default().DNS.Timeout.String() + "\n  variable: URND_DNS_TIMEOUT\n" +
		"  reload:   discards DNS records, answers, the snapshot of answers\n"
	if err != nil || found[0].Describe() != want {
		t.Errorf("%v, %s, want %s", err, found[0].Describe(), want)
	}
}

// TestSecretFiles requires that all settings of secret and certificate files are found, including those in
// lists, and can be changed by the pointers.
func TestSecretFiles(t *testing.T) {
	c := config.Default()
	c.Proxy.Upstreams = []config.Upstream{{}, {TLS: config.ServerTLS{Key: "/k"}}}
	c.Proxy.Sites = []config.Site{{}}
	var got []string
	for _, f := range c.SecretFiles() {
		text := f.Path
		if f.Secret {
			text += "!"
		}
		got = append(got, text+*f.Name)
		*f.Name = "changed"
	}
	const want = "access.admin_token! access.proxy_groups! access.proxy_users! acme.ca acme.key! cache.shared_ca " +
		"cache.shared_key! cache.shared_password! cdn.secret! news.login! " +
		"proxy.sites.0.answer.file proxy.sites.0.tls.ca proxy.sites.0.tls.certificate proxy.sites.0.tls.key! " +
		"proxy.sites.0.users! " +
		"proxy.upstreams.0.password! proxy.upstreams.0.tls.ca proxy.upstreams.0.tls.certificate " +
		"proxy.upstreams.0.tls.key! " +
		"proxy.upstreams.1.password! proxy.upstreams.1.tls.ca proxy.upstreams.1.tls.certificate " +
		"proxy.upstreams.1.tls.key!/k registry.password! tls.certificate tls.client_ca tls.key!"
	if text := strings.Join(got, " "); text != want || c.Proxy.Upstreams[1].TLS.Key != "changed" ||
		c.TLS.ClientCA != "changed" {
		t.Errorf("%s\nwant %s\n%+v", text, want, c.Proxy)
	}
}
