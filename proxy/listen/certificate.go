package listen

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"sync"
	"time"
)

// Certificate is a certificate in files that are read again when they change. It is safe
// for concurrent use.
type Certificate struct {
	paths [2]string // of the certificate and its key
	now   func() time.Time

	mu      sync.Mutex
	loaded  *tls.Certificate
	seen    [2]os.FileInfo
	checked time.Time
	fault   error // of the files when they were last checked
}

// recheckAfter is the minimum time between two checks of the files for handshakes.
const recheckAfter = time.Second

// NewCertificate reads a certificate and its key.
func NewCertificate(certificate, key string, now func() time.Time) (*Certificate, error) {
	c := &Certificate{paths: [2]string{certificate, key}, now: now}
	return c, c.Check()
}

// Get returns the certificate in the files, or the last valid one while they are invalid:
// they may be half written. It is a GetCertificate of tls.Config.
func (c *Certificate) Get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.loaded == nil || c.now().Sub(c.checked) >= recheckAfter {
		c.read()
	}
	if c.loaded == nil {
		return nil, c.fault
	}
	return c.loaded, nil
}

// Check reads the files if they have changed, and returns why they cannot be used: Get returns the last valid
// certificate then.
func (c *Certificate) Check() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read()
	return c.fault
}

// Leaf returns the certificate that Get returns, without those of its issuers, and why the files could not be used when
// they were last checked. It reads nothing.
func (c *Certificate) Leaf() (leaf *x509.Certificate, fault error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.loaded != nil {
		leaf = c.loaded.Leaf
	}
	return leaf, c.fault
}

// read reads the files if they have changed. The caller has locked mu.
func (c *Certificate) read() {
	c.checked = c.now()
	var found [2]os.FileInfo
	for i, path := range c.paths {
		if info, err := os.Stat(path); err == nil {
			found[i] = info
		}
	}
	if c.loaded != nil && unchanged(found[0], c.seen[0]) && unchanged(found[1], c.seen[1]) {
		c.fault = nil
		return
	}
	pair, err := tls.LoadX509KeyPair(c.paths[0], c.paths[1])
	if c.fault = err; err == nil {
		c.loaded, c.seen = &pair, found
	}
}

// unchanged reports whether a file was not changed, as far as its metadata tells.
func unchanged(a, b os.FileInfo) bool {
	return a != nil && b != nil && os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}
