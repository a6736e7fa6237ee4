package service

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/urnd/urnd/internal/quota"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
)

// Limits of the resources that all tokens share. Each token has a limit of its own, so that no token can block
// the others. The key of a limit is Actor.Token; "" stands for all administrators together.
const (
	// maxRequestsOfToken limits the concurrent requests of a token, so that it cannot occupy all connections to
	// the store. Further requests wait until the client disconnects.
	maxRequestsOfToken = 16
	// A search may keep a processor busy for as long as it is allowed to take.
	maxSearches        = 4
	maxSearchesOfToken = 2
	// An export lasts as long as its client reads it.
	maxExports        = 8
	maxExportsOfToken = 2
	// The files of forms are read into memory.
	maxUploads        = 6
	maxUploadsOfToken = 2
)

// searchWithin limits the duration of the search for one page. The cursor of the page continues the search.
const searchWithin = 5 * time.Second

// tokenLimits holds the limits.
type tokenLimits struct {
	requests                   *quota.Queues[string]
	searches, exports, uploads *quota.KeyedLimit[string]
}

func newTokenLimits() tokenLimits {
	return tokenLimits{
		requests: &quota.Queues[string]{MaxPerKey: maxRequestsOfToken},
		searches: quota.NewKeyedLimit[string](maxSearches, maxSearchesOfToken),
		exports:  quota.NewKeyedLimit[string](maxExports, maxExportsOfToken),
		uploads:  quota.NewKeyedLimit[string](maxUploads, maxUploadsOfToken),
	}
}

// Enter waits until a request of an actor may be handled. The caller must call leave once, unless there is an
// error.
func (s *tokenLimits) Enter(ctx context.Context, actor registry.Actor) (leave func(), err error) {
	if leave, err = s.requests.Acquire(ctx, actor.Token); err != nil {
		return nil, fmt.Errorf("waiting for other requests with the same token: %w", err)
	}
	return leave, nil
}

// Upload reserves memory for a file sent by an actor. The caller must call done once, unless there is an error.
func (s *tokenLimits) Upload(actor registry.Actor) (done func(), err error) {
	if done, err = s.uploads.Acquire(actor.Token); err != nil {
		return nil, tokenLimitError(err, fmt.Errorf("%w: %d concurrent uploads", resolver.ErrBusy, maxUploads),
			"%d concurrent uploads", maxUploadsOfToken)
	}
	return done, nil
}

// export admits an export by an actor. The caller must call done once, unless there is an error.
func (s *tokenLimits) export(actor registry.Actor) (done func(), err error) {
	if done, err = s.exports.Acquire(actor.Token); err != nil {
		return nil,
			tokenLimitError(err, fmt.Errorf("%w: limit %d; try again later", registry.ErrExportLimit, maxExports),
				"%d concurrent exports", maxExportsOfToken)
	}
	return done, nil
}

// searching waits until a search by an actor may start, for at most searchWithin. The caller must call done
// once, unless there is an error.
func (s *tokenLimits) searching(ctx context.Context, actor registry.Actor) (done func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, searchWithin)
	defer cancel()
	if done, err = s.searches.Wait(ctx, actor.Token); err != nil {
		return nil,
			fmt.Errorf("%w: limit of %d concurrent searches of the registry, or %d per token, reached; try again later",
				resolver.ErrBusy, maxSearches, maxSearchesOfToken)
	}
	return done, nil
}

// tokenLimitError returns the error for a rejected request: registry.ErrTokenLimit with the limit of the token if that
// is reached, or else ofAll.
func tokenLimitError(err, ofAll error, has string, n int) error {
	if errors.Is(err, quota.ErrQuota) {
		return fmt.Errorf("%w: "+has, registry.ErrTokenLimit, n)
	}
	return ofAll
}
