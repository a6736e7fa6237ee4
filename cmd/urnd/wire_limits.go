package main

import (
	"cmp"
	"fmt"
	"os"
	"runtime"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/cgroup"
	"github.com/urnd/urnd/internal/metrics"
	"github.com/urnd/urnd/resolver"
)

// slots limit concurrent work, each kind apart, so that none starves another. A reload
// reuses those whose limit is unchanged, so that it does not double the limit.
type slots struct {
	resolutions, fetches, streams, bound, documents resolver.Quota

	opening resolver.Quota // requests that wait for the registry, so that they keep no other name waiting

	searches, lists, sitemaps resolver.Quota // of readers, in the registry

	outgoing resolver.Slots // connections that fetch
	thttp    resolver.Slots // connections to resolution servers
	queries  resolver.Slots // questions to DNS servers
}

// newSlots returns the slots of a configuration. before is the previous one, which may be nil.
func newSlots(c config.Limits, before *resolution) slots {
	var old slots
	if before != nil {
		old = before.slots
	}
	share := resolver.ShareOf{Percent: c.ClientShare, Factor: c.NetworkFactor, Busy: errShare}
	return slots{
		resolutions: old.resolutions.Resized(c.Requests, share),
		fetches:     old.fetches.Resized(c.Fetches, share),
		// Each upgraded connection holds an outgoing one without a time limit: half of these are left for fetches.
		streams: old.streams.Resized(min(c.Streams, max(c.Outgoing/2, 1)), share),
		// A client may leave connections that belong to it idle: others need some, too.
		bound:     old.bound.Resized(min(c.BoundConnections, max(c.Outgoing/4, 1)), share),
		documents: old.documents.Resized(int(c.Documents/resolver.MemoryUnit), share),

		opening: old.opening.Resized(c.Requests, share).Or(errOpening),

		searches: sharedLists(old.searches, share), lists: sharedLists(old.lists, share), sitemaps: sharedLists(old.sitemaps, share),

		outgoing: old.outgoing.Resized(c.Outgoing),
		thttp:    old.thttp.Resized(c.Requests),
		queries:  old.queries.Resized(c.DNSQueries),
	}
}

// sharedLists returns the quota of readers who search or list the registry, or of files of its sitemap, each of which may keep a processor busy. A client
// has some of those that wait, as several readers behind one address.
func sharedLists(q resolver.Quota, share resolver.ShareOf) resolver.Quota {
	const most = 4
	q.Slots = q.Slots.Resized(max(runtime.GOMAXPROCS(0)/2, 1))
	if q.Shares == nil {
		q.Shares = resolver.NewShares(most, most*share.Factor, share.Busy)
	}
	return q
}

// errOpening is the error where no more requests may wait for the registry.
var errOpening = fmt.Errorf("%w: as many as limits.requests wait for the registry, which is being opened", resolver.ErrBusy)

// errShare is the error for a client that holds its share of a limit.
var errShare = fmt.Errorf("%w: this client holds its share of a limit (limits.client_share)", resolver.ErrBusy)

// metrics returns how many slots of each kind are used.
func (s slots) metrics() (all []metrics.Limit) {
	for _, limit := range []struct {
		name  string
		slots resolver.Slots
	}{
		{"requests", s.resolutions.Slots},
		{"opening", s.opening.Slots},
		{"fetches", s.fetches.Slots},
		{"streams", s.streams.Slots},
		{"bound_connections", s.bound.Slots},
		{"documents", s.documents.Slots},
		{"outgoing", s.outgoing},
		{"dns_queries", s.queries},
	} {
		all = append(all, metrics.Limit{Name: limit.name, Used: len(limit.slots), Max: cap(limit.slots)})
	}
	return all
}

// memoryLimit returns what Go tries to stay below: limits.memory or else what the control group allows; 0 is the limit of
// GOMEMLIMIT, or none.
func memoryLimit(c config.Limits) config.Size { return cmp.Or(c.Memory, availableMemory()) }

// availableMemory returns what Go may take of the limit of the control group, 0 where there is none, or where GOMEMLIMIT
// says it.
func availableMemory() config.Size {
	if os.Getenv("GOMEMLIMIT") != "" {
		return 0
	}
	return config.Size(cgroup.Available(os.DirFS("/")))
}
