package resolver

import (
	"context"
	"fmt"
	"slices"
)

// Limits of the data that remote servers and records may supply, in bytes: MaxLocation of one location or name,
// MaxAnswer of all locations in an answer. Locations beyond them are left out, with a step in the trace.
const (
	MaxLocation = 8 << 10
	MaxAnswer   = 256 << 10
)

// bounded returns the answer with those locations that are within the limits, in their order. Resolvers apply
// limits of their own where the data would take memory earlier; this one applies to all of them.
func bounded(ctx context.Context, answer Answer) (Answer, error) {
	all, room := answer.Locations, MaxAnswer
	isWithin := func(l Location) bool {
		size := len(l.URI) + len(l.From.Content)
		if len(l.URI) > MaxLocation || size > room {
			return false
		}
		room -= size
		return true
	}
	first := slices.IndexFunc(all, func(l Location) bool { return !isWithin(l) })
	if first < 0 {
		return answer, nil
	}
	within := slices.Clone(all[:first])
	for _, l := range all[first+1:] {
		if isWithin(l) {
			within = append(within, l)
		}
	}
	n := len(within)
	TraceOf(ctx).Add(Step{Stage: "answer", Code: "locations_left_out", Values: []any{"Number", len(all) - n}},
		"omitted %d of %d locations: the limits are %d bytes for one "+
			"and %d for all", len(all)-n, len(all), MaxLocation, MaxAnswer)
	if n == 0 {
		return Answer{}, fmt.Errorf("%w: every location exceeds the limit of %d bytes", ErrUnreachable, MaxLocation)
	}
	answer.Locations = within
	return answer, nil
}
