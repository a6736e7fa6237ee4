// Package health checks where the names of a registry lead: it asks the targets of active names by HTTP, over
// days, and keeps which of them do not answer. It changes no entry: a person does that.
//
//   - outcome.go, probe.go: one check of one target; hosts.go: how politely
//   - target.go, record.go: what is kept of targets, and how it changes
//   - sweep.go, page.go: how far the walk over all names is, and what is next
//   - checker.go: the walk, by one instance at a time; demand.go: a check of some names, now
//   - unhealthy.go: which targets other parts should avoid; list.go: what is known, for people
//
// robots.txt (RFC 9309) is not asked: it is for crawlers, which find their URLs themselves, and these are the
// locations that the site itself gives out for its names, one request for each now and then.
package health
