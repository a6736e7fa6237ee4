package config

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
)

// storageRules changes with the rules of what is stored on disk for others: what was stored by others is not used.
const storageRules = 3

// DiskBasis identifies what responses on disk rest on.
func (c Config) DiskBasis() string { return fmt.Sprintf("%d-%s", storageRules, c.Basis(Disk)) }

// SharedBases identifies what answers and DNS records rest on, and what responses rest on: instances for which it is
// the same share them. What instances may differ in is left out: how often, how long and in which order servers are
// asked, by which password, and limits.
func (c Config) SharedBases() (answers, responses string) {
	c = c.common()
	return c.Basis(Snapshot), c.DiskBasis()
}

// common returns the configuration without what instances that share may differ in.
func (c Config) common() Config {
	// What the registry answers is not shared, but what it is not asked for.
	c.Registry.Store, c.Registry.Replica, c.Registry.Password = isSet(c.Registry.Store), "", ""
	c.Registry.TTL, c.Registry.ClientTTL, c.Registry.Redirect, c.Registry.Count, c.CDN.TTL = 0, 0, 0, false, 0
	c.DNS.Servers = sorted(c.DNS.Servers)
	c.DNS.Timeout, c.DNS.Rounds, c.DNS.MixedCase = 0, 0, false
	c.DDDS.RootOptions = slices.Clone(c.DDDS.RootOptions)
	for i := range c.DDDS.RootOptions {
		c.DDDS.RootOptions[i].Servers = sorted(c.DDDS.RootOptions[i].Servers)
	}
	c.DDDS.RootOptions = sorted(c.DDDS.RootOptions)
	c.Resolve.Timeout, c.Resolve.Backoff = 0, 0
	c.SLP.Agents, c.SLP.Scopes, c.SLP.Timeout = sorted(c.SLP.Agents), sorted(c.SLP.Scopes), 0
	c.THTTP.Timeout = 0
	c.URN.Accept = sorted(c.URN.Accept)
	c.Namespaces = slices.Clone(c.Namespaces)
	for i := range c.Namespaces {
		c.Namespaces[i].THTTP, c.Namespaces[i].Schemes = sorted(c.Namespaces[i].THTTP), sorted(c.Namespaces[i].Schemes)
	}
	c.Namespaces = sorted(c.Namespaces)
	c.Access.AllowDestinations = sorted(c.Access.AllowDestinations)
	c.Cache.HarmlessFields, c.File.Roots = sorted(c.Cache.HarmlessFields), sorted(c.File.Roots)
	c.Gateways.AllowPorts, c.Gateways.DenyPorts = sorted(c.Gateways.AllowPorts), sorted(c.Gateways.DenyPorts)
	c.News.Servers, c.News.Login = sorted(c.News.Servers), isSet(c.News.Login)
	c.Proxy.Upstreams = slices.Clone(c.Proxy.Upstreams)
	for i := range c.Proxy.Upstreams {
		u := &c.Proxy.Upstreams[i]
		u.Password, u.TLS = isSet(u.Password), u.TLS.common()
	}
	c.Proxy.Origins = slices.Clone(c.Proxy.Origins)
	for i := range c.Proxy.Origins {
		o := &c.Proxy.Origins[i]
		o.Servers, o.TLS = sorted(o.Servers), o.TLS.common()
	}
	c.Proxy.Origins = sorted(c.Proxy.Origins)
	return c
}

// common returns the settings without the paths of files.
func (c ServerTLS) common() ServerTLS {
	c.CA, c.Certificate, c.Key = isSet(c.CA), isSet(c.Certificate), isSet(c.Key)
	return c
}

// isSet stands for any value of a setting.
func isSet(value string) string {
	if value == "" {
		return ""
	}
	return "set"
}

// sorted returns a list whose order means nothing in one order.
func sorted[T any](list []T) []T {
	text := func(value T) string {
		encoded, _ := json.Marshal(value) // settings are texts, numbers, and what has texts
		return string(encoded)
	}
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b T) int { return cmp.Compare(text(a), text(b)) })
	return list
}
