package main

import (
	"bytes"
	"fmt"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/metrics"
	"github.com/urnd/urnd/internal/observe"
	"github.com/urnd/urnd/internal/secret"
	"github.com/urnd/urnd/proxy/admin"
	"github.com/urnd/urnd/proxy/admin/stored"
	"github.com/urnd/urnd/proxy/gate"
	"github.com/urnd/urnd/proxy/route"
)

// minToken is the minimum length of the token of administrators, in octets.
const minToken = 16

var errShortToken = fmt.Errorf("access.admin_token: the token is shorter than %d octets", minToken)

// newAdmin returns the handler of the admin interface.
func newAdmin(c config.Config, r *resolution, s *service, d dependencies) (*admin.Handler, error) {
	a := admin.Config{
		Clients: c.Access.AdminClients, Proxies: c.Access.AdminProxies, Own: ownHosts(c.Listen),
		Guesses: gate.NewGuesses(d.now), Certificate: c.TLS.ClientCA != "",
		Caches: storedAnswers(c, r, d), Responses: stored.New(s.responses, s.refresh), HasResponses: gatewayInfos(c).IsStored,
		Registry: wireAdminRegistry(c, r, s, d),
		Settings: func() any { return config.Plain(c.Map()) },
		Metrics:  d.metrics.Handler(), Health: r.healthReport(d.health.Report), Log: d.log, Panicked: d.panicked,
	}
	if c.Access.AdminToken != "" {
		token, err := secret.Read("access.admin_token", c.Access.AdminToken)
		if err != nil {
			return nil, err
		}
		if a.Token = bytes.TrimSpace(token); len(a.Token) < minToken {
			return nil, errShortToken
		}
	}
	return admin.New(a), nil
}

// ownHosts returns the hosts by which clients reach this urnd.
func ownHosts(c config.Listen) route.OwnHosts { return route.NewOwnHosts(ownNames(c)...) }

// storedAnswers returns what administrators do with the cache of answers.
func storedAnswers(c config.Config, r *resolution, d dependencies) stored.Answers {
	path := snapshotPath(c.Cache)
	return stored.Answers{
		Names: r.names, Answers: r.answers, URNs: r.urns, URIs: r.uris, Servers: r.servers,
		Records: r.records.Purge, Found: func() { r.found.Purge(func(string) bool { return true }) },
		Stop: d.snapshot.Stop, Saved: func() error { return d.snapshot.Remove(path) },
		Metrics: func() []metrics.Cache { return observe.All(r.caches) },
	}
}
