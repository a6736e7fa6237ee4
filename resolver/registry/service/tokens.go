package service

import (
	"context"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/token"
)

// Tokens returns the tokens that an actor may revoke. damaged has an error for each token whose permissions
// cannot be read.
func (s *Service) Tokens(ctx context.Context, actor registry.Actor) (tokens []token.Token, damaged []error, err error) {
	return s.tokens.List(ctx, actor)
}

// CreateToken creates a token, and returns it with its secret, which cannot be retrieved later.
func (s *Service) CreateToken(
	ctx context.Context, actor registry.Actor, t token.Token,
) (made token.Token, secret string, err error) {
	made, secret, err = token.Create(ctx, s.registry, actor, t)
	if err == nil && s.config.Created != nil {
		s.config.Created(ctx, actor, made)
	}
	return made, secret, err
}

// RevokeToken revokes a token, and returns it.
func (s *Service) RevokeToken(ctx context.Context, actor registry.Actor, id string) (revoked token.Token, err error) {
	revoked, err = token.Revoke(ctx, s.registry, actor, id)
	if err == nil && s.config.Revoked != nil {
		s.config.Revoked(ctx, actor, revoked)
	}
	return revoked, err
}

// Authenticate returns the actor that a secret belongs to: see token.Verifier.
func (s *Service) Authenticate(ctx context.Context, secret string, change bool) (registry.Actor, error) {
	return s.tokens.Verify(ctx, secret, change)
}

// AuthenticateProof is Authenticate for a client that has presented the secret before.
func (s *Service) AuthenticateProof(ctx context.Context, p token.Proof, change bool) (registry.Actor, error) {
	return s.tokens.VerifyProof(ctx, p, change)
}

// RunTokens records the last use of tokens until ctx ends. failed is called with errors.
func (s *Service) RunTokens(ctx context.Context, failed func(error)) { s.tokens.Run(ctx, failed) }
