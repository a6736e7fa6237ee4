package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// adminOf returns what the admin listener works with.
func adminOf(p *parts, c config.Config, s surroundings) (proxy.AdminConfig, error) {
	a := proxy.AdminConfig{
		Clients: c.Access.AdminClients, Certificate: c.TLS.ClientCA != "", Metrics: s.metrics.Handler(), Log: s.log, Caches: caches{p, savedPath(c.Cache), s.restoring},
		Health:   s.health.report,
		Settings: func() any { return config.Plain(c.Map()) },
	}
	if c.Access.AdminToken == "" {
		return a, nil
	}
	token, err := readSecret("access.admin_token", c.Access.AdminToken)
	if err != nil {
		return a, err
	}
	if a.Token = bytes.TrimSpace(token); len(a.Token) < leastToken {
		return a, errShortToken
	}
	return a, nil
}

// caches implements proxy.Caches.
type caches struct {
	parts *parts
	saved string // the file of answers that outlive the daemon, "" where there is none
	still *restoring
}

// Stats implements proxy.Caches.
func (c caches) Stats() any {
	type document struct {
		Lookups   map[string]uint64 `json:"lookups"`
		Evictions uint64            `json:"evictions"`
		Entries   int64             `json:"entries"`
		Bytes     int64             `json:"bytes"`
	}
	all := make(map[string]document)
	for _, m := range c.parts.caches() {
		all[m.Name] = document{m.Lookups, m.Evictions, m.Entries, m.Bytes}
	}
	return map[string]any{"caches": all}
}

// Lookup implements proxy.Caches.
func (c caches) Lookup(u uri.URI) ([]proxy.Remembered, error) {
	name, err := c.parts.names.Key(u)
	if err != nil {
		return nil, err
	}
	var found []proxy.Remembered
	c.parts.answers.Each(func(e cache.Entry[resolver.Locations]) bool {
		if isOf(e.Key, name.String()) {
			found = append(found, proxy.NewRemembered(e.Key, int64(e.TTL/time.Second), e.Value, e.Err))
		}
		return true
	})
	slices.SortFunc(found, func(a, b proxy.Remembered) int { return strings.Compare(a.Key, b.Key) })
	return found, nil
}

// Purge implements proxy.Caches.
func (c caches) Purge(s proxy.Selection, soft bool) (int, error) {
	matches := func(string) bool { return s.All }
	switch {
	case s.URI.IsAbsolute():
		name, err := c.parts.names.Key(s.URI)
		if err != nil {
			return 0, err
		}
		matches = func(key string) bool { return isOf(key, name.String()) }
	case s.Namespace != "":
		matches = func(key string) bool { return strings.HasPrefix(key, "urn:"+s.Namespace+":") }
	case s.Prefix != "":
		matches = func(key string) bool { return strings.HasPrefix(key, s.Prefix) }
	}
	c.still.end()
	if !soft {
		c.parts.forget(s)
	}
	n := c.parts.answers.Purge(matches, soft)
	if c.saved == "" {
		return n, nil
	}
	// What was purged must not come back, whatever ends the daemon.
	if err := os.Remove(c.saved); err != nil && !errors.Is(err, os.ErrNotExist) {
		return n, fmt.Errorf("forgetting what was saved: %w", err)
	}
	return n, nil
}

// isOf reports whether a key is of a name: alone, with what is passed on, or with a
// service.
func isOf(key, name string) bool {
	rest, ok := strings.CutPrefix(key, name)
	return ok && (rest == "" || rest[0] == ' ' || rest[0] == '?' && strings.HasPrefix(name, "urn:"))
}
