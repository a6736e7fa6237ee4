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

// What the tokens of the registry share, each has a part of, so that none can end or stop what others do. The key of the parts is
// Actor.Token, "" for all administrators together.
const (
	// maxRequestsOfToken bounds how many requests with one token are handled at a time, so that the connections to the store are not all in
	// use by one. Others wait until the client leaves.
	maxRequestsOfToken = 16
	// Searches may each keep a processor busy for as long as they may take.
	maxSearches        = 4
	maxSearchesOfToken = 2
	// Exports are sent for as long as their clients read.
	maxExports        = 8
	maxExportsOfToken = 2
	// Files of forms are read into memory.
	maxUploads        = 6
	maxUploadsOfToken = 2
)

// searchWithin bounds how long a page of a search is looked for: its cursor goes on.
const searchWithin = 5 * time.Second

// shares are what tokens share.
type shares struct {
	requests                   *quota.Queues[string]
	searches, exports, uploads *quota.Shares[string]
}

func newShares() shares {
	return shares{
		requests: &quota.Queues[string]{Most: maxRequestsOfToken},
		searches: quota.NewShares[string](maxSearches, maxSearchesOfToken),
		exports:  quota.NewShares[string](maxExports, maxExportsOfToken),
		uploads:  quota.NewShares[string](maxUploads, maxUploadsOfToken),
	}
}

// Enter waits until one more request of an actor may be handled. The caller must call leave once, unless there is an error.
func (s *shares) Enter(ctx context.Context, actor registry.Actor) (leave func(), err error) {
	if leave, err = s.requests.Acquire(ctx, actor.Token); err != nil {
		return nil, fmt.Errorf("waiting for other requests with the same token: %w", err)
	}
	return leave, nil
}

// Upload lets an actor send a file that is read into memory. The caller must call done once, unless there is an error.
func (s *shares) Upload(actor registry.Actor) (done func(), err error) {
	if done, err = s.uploads.Acquire(actor.Token); err != nil {
		return nil, refusedShare(err, fmt.Errorf("%w: %d files are being read already", resolver.ErrBusy, maxUploads),
			"%d files are being read", maxUploadsOfToken)
	}
	return done, nil
}

// export lets an actor export names. The caller must call done once, unless there is an error.
func (s *shares) export(actor registry.Actor) (done func(), err error) {
	if done, err = s.exports.Acquire(actor.Token); err != nil {
		return nil, refusedShare(err, fmt.Errorf("%w: %d are being sent; try again later", registry.ErrExports, maxExports),
			"%d exports are being sent", maxExportsOfToken)
	}
	return done, nil
}

// searching waits until an actor may search, for as long as a search may take. The caller must call done once, unless there is an error.
func (s *shares) searching(ctx context.Context, actor registry.Actor) (done func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, searchWithin)
	defer cancel()
	if done, err = s.searches.Wait(ctx, actor.Token); err != nil {
		return nil, fmt.Errorf("%w: %d searches of the registry run already, or %d with this token; try again later",
			resolver.ErrBusy, maxSearches, maxSearchesOfToken)
	}
	return done, nil
}

// refusedShare returns the error where a token gets nothing more of what is shared: that of all, or registry.ErrShare with what it has.
func refusedShare(err, ofAll error, has string, n int) error {
	if errors.Is(err, quota.ErrShare) {
		return fmt.Errorf("%w: "+has, registry.ErrShare, n)
	}
	return ofAll
}
