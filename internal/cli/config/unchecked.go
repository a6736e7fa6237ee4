package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/systemd"
)

// notChecked returns what a configuration names that only opening could check: where to listen, files and
// directories that urnd writes to, credentials of systemd, and servers that are not asked.
func (w Wiring) notChecked(c config.Config, asked []Peer) []string {
	lines := []string{"listen: whether urnd can listen at its addresses"}
	add := func(setting, path string) {
		if path != "" {
			lines = append(lines, fmt.Sprintf("%s: whether urnd can write to %s", setting, path))
		}
	}
	if c.Cache.Disk > 0 && c.Cache.Responses > 0 {
		directory := c.Cache.DiskDirectory
		if directory == "" {
			directory = systemd.CacheDirectory()
		}
		if directory == "" {
			lines = append(lines, "cache.disk_directory: it is not set, and CacheDirectory of the unit of systemd is "+
				"known to the service alone")
		}
		add("cache.disk_directory", directory)
	}
	add("cache.directory", w.Snapshot(c.Cache))
	if path, ok := cli.StoreFile(c.Registry.Store); ok {
		add("registry.store", path)
	}
	if len(c.File.Roots) > 0 {
		lines = append(lines, "file.roots: whether urnd can read "+strings.Join(c.File.Roots, ", "))
	}
	if c.Log.Access != "off" {
		add("log.access_file", c.Log.AccessFile)
	}
	if c.Log.Format == "journald" {
		lines = append(lines, "log.format: whether the journal of systemd is there")
	}
	if !systemd.HasCredentials() {
		for _, secret := range secretFiles(&c) {
			if strings.HasPrefix(*secret.name, config.CredentialPrefix) {
				lines = append(lines, fmt.Sprintf("%s: %s, which systemd passes on to the service alone", secret.setting, *secret.name))
			}
		}
	}
	servers := slices.DeleteFunc(serversOf(c), func(setting string) bool {
		return slices.ContainsFunc(asked, func(p Peer) bool { return p.Setting == setting })
	})
	if len(servers) > 0 {
		lines = append(lines, "whether the servers answer that these settings name: "+strings.Join(servers, ", "))
	}
	return lines
}

// serversOf returns the settings that name servers.
func serversOf(c config.Config) []string {
	var settings []string
	_, inFile := cli.StoreFile(c.Registry.Store)
	for _, s := range []struct {
		setting string
		names   bool
	}{
		{"dns.servers", len(c.DNS.Servers) > 0},
		{"slp", c.SLP.Enabled()},
		{"registry.store", c.Registry.Store != "" && !inFile},
		{"cache.shared", c.Cache.Shared != ""},
		{"registry.replica", c.Registry.Replica != ""},
		{"cdn.webhooks", c.CDN.Tags != config.TagsOff && len(c.CDN.Webhooks) > 0},
		{"proxy.upstreams", len(c.Proxy.Upstreams) > 0},
		{"proxy.origins", len(c.Proxy.Origins) > 0},
		{"news.servers", c.Gateways.Has(config.ProtocolNews) && len(c.News.Servers) > 0},
		{"telemetry.endpoint", c.Telemetry.Endpoint != ""},
		{"namespaces", slices.ContainsFunc(c.Namespaces, func(n config.Namespace) bool { return len(n.THTTP) > 0 })},
	} {
		if s.names {
			settings = append(settings, s.setting)
		}
	}
	return settings
}

// secretFile is a setting that names a file of secrets.
type secretFile struct {
	setting  string
	name     *string
	isPublic bool // a certificate
}

// secretFiles returns the settings that name files of secrets or certificates, which may be credentials of systemd.
func secretFiles(c *config.Config) []secretFile {
	all := []secretFile{
		{"tls.certificate", &c.TLS.Certificate, true},
		{"tls.client_ca", &c.TLS.ClientCA, true},
		{"tls.key", &c.TLS.Key, false},
		{"access.admin_token", &c.Access.AdminToken, false},
		{"access.proxy_users", &c.Access.ProxyUsers, false},
		{"registry.password", &c.Registry.Password, false},
		{"news.login", &c.News.Login, false},
		{"cache.shared_password", &c.Cache.SharedPassword, false},
		{"cdn.secret", &c.CDN.Secret, false},
		{"cache.shared_key", &c.Cache.SharedKey, false},
		{"cache.shared_ca", &c.Cache.SharedCA, true},
	}
	for i := range c.Proxy.Upstreams {
		all = append(all, secretFile{fmt.Sprintf("proxy.upstreams.%d.password", i), &c.Proxy.Upstreams[i].Password, false})
		all = append(all, filesOfServerTLS(fmt.Sprintf("proxy.upstreams.%d.tls", i), &c.Proxy.Upstreams[i].TLS)...)
	}
	for i := range c.Proxy.Origins {
		all = append(all, filesOfServerTLS(fmt.Sprintf("proxy.origins.%d.tls", i), &c.Proxy.Origins[i].TLS)...)
	}
	return all
}

// filesOfServerTLS returns those of TLS with a server.
func filesOfServerTLS(path string, c *config.ServerTLS) []secretFile {
	return []secretFile{{path + ".ca", &c.CA, true}, {path + ".certificate", &c.Certificate, true}, {path + ".key", &c.Key, false}}
}

// withoutCredentials returns a configuration without the credentials that only systemd can pass on, where it has not.
func withoutCredentials(c config.Config) config.Config {
	c.Proxy.Origins, c.Proxy.Upstreams = slices.Clone(c.Proxy.Origins), slices.Clone(c.Proxy.Upstreams)
	for _, secret := range secretFiles(&c) {
		if strings.HasPrefix(*secret.name, config.CredentialPrefix) && !systemd.HasCredentials() {
			*secret.name = ""
		}
	}
	for i := range c.Proxy.Origins {
		dropHalf(&c.Proxy.Origins[i].TLS)
	}
	for i := range c.Proxy.Upstreams {
		dropHalf(&c.Proxy.Upstreams[i].TLS)
	}
	return c
}

// dropHalf removes a certificate of which the key is missing, and a key without a certificate.
func dropHalf(c *config.ServerTLS) {
	if c.Certificate == "" || c.Key == "" {
		c.Certificate, c.Key = "", ""
	}
}
