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

// challengeTimeout bounds the look for a challenge of another machine.
const challengeTimeout = 5 * time.Second

// maxLooks is how many look into the storage at once. Who comes beyond them is answered as if there were no challenge.
const maxLooks = 8

// challengePath is what HTTP-01 asks for, before the token (RFC 8555 section 8.3).
const challengePath = "/.well-known/acme-challenge/"

// tokens are those that an authority may choose (RFC 8555 section 8.3): base64url, of at least 128 bits.
var tokens = regexp.MustCompile(`^[A-Za-z0-9_-]{20,200}$`)

// challenges are what the authority will ask this server for. They are in the storage too: the authority may reach
// another machine.
type challenges struct {
	storage Storage

	looks chan struct{} // slots of those who look into the storage: everybody may ask for a challenge

	mu  sync.Mutex
	all map[string]acme.Challenge // by their paths in the storage
}

func newChallenges(storage Storage) *challenges {
	return &challenges{storage: storage, looks: make(chan struct{}, maxLooks), all: make(map[string]acme.Challenge)}
}

// pathOf returns where a challenge is.
func pathOf(c acme.Challenge) string {
	if c.Type == acme.ChallengeTypeHTTP01 {
		return httpPath(c.Token)
	}
	return alpnPath(c.Identifier.Value)
}

// challengeFolder is where challenges are in the storage.
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

// find returns a challenge of this machine, or of another one.
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

// Authorization returns what HTTP-01 expects at the path of a request (RFC 8555 section 8.3), and false where no
// certificate is being obtained by it: the path is then like any other.
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

// Challenge returns the configuration for a handshake of TLS-ALPN-01, nil for any other, which goes on with the one
// of the listener. It is a GetConfigForClient of tls.Config.
func (s *Set) Challenge(hello *tls.ClientHelloInfo) (*tls.Config, error) {
	if s.managed == nil || !isChallenge(hello) {
		return nil, nil //nolint:nilnil // see GetConfigForClient
	}
	answer, err := s.managed.answer(hello)
	if err != nil {
		return nil, err
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{acmez.ACMETLS1Protocol}, Certificates: []tls.Certificate{*answer}}, nil
}

// answer returns the certificate that TLS-ALPN-01 expects for a host.
func (m *Manager) answer(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	host := canonical(hello.ServerName)
	if !slices.Contains(m.current(), host) {
		return nil, fmt.Errorf("a challenge for %q, which is no name of this server", host)
	}
	c, ok := m.issuer.challenges.find(hello.Context(), alpnPath(host))
	if !ok {
		return nil, fmt.Errorf("a challenge for %s, which was not asked for", host)
	}
	return acmez.TLSALPN01ChallengeCert(c)
}
