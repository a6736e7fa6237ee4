package thttp

import (
	"errors"
	"fmt"
	"time"

	"github.com/urnd/urnd/resolver"
)

// What a server can say that is an answer, and no location.
var (
	errNotFound = errors.New("it does not know the name")
	errGone     = errors.New("it knows that the name is gone")
	errService  = errors.New("it does not offer the service")
)

// negative makes the "no" of a server a *resolver.Negative.
func negative(err error, base string, status int, ttl time.Duration) error {
	kinds := map[error]error{errNotFound: resolver.ErrNotFound, errGone: resolver.ErrGone, errService: resolver.ErrUnsupported}
	kind, ok := kinds[err]
	if !ok {
		return err
	}
	return &resolver.Negative{Kind: kind, Reason: fmt.Sprintf("%s answered %d: %s", base, status, err), TTL: ttl}
}
