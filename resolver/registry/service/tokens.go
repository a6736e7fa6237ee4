package service

import (
	"context"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/token"
)

// Tokens returns the tokens that an actor may revoke; damaged says of which ones it cannot be read what they may do.
func (s *Service) Tokens(ctx context.Context, actor registry.Actor) (tokens []token.Token, damaged []error, err error) {
	return s.tokens.List(ctx, actor)
}

// CreateToken creates a token, and returns it with its secret, which is shown only then.
func (s *Service) CreateToken(ctx context.Context, actor registry.Actor, t token.Token) (made token.Token, secret string, err error) {
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

// Authenticate returns who uses a secret: see token.Verifier.
func (s *Service) Authenticate(ctx context.Context, secret string, change bool) (registry.Actor, error) {
	return s.tokens.Verify(ctx, secret, change)
}

// AuthenticateProof is Authenticate for who has shown the secret before.
func (s *Service) AuthenticateProof(ctx context.Context, p token.Proof, change bool) (registry.Actor, error) {
	return s.tokens.VerifyProof(ctx, p, change)
}

// RunTokens records when tokens were used, until ctx is done. failed is called with errors.
func (s *Service) RunTokens(ctx context.Context, failed func(error)) { s.tokens.Run(ctx, failed) }
