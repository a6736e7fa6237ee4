package main

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/metrics"
	"github.com/urnd/urnd/internal/secret"
	"github.com/urnd/urnd/internal/shared"
	"github.com/urnd/urnd/proxy/answer"
	"github.com/urnd/urnd/proxy/balance"
	"github.com/urnd/urnd/proxy/upstream"
	"github.com/urnd/urnd/resolver"
	schemehttp "github.com/urnd/urnd/resolver/scheme/http"
	"github.com/urnd/urnd/uri"
)

// upstreamBasis is the basis of the upstream proxies.
type upstreamBasis struct {
	settings []config.Upstream
	files    [][]byte // contents of the password and TLS files
}

// upstreamsOf returns the selector of the upstream proxies of a configuration. That of the previous
// configuration is reused if its basis is unchanged; otherwise what is known about its proxies is.
func upstreamsOf(c config.Config, s *service, r *resolution, d dependencies) (*upstream.Selector, error) {
	if s.upstreams != nil {
		return s.upstreams, nil
	}
	basis := upstreamBasis{settings: c.Proxy.Upstreams}
	rules := make([]upstream.Rule, 0, len(c.Proxy.Upstreams))
	for i, u := range c.Proxy.Upstreams {
		path := "proxy.upstreams." + strconv.Itoa(i)
		password, err := passwordOf(path, u)
		if err != nil {
			return nil, err
		}
		rule, err := upstreamRule(path, u, string(password))
		if err != nil {
			return nil, err
		}
		files := contents(u.TLS)
		basis.files = append(append(basis.files, password), files[:]...)
		rules = append(rules, rule)
	}
	failures, err := shared.Reuse(&r.shared, d.previous.reusable(), "failures of upstream proxies", nil,
		func() (*resolver.Backoff, func(), error) { return upstream.NewFailures(d.now), func() {}, nil })
	if err != nil {
		return nil, err
	}
	s.upstreams, err = shared.Reuse(&r.shared, d.previous.reusable(), "upstream proxies", basis,
		func() (*upstream.Selector, func(), error) {
			for i := range rules {
				rules[i].Previous = d.placed[upstreamPlace(rules[i])]
			}
			return newUpstreams(upstream.Config{Rules: rules, Failures: failures, Now: d.now, Log: d.persistentLog}, r)
		})
	if err != nil {
		return nil, err
	}
	for i, rule := range rules {
		// of several rules for the same hosts the first decides
		if place := upstreamPlace(rule); s.placed[place] == nil {
			s.placed[place] = s.upstreams.Pool(i)
		}
	}
	guard, selector := r.guard.WithTimeout(c.Limits.ConnectTimeout), s.upstreams
	prober := schemehttp.New(schemehttp.Config{Dial: guard.DialContext, Now: d.now})
	r.starters = append(r.starters, func() {
		selector.SetProbe(func(ctx context.Context, u *schemehttp.Upstream) error { return prober.Probe(ctx, *u) })
	})
	return selector, nil
}

// passwordOf returns the password of an upstream proxy, nil for none.
func passwordOf(path string, u config.Upstream) ([]byte, error) {
	if u.Password == "" {
		return nil, nil
	}
	text, err := secret.Read(path+".password", u.Password)
	return bytes.TrimSpace(text), err
}

// upstreamRule returns the rule of an entry.
func upstreamRule(path string, u config.Upstream, password string) (upstream.Rule, error) {
	methods := map[string]balance.Method{
		"": balance.Failover, "order": balance.Failover, "round_robin": balance.RoundRobin, "hash_host": balance.Hash,
		"hash_url": balance.Hash,
	}
	rule := upstream.Rule{Hosts: u.Hosts, Direct: u.IsDirect(), Method: methods[u.Balance], Interval: u.CheckInterval}
	if u.Balance == "hash_host" {
		rule.HashKey = upstream.ByHost
	}
	tls, err := secret.ServerTLS(path+".tls", u.TLS)
	if err != nil {
		return rule, err
	}
	for i, server := range u.WithoutDirect() {
		url, err := uri.Parse(server)
		if err != nil {
			return rule, fmt.Errorf("%s.proxies.%d: %w", path, i, err)
		}
		scheme, address, _ := strings.Cut(server, "://")
		one := upstream.Server{
			URL:      url,
			Upstream: &schemehttp.Upstream{Scheme: scheme, Address: address, User: u.User, Password: password},
		}
		if scheme == "https" {
			one.Upstream.TLS = tls
		}
		if i < len(u.Weights) {
			one.Weight = u.Weights[i]
		}
		rule.Servers = append(rule.Servers, one)
	}
	return rule, nil
}

// upstreamPlace returns the key of service.placed for the proxies of a rule: one for the same hosts replaces them.
func upstreamPlace(rule upstream.Rule) string { return fmt.Sprintf("upstream proxies %q", rule.Hosts) }

// newUpstreams returns a Selector and the function that stops its probes, which start with the configuration.
func newUpstreams(c upstream.Config, r *resolution) (*upstream.Selector, func(), error) {
	selector, err := upstream.New(c)
	if err != nil {
		return nil, nil, fmt.Errorf("proxy.upstreams: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	r.starters = append(r.starters, func() { running.Go(func() { selector.Run(ctx) }) })
	return selector, func() {
		cancel()
		running.Wait()
	}, nil
}

// upstreamServers returns the state of the upstream proxies, each once.
func (s *service) upstreamServers() (all []metrics.Server) {
	if s.upstreams == nil {
		return nil
	}
	return serversOf(s.upstreams.Status())
}

// pacOf returns the proxy auto-configuration file.
func pacOf(c config.Proxy) answer.PAC {
	pac := answer.PAC{Proxies: c.PACProxies, Direct: c.PACDirect}
	if !c.PACUpstreams {
		return pac
	}
	for _, u := range c.Upstreams {
		pac.Rules = append(pac.Rules, answer.PACRule{Hosts: u.Hosts, Direct: len(u.WithoutDirect()) == 0})
	}
	return pac
}
