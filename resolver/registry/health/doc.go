// Package health checks the targets of a registry. Targets of active names enter, and are requested by HTTP
// (RFC 9110), spread over days; the state of those that fail or have moved leaves, for the store and for the
// order of targets in responses. It changes no entry: that is the task of a person.
//
//   - outcome.go, probe.go: a check of one target; hosts.go: rate limits and pauses
//   - target.go, record.go: the stored state of targets, and its transitions
//   - sweep.go, page.go: the progress of the walk over all names, and the next names
//   - checker.go: the walk, by one instance at a time; demand.go: an immediate check of some names
//   - unhealthy.go: unhealthy targets, for other packages; list.go: the states, for display
//
// robots.txt (RFC 9309) is not read: it addresses crawlers, which discover URLs themselves. These URLs are
// published by the site itself as locations of its names, and each is requested rarely.
package health
