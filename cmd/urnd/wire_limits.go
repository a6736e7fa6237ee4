package main

import (
	"cmp"
	"fmt"
	"os"
	"runtime"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/cgroup"
	"github.com/urnd/urnd/internal/metrics"
	"github.com/urnd/urnd/internal/quota"
	"github.com/urnd/urnd/resolver"
)

// limits limit concurrent work, separately for each kind, so that none starves another. A reload reuses
// unchanged limits, so that they are not doubled.
type limits struct {
	resolutions, fetches, streams, bound quota.Limit

	documents *quota.Memory

	// Requests that wait for the registry, separately, so that requests for other names need not wait.
	opening quota.Limit

	searches, lists, sitemaps quota.Limit // of readers, in the registry

	outgoing quota.Semaphore // connections that fetch
	thttp    quota.Semaphore // connections to resolution servers
	queries  quota.Semaphore // queries to DNS servers
}

// newLimits returns the limits of a configuration. before is the previous one, and may be nil.
func newLimits(c config.Limits, before *resolution) limits {
	var old limits
	if before != nil {
		old = before.limits
	}
	per := quota.ClientQuota{Percent: c.ClientShare, NetworkFactor: c.NetworkFactor, Busy: errShare}
	return limits{
		resolutions: old.resolutions.Resized(c.Requests, per),
		fetches:     old.fetches.Resized(c.Fetches, per),
		// An upgraded connection holds an outgoing one without a time limit: half of these are left for
		// fetches.
		streams: old.streams.Resized(min(c.Streams, max(c.Outgoing/2, 1)), per),
		// A client may leave connections bound to it idle: other clients need some, too.
		bound:     old.bound.Resized(max(c.Outgoing/4, 1), per),
		documents: old.documents.Resized(int64(c.Documents), per),

		opening: old.opening.Resized(c.Requests, per).WithBusy(errOpening),

		searches: sharedLists(old.searches, per), lists: sharedLists(old.lists, per),
		sitemaps: sharedLists(old.sitemaps, per),

		outgoing: old.outgoing.Resized(c.Outgoing),
		thttp:    old.thttp.Resized(c.Requests),
		queries:  old.queries.Resized(c.DNSQueries),
	}
}

// sharedLists returns the limit of searches, lists or sitemap files of the registry, each of which may keep a
// processor busy. The per-client quota allows a few that wait, since several readers may share an address.
func sharedLists(l quota.Limit, per quota.ClientQuota) quota.Limit {
	const most = 4
	l.Semaphore = l.Semaphore.Resized(max(runtime.GOMAXPROCS(0)/2, 1))
	if l.Clients == nil {
		l.Clients = quota.NewClientLimits(most, most*per.NetworkFactor, per.Busy)
	}
	return l
}

// errOpening is the error when the limit of requests that wait for the registry is reached.
var errOpening = fmt.Errorf("%w: limits.requests requests are waiting while the registry is being opened",
	resolver.ErrBusy)

// errShare is the error for a client that has reached its quota of a limit.
var errShare = fmt.Errorf("%w: this client has reached its share (limits.client_share)", resolver.ErrBusy)

// metrics returns the use of each limit.
func (l limits) metrics() (all []metrics.Limit) {
	for _, limit := range []struct {
		name string
		used quota.Semaphore
	}{
		{"requests", l.resolutions.Semaphore},
		{"opening", l.opening.Semaphore},
		{"fetches", l.fetches.Semaphore},
		{"streams", l.streams.Semaphore},
		{"bound_connections", l.bound.Semaphore},
		{"documents", l.documents.Limit().Semaphore},
		{"outgoing", l.outgoing},
		{"dns_queries", l.queries},
	} {
		all = append(all, metrics.Limit{Name: limit.name, Used: len(limit.used), Max: cap(limit.used)})
	}
	return all
}

// memoryLimit returns the memory limit of the Go runtime: limits.memory, or else the limit by the control
// group; 0 leaves GOMEMLIMIT, or no limit.
func memoryLimit(c config.Limits) config.Size { return cmp.Or(c.Memory, availableMemory()) }

// availableMemory returns the part of the control group's limit for Go, 0 without a limit, or if GOMEMLIMIT
// is set.
func availableMemory() config.Size {
	if os.Getenv("GOMEMLIMIT") != "" {
		return 0
	}
	return config.Size(cgroup.Available(os.DirFS("/")))
}
