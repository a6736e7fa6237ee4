package thttp

import (
	"errors"
	"fmt"
	"time"

	"github.com/urnd/urnd/resolver"
)

// The negative answers of a server.
var (
	errNotFound = errors.New("it does not know the name")
	errGone     = errors.New("it answers that the name is gone")
	errService  = errors.New("it does not offer the service")
)

// negative converts a negative answer to a *resolver.Negative; it returns other errors
// unchanged.
func negative(err error, base string, status int, ttl time.Duration) error {
	kinds := map[error]error{errNotFound: resolver.ErrNotFound, errGone: resolver.ErrGone, errService: resolver.ErrUnsupported}
	kind, ok := kinds[err]
	if !ok {
		return err
	}
	return &resolver.Negative{Kind: kind, Reason: fmt.Sprintf("%s answered %d: %s", base, status, err), TTL: ttl}
}
