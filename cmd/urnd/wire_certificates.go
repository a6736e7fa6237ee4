package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/urnd/urnd/cache/valkey"
	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/internal/secret"
	"github.com/urnd/urnd/internal/shared"
	"github.com/urnd/urnd/proxy/certificate"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/shelf"
)

// acmeTimeout limits the duration of a request to the certification authority.
const acmeTimeout = 30 * time.Second

// tlsConfig returns the TLS configuration of a server, whose clients need a certificate of one of the
// authorities in a file, "" for none.
func tlsConfig(certificates *certificate.Set, authorities string) (c *tls.Config, err error) {
	c = &tls.Config{
		MinVersion: tls.VersionTLS12, GetCertificate: certificates.Get,
		GetConfigForClient: certificates.Challenge,
	}
	if authorities != "" {
		c.ClientAuth = tls.RequireAndVerifyClientCert
		c.ClientCAs, err = secret.LoadCertPool("tls.client_ca", authorities)
	}
	return c, err
}

// filesOf returns the certificate files of a configuration, the default certificate first.
func filesOf(c config.TLS) (all []certificate.Files, err error) {
	add := func(setting string, certificateFile, key string) {
		f := certificate.Files{Setting: setting}
		for _, s := range []struct {
			name string
			path *string
		}{{certificateFile, &f.Certificate}, {key, &f.Key}} {
			if *s.path, err = secret.Path(setting, s.name); err != nil {
				return
			}
		}
		all = append(all, f)
	}
	if c.Certificate != "" && c.Key != "" {
		add("tls.certificate and tls.key", c.Certificate, c.Key)
	}
	for i, files := range c.Certificates {
		if err == nil {
			add(fmt.Sprintf("tls.certificates.%d", i), files.Certificate, files.Key)
		}
	}
	return all, err
}

// wireCertificates returns the certificates of a configuration: those of the previous one if its files and
// authority are unchanged. Invalid files are an error, though the previous certificates could still be used.
func wireCertificates(
	c config.Config, manager *certificate.Manager, r *resolution, d dependencies,
) (*certificate.Watcher, error) {
	files, err := filesOf(c.TLS)
	if err != nil {
		return nil, err
	}
	if manager != nil && stateDirectory(c.Cache) == "" {
		return nil, errNoStateDirectory
	}
	if _, err := certificate.NewSet(files, nil, d.now); err != nil {
		return nil, err
	}
	own, err := shared.Reuse(&r.shared, d.previous.reusable(), "certificates",
		certificatesBasis{files, fmt.Sprintf("%p", manager)},
		func() (*certificate.Watcher, func(), error) {
			set, err := certificate.NewSet(files, manager, d.now)
			if err != nil {
				return nil, nil, err
			}
			made := certificate.NewWatcher(set)
			return made, made.Close, nil
		})
	if err != nil {
		return nil, err
	}
	r.readiness = append(r.readiness, degrading(own.Failures))
	r.starters = append(r.starters, func() {
		if manager != nil {
			manager.Start(d.persistentLog)
			manager.Manage(own.Uncovered(c.CertificateNames()))
		}
		own.Start(d.persistentLog)
	})
	return own, nil
}

// certificatesBasis is the basis of the certificates.
type certificatesBasis struct {
	files   []certificate.Files
	manager string // the pointer of the manager: its certificates change
}

// wireAuthority returns the ACME client, nil if ACME is disabled: that of the previous configuration if its
// authority, account and storage are unchanged.
func wireAuthority(c config.Config, r *resolution, d dependencies) (*certificate.Manager, error) {
	if !c.ACME.Enabled {
		return nil, nil //nolint:nilnil // ACME is disabled, which is no error
	}
	settings, err := authorityOf(c)
	if err != nil {
		return nil, err
	}
	settings.Storage, settings.Now, settings.Ordered = certificateStorage(c, r, d), d.now, d.metrics.CertificateOrdered
	basis := [...]string{
		settings.Directory, settings.Contact, settings.KeyID, settings.HMAC, secret.Version(c.ACME.CA),
		// The next configuration may close them.
		c.ACME.Storage, stateDirectory(c.Cache), fmt.Sprintf("%p %p", r.registry, r.level),
	}
	return shared.Reuse(&r.shared, d.previous.reusable(), "authority", basis,
		func() (*certificate.Manager, func(), error) {
			made := certificate.NewManager(settings)
			return made, made.Close, nil
		})
}

// challengeOf returns the function that answers HTTP challenges of an authority, nil without an ACME client.
func challengeOf(m *certificate.Manager) func(ctx context.Context, path string) (string, bool) {
	if m == nil {
		return nil
	}
	return m.Authorization
}

// authorityOf returns the configuration of the ACME client.
func authorityOf(c config.Config) (settings certificate.ManagerConfig, err error) {
	settings = certificate.ManagerConfig{Directory: c.ACME.Directory, Contact: c.ACME.Contact, KeyID: c.ACME.KeyID}
	transport := &http.Transport{
		DialContext:     netguard.NewUnrestricted(c.Limits.ConnectTimeout).DialContext,
		TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true,
		TLSHandshakeTimeout: acmeTimeout,
	}
	if c.ACME.CA != "" {
		if transport.TLSClientConfig.RootCAs, err = secret.LoadCertPool("acme.ca", c.ACME.CA); err != nil {
			return settings, err
		}
	}
	if c.ACME.Key != "" {
		key, err := secret.Read("acme.key", c.ACME.Key)
		if err != nil {
			return settings, err
		}
		settings.HMAC = strings.TrimRight(string(bytes.TrimSpace(key)), "=")
	}
	settings.Client = &http.Client{Transport: transport, Timeout: acmeTimeout}
	return settings, nil
}

// errNoStateDirectory means that certificates could not be stored.
var errNoStateDirectory = errors.New("acme.enabled: there is no directory for certificates: start urnd with systemd " +
	"(StateDirectory), or set cache.directory")

// certificateStorage returns the storage for certificates of an authority.
func certificateStorage(c config.Config, r *resolution, d dependencies) certificate.Storage {
	own := certificate.FileStorage(filepath.Join(stateDirectory(c.Cache), "certificates"))
	switch c.ACME.Storage {
	case "registry":
		return certificate.SharedStorage(shelf.New(r.registry, registry.TableCertificates, d.now), own)
	case "shared":
		return certificate.SharedStorage(valkey.NewStore(r.level, "certificates", d.now), own)
	default:
		return own
	}
}

// checkCertificates returns the certificates in the files of a configuration.
func checkCertificates(c config.TLS) (*certificate.Set, error) {
	files, err := filesOf(c)
	if err != nil {
		return nil, err
	}
	set, err := certificate.NewSet(files, nil, time.Now)
	if err != nil {
		return nil, err
	}
	_, err = tlsConfig(set, c.ClientCA)
	return set, err
}

// expiryOf returns texts about the expiry of the certificates of a configuration.
func expiryOf(c config.TLS, now time.Time) (lines []string, err error) {
	set, err := checkCertificates(c)
	if err != nil {
		return nil, err
	}
	for _, leaf := range set.Leaves() {
		text := "the certificate of " + certificate.Name(leaf)
		if notice := certificate.Validity(leaf, now); notice != "" {
			lines = append(lines, "warning: "+text+" "+notice)
		} else {
			lines = append(lines, text+" expires at "+leaf.NotAfter.UTC().Format(time.RFC3339))
		}
	}
	return lines, nil
}

// hsts returns the value of Strict-Transport-Security, "" for none.
func hsts(lasts time.Duration) string {
	if lasts == 0 {
		return ""
	}
	return "max-age=" + strconv.Itoa(int(lasts.Seconds()))
}
