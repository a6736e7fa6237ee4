package config

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/crypto/bcrypt"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/internal/secret"
	"github.com/urnd/urnd/uri"
)

// ofFiles returns warnings about the files and directories that a configuration names.
func ofFiles(c config.Config) config.Diagnostics {
	return slices.Concat(ofSecrets(c), ofUsers(c), ofHelpers(c), ofDirectories(c), ofCertificates(c))
}

func ofSecrets(c config.Config) (warnings config.Diagnostics) {
	const others = 0o004
	for _, file := range c.SecretFiles() {
		if *file.Name == "" || strings.HasPrefix(*file.Name, config.CredentialPrefix) {
			continue
		}
		if info, err := os.Stat(*file.Name); err == nil && info.Mode()&others != 0 && file.Secret {
			warnings = append(warnings, config.Diagnostic{
				Path: file.Path, Message: fmt.Sprintf("all users of this machine can read %s: run chmod o-r",
					*file.Name),
			})
		}
		if file.Path != "registry.password" && file.Path != "cdn.secret" {
			continue // urnd reads the others at its start, and reports their errors
		}
		if _, err := secret.Read(file.Path, *file.Name); err != nil && !errors.Is(err, fs.ErrPermission) {
			warnings = append(warnings,
				config.Diagnostic{Path: file.Path, Message: strings.TrimPrefix(err.Error(), file.Path+": ")})
		}
	}
	return warnings
}

// ofUsers warns of passwords whose hashes are cheap to guess. Unreadable files are reported elsewhere.
func ofUsers(c config.Config) (warnings config.Diagnostics) {
	warnings = ofPasswords("access.proxy_users", c.Access.ProxyUsers)
	for i, site := range c.Proxy.Sites {
		warnings = append(warnings, ofPasswords(fmt.Sprintf("proxy.sites.%d.users", i), site.Users)...)
	}
	return warnings
}

// ofHelpers warns of helper programs that cannot be run, as far as the user of the command can see.
func ofHelpers(c config.Config) (warnings config.Diagnostics) {
	const anybodyRuns = 0o111
	for i, h := range c.Access.Helpers {
		path := fmt.Sprintf("access.helpers.%d.command.0", i)
		info, err := os.Stat(h.Command[0])
		switch {
		case errors.Is(err, fs.ErrPermission):
		case err != nil:
			warnings = append(warnings,
				config.Diagnostic{Path: path, Message: fmt.Sprintf("no user can log in: %v", err)})
		case !info.Mode().IsRegular() || info.Mode()&anybodyRuns == 0:
			warnings = append(warnings,
				config.Diagnostic{
					Path:    path,
					Message: fmt.Sprintf("no user can log in: %s is not a program", h.Command[0]),
				})
		}
	}
	return warnings
}

func ofPasswords(setting, file string) config.Diagnostics {
	const goodCost = 10
	if file == "" {
		return nil
	}
	text, _ := secret.Read(setting, file)
	var cheap, all int
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		_, hash, _ := strings.Cut(line, ":")
		if cost, err := bcrypt.Cost([]byte(hash)); err == nil && !strings.HasPrefix(line, "#") {
			all++
			if cost < goodCost {
				cheap++
			}
		}
	}
	if cheap == 0 {
		return nil
	}
	return config.Diagnostics{{
		Path: setting,
		Message: fmt.Sprintf("%d of %d hashes have a cost below %d, so their passwords can be guessed fast: create "+
			"them "+
			"with htpasswd -B -C 12",
			cheap, all, goodCost),
	}}
}

// ofDirectories warns of missing directories that urnd does not create. systemd creates its own ones at the
// start of the service.
func ofDirectories(c config.Config) (warnings config.Diagnostics) {
	isMissing := func(path string) bool {
		_, err := os.Stat(path)
		return errors.Is(err, fs.ErrNotExist)
	}
	needs := func(setting, directory string) {
		if directory != "" && isMissing(directory) && !isOfSystemd(directory) {
			warnings = append(warnings, config.Diagnostic{
				Path: setting,
				Message: fmt.Sprintf("the directory %s does not exist, and urnd does not create it: create it, "+
					"owned by "+
					"the user that urnd runs as", directory),
			})
		}
	}
	if path, ok := cli.StoreFile(c.Registry.Store); ok {
		needs("registry.store", filepath.Dir(path))
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			warnings = append(warnings, config.Diagnostic{
				Path: "registry.store",
				Message: fmt.Sprintf("%s is a directory: write the path of a file, such as sqlite:%s", path,
					filepath.Join(path, "registry.db")),
			})
		}
	}
	if socket, ok := strings.CutPrefix(c.Listen.Admin, config.UnixPrefix); ok {
		needs("listen.admin", filepath.Dir(socket))
	}
	if c.Cache.MaxSaved > 0 {
		needs("cache.directory", c.Cache.Directory)
	}
	for _, of := range accessDirectories(c.Log) { // a missing one is an error
		const anyone = 0o222
		if info, err := os.Stat(of.path); err == nil && info.Mode()&anyone == 0 {
			warnings = append(warnings, config.Diagnostic{
				Path: of.setting,
				Message: fmt.Sprintf("the directory %s is not writable: give it to the user that urnd runs as "+
					"(chown, chmod u+w)", of.path),
			})
		}
	}
	for i, root := range c.File.Roots {
		if isMissing(root) {
			warnings = append(warnings, config.Diagnostic{
				Path: fmt.Sprintf("file.roots.%d", i),
				Message: fmt.Sprintf("the directory %s does not exist: none of its files are "+
					"served", root),
			})
		}
	}
	return warnings
}

// isOfSystemd reports whether the systemd units create a directory, including those of instances such as
// urnd-north.
func isOfSystemd(directory string) bool {
	return slices.ContainsFunc([]string{"/var/lib/urnd", "/var/cache/urnd", "/run/urnd"}, func(own string) bool {
		return directory == own || strings.HasPrefix(directory, own+"-")
	})
}

// ofCertificates warns of hosts of urnd without a certificate.
func ofCertificates(c config.Config) (warnings config.Diagnostics) {
	var leaves []*x509.Certificate
	for i, files := range slices.Concat([]config.CertificateFiles{{Certificate: c.TLS.Certificate, Key: c.TLS.Key}},
		c.TLS.Certificates) {
		leaf := firstCertificate(files.Certificate)
		if leaf == nil || files.Key == "" {
			continue // reported elsewhere
		}
		if leaves = append(leaves, leaf); len(leaf.DNSNames) > 0 || len(leaf.IPAddresses) > 0 {
			continue
		}
		path := "tls.certificate"
		if i > 0 {
			path = fmt.Sprintf("tls.certificates.%d.certificate", i-1)
		}
		warnings = append(warnings, config.Diagnostic{
			Path: path,
			Message: "the certificate has no names (subjectAltName), so all clients reject it, whatever its common " +
				"name: obtain one with names (openssl req -addext subjectAltName=DNS:urn.example.org)",
		})
	}
	if len(warnings) > 0 || len(leaves) == 0 && (!c.ACME.Enabled || len(c.Listen.TLS) == 0) {
		return warnings
	}
	return ofUncovered(c, leaves)
}

// ofUncovered warns of hosts of urnd that neither a certificate file nor ACME covers.
func ofUncovered(c config.Config, leaves []*x509.Certificate) (warnings config.Diagnostics) {
	managed := c.CertificateNames()
	for _, host := range ownHosts(c) {
		name := strings.Replace(uri.CanonicalHost(host.name), "*", "any", 1)
		if c.ACME.Enabled && slices.Contains(managed, name) ||
			slices.ContainsFunc(leaves, func(leaf *x509.Certificate) bool { return leaf.VerifyHostname(name) == nil }) {
			continue
		}
		warnings = append(warnings, config.Diagnostic{Path: host.setting, Message: hostWarning(host.name, leaves)})
	}
	return warnings
}

// hostWarning returns the warning about a host without a certificate.
func hostWarning(host string, leaves []*x509.Certificate) string {
	if len(leaves) == 0 {
		return fmt.Sprintf("authorities issue no certificates for %s: clients reject it over https: add one to "+
			"tls.certificates", host)
	}
	var names []string
	for _, leaf := range leaves {
		names = append(names, leaf.DNSNames...)
		for _, address := range leaf.IPAddresses {
			names = append(names, address.String())
		}
	}
	return fmt.Sprintf("there is no certificate for %s, but for %s: clients reject it over https: add one to "+
		"tls.certificates, or "+
		"write acme.enabled: true",
		host, strings.Join(names, ", "))
}

// firstCertificate returns the first certificate in a file, which is the leaf; nil if there is none.
func firstCertificate(name string) *x509.Certificate {
	text, err := secret.Read("tls.certificate", name)
	if err != nil {
		return nil
	}
	block, rest := pem.Decode(text)
	for block != nil && block.Type != "CERTIFICATE" {
		block, rest = pem.Decode(rest)
	}
	if block == nil {
		return nil
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil
	}
	return certificate
}

// ownHost is a host name that urnd serves.
type ownHost struct{ setting, name string }

func ownHosts(c config.Config) (all []ownHost) {
	for i, name := range c.Listen.Names {
		all = append(all, ownHost{fmt.Sprintf("listen.names.%d", i), name})
	}
	for i, site := range c.Proxy.Sites {
		for j, host := range site.Hosts {
			all = append(all, ownHost{fmt.Sprintf("proxy.sites.%d.hosts.%d", i, j), host})
		}
	}
	for i, name := range c.Registry.Hosts {
		all = append(all, ownHost{fmt.Sprintf("registry.hosts.%d", i), name})
	}
	for i, roots := range c.Registry.DigitalLink {
		if u, err := url.Parse(roots.Root); err == nil && u.Hostname() != "" {
			all = append(all, ownHost{fmt.Sprintf("registry.digital_link.%d.root", i), u.Hostname()})
		}
	}
	return all
}
