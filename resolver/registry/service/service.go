// Package service implements the use cases of a registry for its API, its pages and its commands. An actor and
// a parsed request enter; results in pages, with opaque cursors, and typed errors leave, which the callers
// present. It decides permissions, limits, preconditions and dry runs. Its names are the URIs of package
// registry (RFC 3986, RFC 8141); it defines no wire format of its own.
//
//   - permission.go: permissions
//   - names.go, parameters.go, page.go: searching and reading names, in pages
//   - edit.go: changing names
//   - changes.go: the history of changes
//   - verify.go: verification of the history
//   - jobs.go, tokens.go, statistics.go: jobs, tokens, counts and health
//   - tokenlimits.go: concurrency limits per token
package service

import (
	"context"
	"errors"
	"time"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/jobs"
	"github.com/urnd/urnd/resolver/registry/mint"
	"github.com/urnd/urnd/resolver/registry/token"
)

// Config configures a Service. Registry is required.
type Config struct {
	Registry *registry.Registry
	Jobs     *jobs.Jobs // nil if there is no directory for their bodies
	// Conflict is called when a change is rejected because it would overwrite another one. It may be nil.
	Conflict func()
	// Unbounded removes the limits on the duration and size of searches and changes, for commands, which no
	// other client waits for.
	Unbounded bool
	// Created and Revoked are called after a token was created or revoked. They may be nil.
	Created, Revoked func(ctx context.Context, actor registry.Actor, t token.Token)
}

// Service executes the use cases for actors, within their permissions. It is safe for concurrent use.
type Service struct {
	config   Config
	registry *registry.Registry
	tokens   *token.Verifier
	minter   *mint.Minter
	tokenLimits
}

// New returns a Service. It starts no goroutine: see RunTokens.
func New(config Config) *Service {
	return &Service{
		config, config.Registry, token.NewVerifier(config.Registry), mint.New(config.Registry),
		newTokenLimits(),
	}
}

// Now returns the time of the registry.
func (s *Service) Now() time.Time { return s.registry.Now() }

// CanonicalKey returns the canonical form of a key, or ErrDenied if the actor may not make a use of it.
func (s *Service) CanonicalKey(actor registry.Actor, use Permission, key registry.Key) (registry.Key, error) {
	key, err := s.registry.CanonicalKey(key)
	if err == nil {
		err = use.CheckKey(actor, key)
	}
	return key, err
}

// MatchesName reports whether a text is a spelling of the name of a canonical key.
func (s *Service) MatchesName(key registry.Key, text string) (bool, error) {
	named, err := s.registry.CanonicalKey(registry.Key{Kind: key.Kind, Name: text})
	return named == key, err
}

// Warning returns a warning about the name of a canonical key, which can be registered nevertheless; nil if there
// is none.
func (s *Service) Warning(key registry.Key) error { return s.registry.Warning(key) }

// conflicts calls Conflict if an error is an ErrConflict, and returns the error.
func (s *Service) conflicts(err error) error {
	if errors.Is(err, registry.ErrConflict) && s.config.Conflict != nil {
		s.config.Conflict()
	}
	return err
}
