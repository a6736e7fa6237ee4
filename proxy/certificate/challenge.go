package certificate

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/mholt/acmez/v3"
	"github.com/mholt/acmez/v3/acme"
)

// challengeTimeout is the timeout of a lookup of a challenge of another machine.
const challengeTimeout = 5 * time.Second

// maxLooks is the maximum number of concurrent lookups in the storage. Requests above it are treated as if
// there were no challenge.
const maxLooks = 8

// challengePath is the path prefix of HTTP-01, followed by the token (RFC 8555 section 8.3).
const challengePath = "/.well-known/acme-challenge/"

// tokens matches valid tokens (RFC 8555 section 8.3): base64url, of at least 128 bits.
var tokens = regexp.MustCompile(`^[A-Za-z0-9_-]{20,200}$`)

// challenges are the pending challenges. They are stored, too, because the authority may reach another machine.
type challenges struct {
	storage Storage

	looks chan struct{} // semaphore of lookups in the storage: any client may request a challenge

	mu  sync.Mutex
	all map[string]acme.Challenge // by storage path
}

func newChallenges(storage Storage) *challenges {
	return &challenges{storage: storage, looks: make(chan struct{}, maxLooks), all: make(map[string]acme.Challenge)}
}

// pathOf returns the storage path of a challenge.
func pathOf(c acme.Challenge) string {
	if c.Type == acme.ChallengeTypeHTTP01 {
		return httpPath(c.Token)
	}
	return alpnPath(c.Identifier.Value)
}

// challengeFolder is the storage path of challenges.
const challengeFolder = "challenges/"

func httpPath(token string) string { return challengeFolder + "http/" + token + ".json" }

func alpnPath(host string) string { return challengeFolder + "tls/" + canonical(host) + ".json" }

// Present implements acmez.Solver.
func (s *challenges) Present(ctx context.Context, c acme.Challenge) error {
	content, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("encoding the challenge: %w", err)
	}
	if err := s.storage.Store(ctx, pathOf(c), content); err != nil {
		return fmt.Errorf("storing the challenge: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all[pathOf(c)] = c
	return nil
}

// CleanUp implements acmez.Solver.
func (s *challenges) CleanUp(ctx context.Context, c acme.Challenge) error {
	s.mu.Lock()
	delete(s.all, pathOf(c))
	s.mu.Unlock()
	return s.storage.Delete(context.WithoutCancel(ctx), pathOf(c))
}

// find returns a pending challenge of this machine, or of another one by the storage.
func (s *challenges) find(ctx context.Context, path string) (c acme.Challenge, ok bool) {
	s.mu.Lock()
	c, ok = s.all[path]
	s.mu.Unlock()
	if ok {
		return c, true
	}
	select {
	case s.looks <- struct{}{}:
		defer func() { <-s.looks }()
	default:
		return c, false
	}
	ctx, cancel := context.WithTimeout(ctx, challengeTimeout)
	defer cancel()
	content, err := s.storage.Load(ctx, path)
	if err != nil {
		return c, false
	}
	return c, json.Unmarshal(content, &c) == nil
}

// Authorization returns the key authorization for the path of an HTTP-01 request (RFC 8555 section 8.3). ok is
// false if the path is not that of a pending challenge; the request is then like any other.
func (m *Manager) Authorization(ctx context.Context, path string) (text string, ok bool) {
	if len(path) <= len(challengePath) || path[:len(challengePath)] != challengePath {
		return "", false
	}
	token := path[len(challengePath):]
	if !tokens.MatchString(token) {
		return "", false
	}
	c, ok := m.issuer.challenges.find(ctx, httpPath(token))
	return c.KeyAuthorization, ok && c.Token == token
}

// isChallenge reports whether a handshake is one of TLS-ALPN-01 (RFC 8737 section 3).
func isChallenge(hello *tls.ClientHelloInfo) bool {
	return slices.Equal(hello.SupportedProtos, []string{acmez.ACMETLS1Protocol})
}

// Challenge returns the configuration for a TLS-ALPN-01 handshake, nil for any other, which continues with the
// configuration of the listener. It is a tls.Config.GetConfigForClient.
func (s *Set) Challenge(hello *tls.ClientHelloInfo) (*tls.Config, error) {
	if s.managed == nil || !isChallenge(hello) {
		return nil, nil //nolint:nilnil // nil is valid for GetConfigForClient
	}
	answer, err := s.managed.answer(hello)
	if err != nil {
		return nil, err
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{acmez.ACMETLS1Protocol},
		Certificates: []tls.Certificate{*answer},
	}, nil
}

// answer returns the challenge certificate of TLS-ALPN-01 for a host.
func (m *Manager) answer(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	host := canonical(hello.ServerName)
	if !slices.Contains(m.current(), host) {
		return nil, fmt.Errorf("challenge for the unknown name %q", host)
	}
	c, ok := m.issuer.challenges.find(hello.Context(), alpnPath(host))
	if !ok {
		return nil, fmt.Errorf("unexpected challenge for %s", host)
	}
	return acmez.TLSALPN01ChallengeCert(c)
}
