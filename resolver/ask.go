package resolver

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Ask asks the resolution server at base, such as "http://a.example:8080". Its "no" is
// a *Negative, and an answer; other errors mean that it cannot be asked.
type Ask func(ctx context.Context, base string, q Query) (Answer, error)

// maxServers bounds the servers that are asked for one name: whoever names them must
// not make more work than is sense.
const maxServers = 10

// Each asks one server after another until one answers, ten at most. The error joins
// those of servers that cannot be asked; it is of their kind where they are of one.
func (ask Ask) Each(ctx context.Context, bases []string, q Query) (Answer, error) {
	var faults []error
	for _, base := range bases[:min(len(bases), maxServers)] {
		answer, err := ask(ctx, base, q)
		if err == nil || errors.As(err, new(*Negative)) || ctx.Err() != nil {
			return answer, err
		}
		faults = append(faults, err)
	}
	joined := errors.Join(faults...)
	for _, kind := range []error{context.DeadlineExceeded, ErrForbidden} {
		if errors.Is(joined, kind) && slices.ContainsFunc(faults, func(err error) bool { return !errors.Is(err, kind) }) {
			return Answer{}, fmt.Errorf("%w: %s", ErrUnreachable, joined.Error())
		}
	}
	return Answer{}, joined
}
