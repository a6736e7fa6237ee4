package resolver

import (
	"context"
	"errors"
)

// Ask asks the resolution server at base, such as "http://a.example:8080". Its "no" is
// a *Negative, and an answer; other errors mean that it cannot be asked.
type Ask func(ctx context.Context, base string, q Query) (Answer, error)

// Each asks one server after another until one answers. The error joins those of
// servers that cannot be asked.
func (ask Ask) Each(ctx context.Context, bases []string, q Query) (Answer, error) {
	var faults []error
	for _, base := range bases {
		answer, err := ask(ctx, base, q)
		if err == nil || errors.As(err, new(*Negative)) || ctx.Err() != nil {
			return answer, err
		}
		faults = append(faults, err)
	}
	return Answer{}, errors.Join(faults...)
}
