package adversary

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// stage is what a category is played on: urnd, with its peers.
type stage struct {
	*daemon
	origin *origin
	dns    *nameServer
	canary *canary

	arena *arena // nil but for two clients
	text  string // the configuration, "" for baseConfig

	binary, directory string
	long              time.Duration // how long the run may take, 0 for the short form
	ids               atomic.Int64
	folders           atomic.Int64

	mu      sync.Mutex
	daemons []*daemon // all that were started
}

// The clients: each address of loopback is one. Only the first may use the proxy.
const (
	friend   = "127.0.0.1" // in access.proxy_clients
	stranger = "127.0.0.2" // may only resolve names
	relay    = "127.0.0.3" // in access.trusted_proxies
	balancer = "127.0.0.4" // in listen.proxy_protocol
)

// baseConfig is the configuration of every daemon. Timeouts are short, so that refusals by
// time are seen; the log has everything that net/http says, above all panics.
const baseConfig = `
listen:
  service: ['127.0.0.1:0']
  tls: ['127.0.0.1:0']
  admin: 127.0.0.1:0
  proxy_protocol: [127.0.0.4/32]
tls: {certificate: %[1]s/certificate.pem, key: %[1]s/key.pem}
dns: {servers: ['%[2]s'], timeout: 500ms, rounds: 1}
ddds: {roots: [urn.example.]}
resolve: {timeout: 5s, backoff: 0s}
thttp: {timeout: 2s}
namespaces:
  - {nid: held, thttp: ['http://%[3]s']}
  - {nid: plain, targets: [{template: 'https://a.example/{+nss}'}]}
access:
  allow_destinations: [127.9.9.9/32]
  proxy_clients: [127.0.0.1/32]
  trusted_proxies: [127.0.0.3/32]
  fresh_clients: [127.0.0.1/32]
limits: {header_timeout: 1s, body_timeout: 1s, idle_timeout: 3s, connect_timeout: 2s, origin_timeout: 3s, shutdown_timeout: 3s}
log: {level: DEBUG, format: json}
`

// newStage starts the peers, and no daemon.
func newStage(binary, directory string, long time.Duration) (s *stage, err error) {
	s = &stage{binary: binary, directory: directory, long: long}
	if s.origin, err = newOrigin(); err != nil {
		return nil, err
	}
	if s.dns, err = newNameServer(); err != nil {
		return nil, err
	}
	if s.canary, err = newCanary(); err != nil {
		return nil, err
	}
	return s, writeCertificate(directory)
}

// start runs a daemon of its own for a payload or a category; settings of the environment
// come before those of the file. It must be stopped or killed.
func (s *stage) start(ctx context.Context, environment ...string) (*daemon, error) {
	return s.startWith(ctx, s.config(), environment...)
}

// loggingTo returns the configuration with an access log.
func (s *stage) loggingTo(file string) string {
	return strings.Replace(s.config(), "log: {", "log: {access: [{file: '"+file+"'}], ", 1)
}

// startWith is start with a configuration of its own.
func (s *stage) startWith(ctx context.Context, text string, environment ...string) (*daemon, error) {
	directory := filepath.Join(s.directory, fmt.Sprint("daemon", s.folders.Add(1)))
	if err := os.MkdirAll(directory, 0o700); err != nil {
		return nil, err
	}
	d, err := launch(ctx, s.binary, directory, text, environment)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.daemons = append(s.daemons, d)
	return d, nil
}

// shared returns a function that starts a daemon at its first call, for the payloads of one
// family.
func (s *stage) shared(environment ...string) func() (*daemon, error) {
	return sync.OnceValues(func() (*daemon, error) {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		return s.start(ctx, environment...)
	})
}

// stopAll stops all daemons that still run, and returns what was wrong with one.
func (s *stage) stopAll(ctx context.Context) error {
	var all []error
	for _, d := range s.daemons {
		if !d.told.Load() {
			all = append(all, d.stop(ctx))
		}
	}
	return errors.Join(all...)
}

func (s *stage) config() string {
	if s.text != "" {
		return s.text
	}
	return fmt.Sprintf(baseConfig, s.directory, s.dns.address, s.origin.address)
}

// id returns a text that no other payload has, of letters and digits.
func (s *stage) id() string { return fmt.Sprintf("p%dx", s.ids.Add(1)) }

func (s *stage) close() {
	for _, d := range s.daemons {
		d.kill()
	}
	if s.arena != nil {
		s.arena.origin.close()
	}
	s.origin.close()
	s.dns.close()
	s.canary.close()
}

// writeCertificate writes a certificate for itself, and its key.
func writeCertificate(directory string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"localhost"}, NotAfter: time.Now().Add(24 * time.Hour)}
	certificate, err := x509.CreateCertificate(rand.Reader, &template, &template, &key.PublicKey, key)
	if err != nil {
		return err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	for name, block := range map[string]*pem.Block{
		"certificate.pem": {Type: "CERTIFICATE", Bytes: certificate},
		"key.pem":         {Type: "PRIVATE KEY", Bytes: private},
	} {
		if err := os.WriteFile(filepath.Join(directory, name), pem.EncodeToMemory(block), 0o600); err != nil {
			return err
		}
	}
	return nil
}
