package main

import (
	"fmt"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/metrics"
	"github.com/urnd/urnd/resolver"
)

// slots limit concurrent work, each kind apart, so that none starves another. A reload
// reuses those whose limit is unchanged, so that it does not double the limit.
type slots struct {
	resolutions, fetches, streams, bound, documents resolver.Slots
	// The shares of each client in these.
	resolutionShares, fetchShares, streamShares, boundShares, documentShares *resolver.Shares

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
	return slots{
		resolutions: sameOrNew(old.resolutions, c.Requests),
		fetches:     sameOrNew(old.fetches, c.Fetches),
		streams:     sameOrNew(old.streams, streamsOf(c)),
		bound:       sameOrNew(old.bound, boundOf(c)),
		documents:   sameOrNew(old.documents, documentsOf(c)),

		resolutionShares: sameOrNewShares(old.resolutionShares, c.Requests, c),
		fetchShares:      sameOrNewShares(old.fetchShares, c.Fetches, c),
		streamShares:     sameOrNewShares(old.streamShares, streamsOf(c), c),
		boundShares:      sameOrNewShares(old.boundShares, boundOf(c), c),
		documentShares:   sameOrNewShares(old.documentShares, documentsOf(c), c),

		outgoing: sameOrNew(old.outgoing, c.Outgoing),
		thttp:    sameOrNew(old.thttp, c.Requests),
		queries:  sameOrNew(old.queries, c.DNSQueries),
	}
}

// streamsOf returns the limit of upgraded connections: each of them holds an outgoing
// connection without a time limit, and half of these are left for fetches.
func streamsOf(c config.Limits) int { return min(c.Streams, max(c.Outgoing/2, 1)) }

// boundOf returns the limit of connections that belong to a client, who may leave them idle: others need some, too.
func boundOf(c config.Limits) int { return min(c.BoundConnections, max(c.Outgoing/4, 1)) }

// documentsOf returns the limit of documents in units of memory.
func documentsOf(c config.Limits) int { return int(c.Documents / resolver.MemoryUnit) }

// sameOrNew returns old, where it has the right number of slots, and new slots otherwise.
func sameOrNew(old resolver.Slots, n int) resolver.Slots {
	if cap(old) == n {
		return old
	}
	return make(resolver.Slots, n)
}

// sameOrNewShares returns old, where it has the right shares of n slots, and new shares otherwise, nil
// for no bound.
func sameOrNewShares(old *resolver.Shares, n int, c config.Limits) *resolver.Shares {
	if c.ClientShare == 100 {
		return nil // no bound
	}
	most := max(n*c.ClientShare/100, 1)
	networks := most * c.NetworkFactor
	if old != nil {
		if oldMost, oldNetworks := old.Bounds(); oldMost == most && oldNetworks == networks {
			return old
		}
	}
	return resolver.NewShares(most, networks, errShare)
}

// errShare is the error for a client that holds its share of a limit.
var errShare = fmt.Errorf("%w: this client holds its share of a limit (limits.client_share)", resolver.ErrBusy)

// limitMetrics returns how many slots of each kind are used.
func (s slots) limitMetrics() []metrics.Limit {
	return []metrics.Limit{
		{Name: "requests", Used: len(s.resolutions), Max: cap(s.resolutions)},
		{Name: "fetches", Used: len(s.fetches), Max: cap(s.fetches)},
		{Name: "streams", Used: len(s.streams), Max: cap(s.streams)},
		{Name: "bound_connections", Used: len(s.bound), Max: cap(s.bound)},
		{Name: "documents", Used: len(s.documents), Max: cap(s.documents)},
		{Name: "outgoing", Used: len(s.outgoing), Max: cap(s.outgoing)},
		{Name: "dns_queries", Used: len(s.queries), Max: cap(s.queries)},
	}
}
