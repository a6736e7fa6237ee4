// Package certificate has the certificates of urnd's listeners: it chooses one for each handshake, by the name that
// the client asks for (SNI, RFC 6066 section 3). They come from files, which are read again when they change, and
// from a certificate authority that speaks ACME (RFC 8555), which Manager asks for new ones before the old ones
// expire. A handshake enters, a certificate leaves; nothing else is known here of a connection.
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

// recheckAfter is the minimum time between two checks of the files for handshakes.
const recheckAfter = time.Second

// errNone is that of handshakes while there is no certificate at all.
var errNone = errors.New("there is no certificate yet")

// Set is a set of certificates. It is safe for concurrent use.
type Set struct {
	now     func() time.Time
	managed *Manager // nil: none

	index atomic.Pointer[index]
	due   atomic.Int64 // from when on, in nanoseconds since 1970, a handshake checks the files

	mu    sync.Mutex // of the files
	pairs []pair
}

// index has the certificates of the files by their names. It is immutable.
type index struct {
	byName map[string][]*tls.Certificate // in the order of the settings
	first  []*tls.Certificate            // for clients that name no host, or one for which there is none
}

// NewSet reads the certificates of files, and adds those of a manager, nil for none. The first files are those of
// clients that name no host, and of hosts for which there is no certificate. Files that are invalid are an error.
func NewSet(files []Files, managed *Manager, now func() time.Time) (*Set, error) {
	s := &Set{now: now, managed: managed}
	for _, f := range files {
		s.pairs = append(s.pairs, pair{files: f})
	}
	return s, s.Check()
}

// Get returns the certificate for a handshake: of those for the name that the client asks for, else of those with a
// wildcard for it, the first that the client can verify; files go before managed ones. It is a GetCertificate of
// tls.Config.
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

// choose returns the first certificate that a client supports, the first of all where it supports none: the client
// says why it cannot use it.
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

// Check reads the files if they have changed, and returns why they cannot be used: the last valid certificates stay
// in use then.
func (s *Set) Check() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.read()
	faults := make([]error, 0, len(s.pairs))
	for i := range s.pairs {
		faults = append(faults, s.pairs[i].fault)
	}
	return errors.Join(faults...)
}

// read reads the files that have changed. The caller has locked mu.
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

// sameNames reports whether two certificates are for the same hosts, as one of RSA and one of ECDSA are.
func sameNames(a, b *x509.Certificate) bool { return slices.Equal(a.DNSNames, b.DNSNames) }

// Leaves returns the certificates in use, without those of their issuers, those of files first, none for a nil Set.
// It reads nothing.
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

// Covers reports whether a certificate of the files is for a host.
func (s *Set) Covers(host string) bool {
	all, name := s.index.Load(), canonical(host)
	return len(all.byName[name]) > 0 || len(all.byName[wildcard(name)]) > 0
}

// Uncovered returns those of some hosts for which no file has a certificate.
func (s *Set) Uncovered(hosts []string) (without []string) {
	for _, host := range hosts {
		if !s.Covers(host) {
			without = append(without, host)
		}
	}
	return without
}

// canonical returns a host as it is looked up.
func canonical(host string) string { return strings.ToLower(strings.TrimSuffix(host, ".")) }

// wildcard returns the name of a certificate for all hosts beside one (RFC 9525 section 6.3: for one label alone).
func wildcard(host string) string {
	_, parent, isBelow := strings.Cut(host, ".")
	if !isBelow {
		return ""
	}
	return "*." + parent
}
