package main

import (
	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/metrics"
	"github.com/urnd/urnd/resolver"
)

// bounds are what goes on at a time, and how much may. Configurations that follow each
// other share those that stay the same: a reload must not let twice as much go on.
type bounds struct {
	requests  resolver.Slots
	outgoing  chan struct{} // one for each connection
	questions chan struct{} // one for each question to a DNS server
}

// newBounds returns the bounds of a configuration that follows before, which may be nil.
func newBounds(c config.Limits, before *parts) bounds {
	b := bounds{make(resolver.Slots, c.Requests), make(chan struct{}, c.Outgoing), make(chan struct{}, c.DNSQueries)}
	if before == nil {
		return b
	}
	old := before.bounds
	if cap(old.requests) == cap(b.requests) {
		b.requests = old.requests
	}
	if cap(old.outgoing) == cap(b.outgoing) {
		b.outgoing = old.outgoing
	}
	if cap(old.questions) == cap(b.questions) {
		b.questions = old.questions
	}
	return b
}

// limits tells metrics of them.
func (b bounds) limits() []metrics.Limit {
	return []metrics.Limit{
		{Name: "requests", Used: len(b.requests), Max: cap(b.requests)},
		{Name: "outgoing", Used: len(b.outgoing), Max: cap(b.outgoing)},
		{Name: "dns_queries", Used: len(b.questions), Max: cap(b.questions)},
	}
}
