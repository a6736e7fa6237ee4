package resolver

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// QueryFunc queries the resolution server at base, such as "http://a.example:8080". A negative answer is a *Negative;
// any other error means that the server gave no answer.
type QueryFunc func(ctx context.Context, base string, q Query) (Answer, error)

// maxServers limits the servers queried for one name: the list may come from an untrusted record, and must not
// cause unbounded work.
const maxServers = 10

// InOrder queries the servers in order, at most maxServers, until one answers. If none does, the error joins their
// errors: it is context.DeadlineExceeded or ErrForbidden only if every error is.
func (ask QueryFunc) InOrder(ctx context.Context, bases []string, q Query) (Answer, error) {
	var failures []error
	for _, base := range bases[:min(len(bases), maxServers)] {
		answer, err := ask(ctx, base, q)
		if err == nil || errors.As(err, new(*Negative)) || ctx.Err() != nil {
			return answer, err
		}
		failures = append(failures, err)
	}
	joined := errors.Join(failures...)
	for _, kind := range []error{context.DeadlineExceeded, ErrForbidden} {
		if errors.Is(joined, kind) &&
			slices.ContainsFunc(failures, func(err error) bool { return !errors.Is(err, kind) }) {
			return Answer{}, fmt.Errorf("%w: %s", ErrUnreachable, joined.Error())
		}
	}
	return Answer{}, joined
}
