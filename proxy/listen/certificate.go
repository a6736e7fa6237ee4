package listen

import (
	"crypto/tls"
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
}

// recheckAfter is the minimum time between two checks of the files.
const recheckAfter = time.Second

// NewCertificate reads a certificate and its key.
func NewCertificate(certificate, key string, now func() time.Time) (*Certificate, error) {
	c := &Certificate{paths: [2]string{certificate, key}, now: now}
	_, err := c.Get(nil)
	return c, err
}

// Get returns the certificate in the files, or the last valid one while they are invalid:
// they may be half written. It is a GetCertificate of tls.Config.
func (c *Certificate) Get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	if c.loaded != nil && now.Sub(c.checked) < recheckAfter {
		return c.loaded, nil
	}
	c.checked = now
	var found [2]os.FileInfo
	for i, path := range c.paths {
		if info, err := os.Stat(path); err == nil {
			found[i] = info
		}
	}
	if c.loaded != nil && unchanged(found[0], c.seen[0]) && unchanged(found[1], c.seen[1]) {
		return c.loaded, nil
	}
	pair, err := tls.LoadX509KeyPair(c.paths[0], c.paths[1])
	switch {
	case err == nil:
		c.loaded, c.seen = &pair, found
		return c.loaded, nil
	case c.loaded != nil:
		return c.loaded, nil
	default:
		return nil, err //nolint:wrapcheck // it names the file
	}
}

// unchanged reports whether a file was not changed, as far as its metadata tells.
func unchanged(a, b os.FileInfo) bool {
	return a != nil && b != nil && os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}
