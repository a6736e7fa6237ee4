package config

import (
	"net/mail"
	"net/netip"
	"slices"
	"strings"

	"github.com/urnd/urnd/uri"
)

func checkACMEDirectory(f *Diagnostics, path string, value any) {
	if text, _ := value.(string); !isWebURL(text) || !strings.HasPrefix(strings.ToLower(text), "https://") {
		f.Add(path, "%q is not the URL of an ACME directory, such as https://acme-v02.api.letsencrypt.org/directory",
			text)
	}
}

func checkMailAddress(f *Diagnostics, path string, value any) {
	text, _ := value.(string)
	if text == "" {
		return
	}
	if read, err := mail.ParseAddress(text); err != nil || read.Address != text {
		f.Add(path, "%q is not a mail address such as hostmaster@example.org", text)
	}
}

// checkTLS checks the settings that TLS listeners require.
func (c Config) checkTLS(f *Diagnostics) {
	hasPair := c.TLS.Certificate != "" && c.TLS.Key != ""
	if (len(c.Listen.TLS) > 0 || c.TLS.ClientCA != "") && !hasPair && !c.ACME.Enabled {
		f.Add("tls.certificate",
			"and tls.key are required for listen.tls and tls.client_ca: write the paths of both, or acme.enabled: "+
				"true")
	}
	for i, files := range c.TLS.Certificates {
		path := index("tls.certificates", i)
		if files.Certificate == "" {
			f.Add(path+".certificate", "is missing")
		}
		if files.Key == "" {
			f.Add(path+".key", "is missing")
		}
		checkKeyFile(f, path+".key", files.Key)
	}
	if c.ACME.Enabled {
		c.checkACME(f)
	}
}

// checkACME checks the settings that ACME requires.
func (c Config) checkACME(f *Diagnostics) {
	const most = 1000 // one certificate per name
	switch names := c.CertificateNames(); {
	case len(names) == 0:
		f.Add("acme.enabled", "requires a host name: write listen.names, registry.hosts or proxy.sites")
	case len(names) > most:
		f.Add("acme.enabled",
			"covers %d names; the maximum is %d: obtain wildcard certificates with another program, for "+
				"tls.certificates", len(names), most)
	}
	if (c.ACME.KeyID == "") != (c.ACME.Key == "") {
		f.Add("acme.key_id", "and acme.key are required together")
	}
	switch c.ACME.Storage {
	case "registry":
		if !isPostgres(c.Registry.Store) {
			f.Add("acme.storage",
				"registry requires a registry.store that begins with postgres://: for a single machine use state")
		}
	case "shared":
		if c.Cache.Shared == "" {
			f.Add("acme.storage", "shared requires cache.shared")
		}
	}
}

// CertificateNames returns the host names of urnd that need a certificate: in lower case, without duplicates.
func (c Config) CertificateNames() (names []string) {
	add := func(host string) {
		if host = uri.CanonicalHost(host); strings.Contains(host, ".") && !strings.HasPrefix(host, "*") &&
			!isIP(host) && !slices.Contains(names, host) {
			names = append(names, host)
		}
	}
	for _, host := range c.Listen.Names {
		add(host)
	}
	for _, host := range c.Registry.WebHosts() {
		add(host)
	}
	for _, site := range c.Proxy.Sites {
		for _, host := range site.Hosts {
			add(host)
		}
	}
	return names
}

// isIP reports whether a host is an IP address, for which no certificates are obtained.
func isIP(host string) bool {
	_, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil
}
