package testserver

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// PebbleConfig configures a Pebble.
type PebbleConfig struct {
	HTTP, TLS netip.AddrPort    // ports for HTTP-01 and TLS-ALPN-01 validation; addresses are ignored
	Validity  time.Duration     // validity of certificates; 0 is years
	Keys      map[string]string // external account keys by identifier; empty for none
}

// Pebble is a running ACME certificate authority for which every host name resolves to loopback. Each start
// creates a new authority without accounts. Only the goroutine of the test may call its methods, which may end
// it.
type Pebble struct {
	t         testing.TB
	config    PebbleConfig
	dir       string
	addr, dns netip.AddrPort
	process   *process // nil while stopped

	Directory string     // URL of the ACME directory
	CA        *Authority // issuer of the certificate of Directory
}

// StartPebble starts an authority and waits until it responds. It ends with the test.
func StartPebble(t testing.TB, config PebbleConfig) *Pebble {
	t.Helper()
	p := &Pebble{t: t, config: config, dir: t.TempDir(), CA: NewAuthority(t)}
	const attempts = 5
	try := func(start func() error) (err error) {
		for range attempts {
			if err = start(); !errors.Is(err, errPortTaken) {
				break
			}
		}
		return err
	}
	err := try(p.startDNS)
	if err == nil {
		err = try(func() (err error) {
			if p.addr, err = freePort(); err != nil {
				return err
			}
			return p.start()
		})
	}
	if err != nil {
		t.Fatalf("start Pebble: %v", err)
	}
	p.Directory = "https://" + p.addr.String() + "/dir"
	t.Cleanup(func() {
		if p.process != nil {
			p.Stop()
		}
	})
	return p
}

// startDNS starts a DNS server that resolves every name to loopback.
func (p *Pebble) startDNS() error {
	var err error
	if p.dns, err = freePort(); err != nil {
		return err
	}
	output := filepath.Join(p.dir, "dns.out")
	if err := os.WriteFile(output, nil, 0o600); err != nil { // remove the output of an earlier attempt
		return err
	}
	dns, err := startProcess(p.dir, output, Need(p.t, "pebble-challtestsrv"), "-dns01", p.dns.String(), "-http01", "",
		"-https01", "", "-tlsalpn01", "", "-management", "127.0.0.1:0", "-defaultIPv6", "")
	if err != nil {
		return err
	}
	err = poll(func() (bool, error) {
		if reported, _ := os.ReadFile(output); strings.Contains(string(reported), "address already in use") {
			return false, errPortTaken // it continues without the port
		}
		return isTaken(p.dns), dns.ended()
	})
	if err != nil {
		_ = dns.stop()
		return err
	}
	p.t.Cleanup(func() { _ = dns.stop() }) // the exit status reflects the signal
	return nil
}

// start starts the authority and waits until it listens.
func (p *Pebble) start() error {
	if isTaken(p.addr) {
		return errPortTaken
	}
	certificate, key := p.CA.Issue(time.Hour, "127.0.0.1")
	type own struct {
		Listen      string            `json:"listenAddress"`
		Certificate string            `json:"certificate"`
		Key         string            `json:"privateKey"`
		HTTP        uint16            `json:"httpPort"`
		TLS         uint16            `json:"tlsPort"`
		IsBound     bool              `json:"externalAccountBindingRequired"`
		Keys        map[string]string `json:"externalAccountMACKeys"`
		Validity    int               `json:"certificateValidityPeriod,omitempty"` // in seconds
	}
	path := func(name string) string { return filepath.Join(p.dir, name) }
	config, err := json.Marshal(map[string]own{"pebble": {
		p.addr.String(), path("cert.pem"), path("key.pem"), p.config.HTTP.Port(), p.config.TLS.Port(),
		len(p.config.Keys) > 0, p.config.Keys,
		int(p.config.Validity.Seconds()),
	}})
	if err != nil {
		return fmt.Errorf("encoding the configuration: %w", err)
	}
	for name, content := range map[string][]byte{"cert.pem": certificate, "key.pem": key, "config.json": config} {
		if err := os.WriteFile(path(name), content, 0o600); err != nil {
			return err
		}
	}
	cmd := exec.Command(Need(p.t, "pebble"), "-config", path("config.json"), "-dnsserver", p.dns.String())
	cmd.Env = append(os.Environ(), "PEBBLE_VA_NOSLEEP=1", "PEBBLE_WFE_NONCEREJECT=0", "PEBBLE_AUTHZREUSE=0")
	if p.process, err = startCommand(p.dir, path("pebble.out"), cmd); err != nil {
		return err
	}
	err = poll(func() (bool, error) {
		ended := p.process.ended()
		if ended != nil && strings.Contains(p.Output(), "address already in use") {
			ended = errPortTaken
		}
		return p.answers(), ended
	})
	if err != nil {
		p.process = nil
		err = fmt.Errorf("%w\n%s", err, p.Output())
	}
	return err
}

// answers reports whether the authority, and not another process, responds at its port.
func (p *Pebble) answers() bool {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(p.CA.PEM)
	conn, err := tls.DialWithDialer(&net.Dialer{Timeout: time.Second}, "tcp", p.addr.String(),
		&tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12})
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}

// Output returns its log.
func (p *Pebble) Output() string {
	output, _ := os.ReadFile(filepath.Join(p.dir, "pebble.out"))
	return string(output)
}

// Orders returns the number of issued certificates.
func (p *Pebble) Orders() int { return strings.Count(p.Output(), "Issued certificate serial") }

// Start restarts a stopped authority at the same address.
func (p *Pebble) Start() {
	p.t.Helper()
	if err := p.start(); err != nil {
		p.t.Fatalf("start Pebble again: %v", err)
	}
}

// Stop stops the authority.
func (p *Pebble) Stop() {
	p.t.Helper()
	_ = p.process.stop() // the exit status reflects the signal
	p.process = nil
}
