package ddds

import (
	"context"

	"github.com/urnd/urnd/resolver"
)

// collected are the locations of an answer, at most resolver.MaxAnswer bytes.
type collected struct {
	locations []resolver.Location
	bytes     int // including locations left out
}

func (c *collected) add(found ...resolver.Location) {
	for _, l := range found {
		if c.bytes += len(l.URI); !c.full() {
			c.locations = append(c.locations, l)
		}
	}
}

// full reports whether the size limit is exceeded.
func (c *collected) full() bool { return c.bytes > resolver.MaxAnswer }

// answer returns the answer. If it is incomplete, it adds a step to the trace.
func (c *collected) answer(ctx context.Context, w *walk) resolver.Answer {
	if c.full() {
		resolver.TraceOf(ctx).Add(resolver.Step{
			Stage: "ddds", Code: "locations_cut",
			Values: []any{"Number", len(c.locations)},
		},
			"only the first %d locations are used: the limit of an answer is "+
				"%d bytes", len(c.locations), resolver.MaxAnswer)
	}
	return resolver.Answer{Locations: c.locations, TTL: w.ttl}
}
