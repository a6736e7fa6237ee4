// Package certificate has the certificates of urnd's listeners. A TLS handshake enters, and the certificate for
// the name that the client requests (SNI, RFC 6066 section 3) leaves. Certificates come from files, which are
// reloaded when they change, and from a certificate authority by ACME (RFC 8555), from which Manager orders and
// renews them.
package certificate

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// recheckAfter is the minimum time between two checks of the files by handshakes.
const recheckAfter = time.Second

// errNone is the error of a handshake while there is no certificate.
var errNone = errors.New("no certificate yet")

// Set is a set of certificates. It is safe for concurrent use.
type Set struct {
	now     func() time.Time
	managed *Manager // nil for none

	index atomic.Pointer[index]
	due   atomic.Int64 // when a handshake next checks the files, in nanoseconds since 1970

	mu    sync.Mutex // guards pairs and the files
	pairs []pair
}

// index maps names to the certificates from files. It is immutable.
type index struct {
	byName map[string][]*tls.Certificate // in configuration order
	first  []*tls.Certificate            // default for clients without SNI, or with an unknown name
}

// NewSet loads the certificates from files, and adds those of a manager, nil for none. The first files are the
// default, for clients without SNI and for unknown hosts. Invalid files are an error.
func NewSet(files []Files, managed *Manager, now func() time.Time) (*Set, error) {
	s := &Set{now: now, managed: managed}
	for _, f := range files {
		s.pairs = append(s.pairs, pair{files: f})
	}
	return s, s.Check()
}

// Get returns the certificate for a handshake: of those for the requested name, else of those with a matching
// wildcard, the first that the client supports; files take precedence over managed ones. It is a
// tls.Config.GetCertificate.
func (s *Set) Get(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	if now := s.now().UnixNano(); now >= s.due.Load() && s.mu.TryLock() {
		s.read()
		s.mu.Unlock()
	}
	all := s.index.Load()
	name := canonical(hello.ServerName)
	if found := choose(hello, all.byName[name]); found != nil {
		return found, nil
	}
	if found := choose(hello, all.byName[wildcard(name)]); found != nil {
		return found, nil
	}
	if s.managed != nil {
		if found := s.managed.certificate(name); found != nil {
			return found, nil
		}
	}
	if found := choose(hello, all.first); found != nil {
		return found, nil
	}
	if s.managed != nil {
		if found := s.managed.certificate(""); found != nil {
			return found, nil
		}
	}
	return nil, errNone
}

// choose returns the first certificate that a client supports. If it supports none, it is the first one, and
// the client reports the error.
func choose(hello *tls.ClientHelloInfo, all []*tls.Certificate) *tls.Certificate {
	for _, c := range all {
		if len(all) == 1 || hello.SupportsCertificate(c) == nil {
			return c
		}
	}
	if len(all) > 0 {
		return all[0]
	}
	return nil
}

// Check reads the files if they have changed, and returns why they are invalid. The last valid certificates
// then stay in use.
func (s *Set) Check() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.read()
	failures := make([]error, 0, len(s.pairs))
	for i := range s.pairs {
		failures = append(failures, s.pairs[i].failure)
	}
	return errors.Join(failures...)
}

// read reads the changed files. The caller holds mu.
func (s *Set) read() {
	s.due.Store(s.now().Add(recheckAfter).UnixNano())
	isNew := s.index.Load() == nil
	for i := range s.pairs {
		isNew = s.pairs[i].read() || isNew
	}
	if !isNew {
		return
	}
	next := &index{byName: make(map[string][]*tls.Certificate)}
	for i := range s.pairs {
		loaded := s.pairs[i].loaded
		if loaded == nil {
			continue
		}
		if next.first == nil || sameNames(next.first[0].Leaf, loaded.Leaf) {
			next.first = append(next.first, loaded)
		}
		for _, name := range loaded.Leaf.DNSNames {
			name = canonical(name)
			next.byName[name] = append(next.byName[name], loaded)
		}
	}
	s.index.Store(next)
}

// sameNames reports whether two certificates have the same hosts, such as an RSA and an ECDSA one.
func sameNames(a, b *x509.Certificate) bool { return slices.Equal(a.DNSNames, b.DNSNames) }

// Leaves returns the leaf certificates in use, those from files first; none for a nil Set. It reads no files.
func (s *Set) Leaves() (leaves []*x509.Certificate) {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.pairs {
		if s.pairs[i].loaded != nil {
			leaves = append(leaves, s.pairs[i].loaded.Leaf)
		}
	}
	if s.managed != nil {
		leaves = append(leaves, s.managed.leaves()...)
	}
	return leaves
}

// Covers reports whether a certificate from files matches a host.
func (s *Set) Covers(host string) bool {
	all, name := s.index.Load(), canonical(host)
	return len(all.byName[name]) > 0 || len(all.byName[wildcard(name)]) > 0
}

// Uncovered returns the hosts that no certificate from files matches.
func (s *Set) Uncovered(hosts []string) (without []string) {
	for _, host := range hosts {
		if !s.Covers(host) {
			without = append(without, host)
		}
	}
	return without
}

// canonical returns the lookup form of a host: lower case, without trailing dot.
func canonical(host string) string { return strings.ToLower(strings.TrimSuffix(host, ".")) }

// wildcard returns the wildcard name that matches a host (RFC 9525 section 6.3: a wildcard is a single label),
// "" for none.
func wildcard(host string) string {
	_, parent, below := strings.Cut(host, ".")
	if !below {
		return ""
	}
	return "*." + parent
}
