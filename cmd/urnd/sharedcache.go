package main

import (
	"net/netip"
	"reflect"
	"strings"
	"sync/atomic"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/metrics"
	"github.com/urnd/urnd/proxy"
)

// kept is a cache, which may outlive the configuration that it was made for.
type kept struct {
	name  string
	basis any // what its contents rest on
	cache any
	close func()
	stats func() metrics.Cache
	users atomic.Int32 // parts that keep it: the last one closes it
}

// basisOf returns all of a configuration that decides what is in a cache.
func basisOf(name string, c config.Config) any {
	type records struct {
		Cache   config.Cache
		DNS     config.DNS
		DDDS    config.DDDS
		Resolve config.Resolve
	}
	type answers struct {
		Records    records
		THTTP      config.THTTP
		SLP        config.SLP
		URN        config.URN
		Namespaces []config.Namespace
		Open       []netip.Prefix
	}
	basis := records{c.Cache, c.DNS, c.DDDS, c.Resolve}
	if name == "records" {
		return basis
	}
	return answers{basis, c.THTTP, c.SLP, c.URN, c.Namespaces, c.Access.AllowDestinations}
}

// newCache returns a cache that the parts keep: that of the parts before them, where
// nothing has changed on which its contents rest.
func newCache[V any](p *parts, c config.Config, s surroundings, name string, size config.Size, refresh bool, sizeOf func(V) int) (*cache.Cache[V], error) {
	basis := basisOf(name, c)
	if old := s.before.keeps(name); old != nil && reflect.DeepEqual(old.basis, basis) {
		if same, ok := old.cache.(*cache.Cache[V]); ok {
			old.users.Add(1) // the parts before keep it still
			p.kept = append(p.kept, old)
			return same, nil
		}
	}
	made, err := cache.New(cache.Config[V]{
		MaxBytes: int64(size), Size: sizeOf, Now: s.now,
		RefreshAhead: refresh,
		LoadTimeout:  c.Resolve.Timeout, StaleFor: c.Cache.StaleFor, RetryAfter: c.Cache.RetryAfter,
	})
	if err != nil {
		return nil, err
	}
	stats := func() metrics.Cache { return cacheMetrics(name, made.Stats()) }
	own := &kept{name: name, basis: basis, cache: made, close: made.Close, stats: stats}
	own.users.Store(1)
	p.kept = append(p.kept, own)
	return made, nil
}

// keeps returns a cache by its name, nil where there is none.
func (p *parts) keeps(name string) *kept {
	if p == nil {
		return nil
	}
	for _, k := range p.kept {
		if k.name == name {
			return k
		}
	}
	return nil
}

// leave closes a cache, if nobody else keeps it: configurations before and after may
// have requests that run.
func (k *kept) leave() {
	if k.users.Add(-1) == 0 {
		k.close()
	}
}

// caches returns what the caches say of themselves.
func (p *parts) caches() []metrics.Cache {
	var all []metrics.Cache
	for _, k := range p.kept {
		all = append(all, k.stats())
	}
	return all
}

// forget takes away the DNS records with which the rules for what is selected begin: of
// a namespace, or all of them.
func (p *parts) forget(s proxy.Selection) {
	nid := s.Namespace
	if v, err := s.URI.URN(); err == nil {
		nid = strings.ToLower(v.NID())
	}
	if p.records == nil || nid == "" && !s.All {
		return
	}
	p.records.Purge(func(key string) bool { return s.All || strings.HasPrefix(key, nid+".") }, false)
}
