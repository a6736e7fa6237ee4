package admin

import (
	"errors"
	"fmt"

	"github.com/urnd/urnd/internal/quota"
	"github.com/urnd/urnd/proxy/problem"
)

// What the tokens of the registry share, each has a part of, so that none ends or stops what others do. The key of the parts is
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
	// Forms with files are read into memory.
	maxUploads        = 6
	maxUploadsOfToken = 2
)

// shares are what tokens share.
type shares struct {
	requests                   *quota.Queues[string] // to the registry
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

// refusedShare returns the error where a token gets nothing more of what is shared: that of all, or problem.ErrTokenShare with what it has.
func refusedShare(err, ofAll error, has string, n int) error {
	if errors.Is(err, quota.ErrShare) {
		return fmt.Errorf("%w: "+has, problem.ErrTokenShare, n)
	}
	return ofAll
}
