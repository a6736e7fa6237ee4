// Package service has the use cases of a registry: what its API, its pages and its commands do for an actor. Rights, bounds, conditions,
// dry runs and the cursors of pages are decided here; its callers read requests, and present results.
//
//   - use.go: who may do what
//   - names.go, parameters.go, page.go: names are found and read, by what is asked for, in pages
//   - edit.go: names are changed
//   - changes.go: what was changed
//   - fixity.go: whether it is as it was written
//   - jobs.go, tokens.go, statistics.go: jobs, tokens, counts and health
//   - shares.go: what the tokens share
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

// Config configures a Service. Registry must be set.
type Config struct {
	Registry *registry.Registry
	Jobs     *jobs.Jobs // nil where there is no directory for their bodies
	// Conflict is called where a change is refused that would have lost another one; nil is not called.
	Conflict func()
	// Unbounded is whether what changes and finds names goes on for as long as it takes, since nobody else waits for it: that of commands.
	Unbounded bool
	// Created and Revoked are called with tokens that were; nil is not called.
	Created, Revoked func(ctx context.Context, actor registry.Actor, t token.Token)
}

// Service does what actors ask for, as far as they may. It is safe for concurrent use.
type Service struct {
	config   Config
	registry *registry.Registry
	tokens   *token.Verifier
	minter   *mint.Minter
	shares
}

// New returns a Service. It starts nothing: see RunTokens.
func New(config Config) *Service {
	return &Service{config, config.Registry, token.NewVerifier(config.Registry), mint.New(config.Registry), newShares()}
}

// Now returns the time.
func (s *Service) Now() time.Time { return s.registry.Now() }

// KeyOf returns the canonical key that a key means, if an actor may make a use of it.
func (s *Service) KeyOf(actor registry.Actor, use Use, key registry.Key) (registry.Key, error) {
	key, err := s.registry.CanonicalKey(key)
	if err == nil {
		err = use.CheckKey(actor, key)
	}
	return key, err
}

// Names reports whether a text is the name of a canonical key, in any spelling.
func (s *Service) Names(key registry.Key, text string) (bool, error) {
	named, err := s.registry.CanonicalKey(registry.Key{Kind: key.Kind, Name: text})
	return named == key, err
}

// Doubt returns what is doubtful in the name of a canonical key, which may be registered all the same; nil where nothing is.
func (s *Service) Doubt(key registry.Key) error { return s.registry.Doubt(key) }

// conflicts counts an error that refuses a change since it would have lost another one.
func (s *Service) conflicts(err error) error {
	if errors.Is(err, registry.ErrConflict) && s.config.Conflict != nil {
		s.config.Conflict()
	}
	return err
}
