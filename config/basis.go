package config

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Contents is a set of caches and stores that survive a reload, or a restart, as long as the settings that they
// depend on do not change. The zero value means undeclared.
type Contents uint8

// The contents that a setting can invalidate.
const (
	Records   Contents = 1 << iota // cache of DNS record sets
	Answers                        // cache of answers
	Snapshot                       // answers that are saved, and used after a restart
	Responses                      // cache of HTTP responses in memory
	Disk                           // cache of HTTP responses on disk, which is used after a restart
	Store                          // open store of the registry, with its counters
	Nothing                        // invalidates nothing
)

// Basis returns a hash of the settings that contents depend on. If it is equal for two configurations, contents
// made under one may be used under the other, even in another process.
func (c Config) Basis(of Contents) string {
	values, sum := leaves(c), sha256.New()
	for _, s := range Settings() {
		if s.invalidates(of) && !s.IsSection() {
			value := ToPlain(withTables(values[s.Path]))
			s.forget(value)
			fmt.Fprintf(sum, "%s %#v\n", s.Path, value) // %#v quotes texts
		}
	}
	const enough = 16 // bytes
	return hex.EncodeToString(sum.Sum(nil)[:enough])
}

// invalidates reports whether a change of s invalidates the contents; an undeclared setting invalidates all.
func (s Setting) invalidates(of Contents) bool { return s.Invalidates == 0 || s.Invalidates&of != 0 }

// forget removes the settings that invalidate nothing from the plain tables of a list.
func (s Setting) forget(value any) {
	tables, _ := value.([]any)
	for _, e := range s.Elements {
		if e.Invalidates != Nothing {
			continue
		}
		for _, table := range tables {
			if of, ok := table.(map[string]any); ok {
				delete(of, e.Path[strings.LastIndexByte(e.Path, '.')+1:])
			}
		}
	}
}

// storageRules is the version of the rules for stored contents: contents stored under another version are not
// used.
const storageRules = 4

// DiskBasis identifies the settings that responses on disk depend on, and the version of the storage rules.
func (c Config) DiskBasis() string { return fmt.Sprintf("%d-%s", storageRules, c.Basis(Disk)) }

// SharedBases identifies the settings that answers and DNS records, and responses, depend on. Instances with
// equal values share them. It ignores what may differ between instances: how often, for how long and in which
// order servers are queried, passwords, and limits.
func (c Config) SharedBases() (answers, responses string) {
	c = c.common()
	return c.Basis(Snapshot), c.DiskBasis()
}

// common returns the configuration without what may differ between instances that share contents.
func (c Config) common() Config {
	// Answers of the registry are not shared, but the fact that it is not asked for a name is.
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
	c.Cache.UnkeyedFields, c.File.Roots = sorted(c.Cache.UnkeyedFields), sorted(c.File.Roots)
	c.Gateways.AllowPorts, c.Gateways.DenyPorts = sorted(c.Gateways.AllowPorts), sorted(c.Gateways.DenyPorts)
	c.News.Servers, c.News.Login = sorted(c.News.Servers), isSet(c.News.Login)
	c.Proxy.Upstreams = slices.Clone(c.Proxy.Upstreams)
	for i := range c.Proxy.Upstreams {
		u := &c.Proxy.Upstreams[i]
		u.Password, u.TLS = isSet(u.Password), u.TLS.common()
	}
	c.Proxy.Sites = slices.Clone(c.Proxy.Sites)
	for i := range c.Proxy.Sites {
		o := &c.Proxy.Sites[i]
		o.Servers, o.TLS = sorted(o.Servers), o.TLS.common()
	}
	c.Proxy.Sites = sorted(c.Proxy.Sites)
	return c
}

// common returns the settings without the paths of files.
func (c ServerTLS) common() ServerTLS {
	c.CA, c.Certificate, c.Key = isSet(c.CA), isSet(c.Certificate), isSet(c.Key)
	return c
}

// isSet returns a placeholder for any non-empty value.
func isSet(value string) string {
	if value == "" {
		return ""
	}
	return "set"
}

// sorted returns a sorted copy of a list whose order is irrelevant.
func sorted[T any](list []T) []T {
	text := func(value T) string {
		encoded, _ := json.Marshal(value) // settings consist of texts, numbers and structs of them, which cannot fail
		return string(encoded)
	}
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b T) int { return cmp.Compare(text(a), text(b)) })
	return list
}

// Hash returns a hash of the settings that are common to all instances of a service, so that instances with the
// same configuration have the same hash. Addresses, directories and access logs are ignored, because they may
// differ per instance; so are secrets, which are in files.
func (c Config) Hash() string {
	c.Listen = Listen{}
	c.Cache.Directory, c.Cache.DiskDirectory = "", ""
	c.Log.Access = nil
	text, err := json.Marshal(ToPlain(c.Map())) // keys are sorted
	if err != nil {
		return "unknown: " + err.Error()
	}
	sum := sha256.Sum256(text)
	const enough = 8 // bytes: enough to tell configurations apart
	return hex.EncodeToString(sum[:enough])
}

// maxChange is the maximum length in bytes of the text of a value in Changes.
const maxChange = 60

// Changes returns the settings that differ between two configurations, with both values, or "no setting". Files
// that settings name may have changed nevertheless.
func Changes(before, after Config) []string {
	from, to := leaves(before), leaves(after)
	var changes []string
	for _, s := range Settings() {
		a, ok := from[s.Path]
		if b := to[s.Path]; !ok || reflect.DeepEqual(a, b) {
			continue
		}
		old, now := before.Text(s.Path), after.Text(s.Path)
		if len(old) > maxChange || len(now) > maxChange {
			changes = append(changes, s.Path)
			continue
		}
		changes = append(changes, fmt.Sprintf("%s: %s -> %s", s.Path, old, now))
	}
	if len(changes) == 0 {
		return []string{"no setting"}
	}
	return changes
}
