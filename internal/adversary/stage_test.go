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

// stage is the environment of a category: urnd with its peers.
type stage struct {
	*daemon
	origin *origin
	dns    *nameServer
	canary *canary

	arena *arena // nil except for two clients
	text  string // configuration, "" for baseConfig

	binary, directory string
	long              time.Duration // duration of the run, 0 for the short form
	ids               atomic.Int64
	folders           atomic.Int64

	mu      sync.Mutex
	daemons []*daemon // all that were started
}

// Clients: each loopback address is a separate client. Only the first may use the proxy.
const (
	friend   = "127.0.0.1" // in access.proxy_clients
	stranger = "127.0.0.2" // may only resolve names
	relay    = "127.0.0.3" // in access.trusted_proxies
	balancer = "127.0.0.4" // in listen.proxy_protocol
)

// baseConfig is the configuration of every daemon. Timeouts are short, so that rejections by timeout are
// observed; the log contains all messages of net/http, in particular panics.
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

// newStage starts the peers, but no daemon.
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

// start starts a separate daemon for a payload or a category; environment settings override those of the file.
// The caller must stop or kill it.
func (s *stage) start(ctx context.Context, environment ...string) (*daemon, error) {
	return s.startWith(ctx, s.config(), environment...)
}

// loggingTo returns the configuration with an access log.
func (s *stage) loggingTo(file string) string {
	return strings.Replace(s.config(), "log: {", "log: {access: [{file: '"+file+"'}], ", 1)
}

// startWith is like start with another configuration.
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

// shared returns a function that starts a daemon on its first call, for the payloads of one family.
func (s *stage) shared(environment ...string) func() (*daemon, error) {
	return sync.OnceValues(func() (*daemon, error) {
		ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
		defer cancel()
		return s.start(ctx, environment...)
	})
}

// stopAll stops all running daemons and returns their errors.
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

// id returns a unique text of letters and digits.
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

// writeCertificate writes a self-signed certificate and its key.
func writeCertificate(directory string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{"localhost"},
		NotAfter: time.Now().Add(24 * time.Hour),
	}
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
