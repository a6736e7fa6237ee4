package main

import (
	"context"
	"crypto/x509"
	"errors"
	"log/slog"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/config/source"
	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/internal/metrics"
	"github.com/urnd/urnd/internal/observe"
	"github.com/urnd/urnd/internal/redact"
	adminstatus "github.com/urnd/urnd/proxy/admin/status"
	"github.com/urnd/urnd/proxy/balance"
	"github.com/urnd/urnd/proxy/forward"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/resolver/ddds"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/health"
)

// wireStatus returns the function that returns the state of urnd for its page.
func wireStatus(
	c config.Config, r *resolution, s *service, certificates func() []*x509.Certificate, d dependencies,
) func(pages.Writer) adminstatus.State {
	sources := adminstatus.Sources{
		Version: buildText(), Started: d.started, Now: d.now,
		Health:   func() (unready, degraded []string) { return r.report(d.health.Report) },
		Warnings: sync.OnceValue(func() []string { return warningsOf(c, d) }), Certificates: certificates,
		Forms: d.metrics.Forms, Systems: d.metrics.Systems, Limits: r.limits.metrics,
		Caches:    func() []metrics.Cache { return observe.AllMetrics(r.caches) },
		Failing:   func() []adminstatus.Failing { return failing(c, r, s) },
		Servers:   func() []adminstatus.Server { return knownServers(c) },
		Stores:    func() []adminstatus.Store { return storesOf(c, r) },
		Errors:    func() []adminstatus.Record { return recordsOf(d) },
		Registry:  func() *adminstatus.Registry { return registryState(r) },
		Instances: func() []adminstatus.Instance { return machines(c, r) },
	}
	return sources.State
}

// warningsOf returns probable mistakes in a configuration.
func warningsOf(c config.Config, d dependencies) (all []string) {
	if d.warnings == nil {
		return nil
	}
	for _, warning := range d.warnings(c) {
		all = append(all, redact.URLs(warning.String()))
	}
	return all
}

// statusTimeout limits the time for which the page of the state waits for the store of the registry.
const statusTimeout = 2 * time.Second

// registryState returns the numbers of the registry, nil without a registry, or if it does not respond in
// time.
func registryState(r *resolution) *adminstatus.Registry {
	if r.registry == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), statusTimeout)
	defer cancel()
	head, err := r.registry.Head(ctx)
	if err != nil {
		return nil
	}
	var groups map[string]registry.Totals
	err = r.registry.Read(ctx, func(tx registry.Tx) error {
		groups, err = tx.Totals()
		return err
	})
	if err != nil {
		return nil
	}
	var t registry.Totals
	for _, group := range groups {
		t = t.Plus(group)
	}
	return &adminstatus.Registry{
		Changes: int64(head), Active: t.Active, Reserved: t.Reserved, Withdrawn: t.Withdrawn, Aliases: t.Aliases,
		Targets: t.Targets, Prefixes: t.Prefixes,
	}
}

// machines returns the known instances of the cluster: those that share caches with this one, and the one
// that checks targets.
func machines(c config.Config, r *resolution) []adminstatus.Instance {
	all := []adminstatus.Instance{{Name: instanceOf(c.Listen), Role: adminstatus.InstanceAnswers}}
	if r.level != nil {
		alone := r.level.Standalone()
		for _, name := range slices.Sorted(maps.Keys(alone)) {
			does := adminstatus.InstanceShares
			if alone[name] {
				does = adminstatus.InstanceStandalone
			}
			all = append(all, adminstatus.Instance{Role: does, Cache: name})
		}
	}
	if r.registry == nil || c.Registry.HealthInterval <= 0 {
		return all
	}
	ctx, cancel := context.WithTimeout(context.Background(), statusTimeout)
	defer cancel()
	_ = r.registry.Read(ctx, func(tx registry.Tx) error { // a failure is listed by failing
		held, err := tx.Lease(health.LeaseName)
		if err == nil && held.Holder != "" {
			all = append(all, adminstatus.Instance{
				Name: held.Holder, Role: adminstatus.InstanceChecks,
				Until: held.Until,
			})
		}
		return err
	})
	return all
}

// recordsOf returns the warnings and errors of the log.
func recordsOf(d dependencies) (all []adminstatus.Record) {
	for _, f := range d.recent.Records() {
		all = append(all, adminstatus.Record{
			Error: f.Level >= slog.LevelError, First: f.First, Last: f.Last, Message: f.Message,
			Attributes: f.Attributes, Count: f.Count, Others: f.Others,
		})
	}
	return all
}

// failing returns the currently failing servers, without passwords.
func failing(c config.Config, r *resolution, s *service) (all []adminstatus.Failing) {
	critical := func(place string, is adminstatus.MessageID) adminstatus.Failing {
		return adminstatus.Failing{
			Server:   adminstatus.Server{Name: placeOf(place), Role: is},
			Severity: adminstatus.Critical,
		}
	}
	if r.registry != nil {
		for _, failure := range r.registry.Failures() {
			f := critical(c.Registry.Store, adminstatus.RoleRegistry)
			f.Detail = redact.URLs(failure)
			all = append(all, f)
		}
	}
	if r.level != nil && !r.level.Stats().Used {
		f := critical(c.Cache.Shared, adminstatus.RoleSharedCache)
		f.Reason = adminstatus.ReasonSilent
		all = append(all, f)
	}
	for _, kind := range append(r.avoided[:len(r.avoided):len(r.avoided)], avoidance{origin, false, s.Avoided}) {
		is := [...]adminstatus.MessageID{
			dnsServer: adminstatus.RoleDNS, resolutionServer: adminstatus.RoleTHTTP,
			directoryAgent: adminstatus.RoleSLP, origin: adminstatus.RoleOrigin,
		}[kind.is]
		severity := adminstatus.Warning
		if kind.needed {
			severity = adminstatus.Critical
		}
		for _, server := range kind.list() {
			f := adminstatus.Failing{
				Server: adminstatus.Server{Name: redact.URLs(server.Server), Role: is},
				Until:  server.Until, Severity: severity,
			}
			if f.Reason = reasonOf(server.Err); f.Reason == "" {
				f.Detail = redact.URLs(server.Err.Error())
			}
			all = append(all, f)
		}
	}
	for _, pool := range s.pools {
		for _, server := range pool.Status() {
			if server.State == balance.Down {
				all = append(all, adminstatus.Failing{
					Server: adminstatus.Server{Name: server.URL, Role: adminstatus.RoleSite},
					Detail: redact.URLs(server.Reason), Severity: adminstatus.Warning,
				})
			}
		}
	}
	if sweep, _, ok := s.checks.Sweep(); ok && sweep.States[health.Unhealthy] > 0 {
		all = append(all, adminstatus.Failing{
			Server: adminstatus.Server{Role: adminstatus.RoleDeadTargets}, Count: int(sweep.States[health.Unhealthy]),
			Reason: adminstatus.ReasonDead, Severity: adminstatus.Warning,
		})
	}
	return all
}

// reasonOf returns the message identifier of the reason why a server is avoided, "" if only the error
// describes it.
func reasonOf(err error) adminstatus.MessageID {
	switch {
	case errors.Is(err, ddds.ErrSilent):
		return adminstatus.ReasonSilent
	case errors.Is(err, forward.ErrUnconnectable):
		return adminstatus.ReasonUnconnectable
	case errors.Is(err, forward.ErrUnanswered):
		return adminstatus.ReasonUnanswered
	default:
		return ""
	}
}

// knownServers returns the servers of a configuration whose failures are known, with the names of failing. It
// excludes upstream proxies: their failures are attributed to the origins behind them.
func knownServers(c config.Config) (all []adminstatus.Server) {
	add := func(is adminstatus.MessageID, name string) {
		if server := (adminstatus.Server{Name: redact.URLs(name), Role: is}); name != "" &&
			!slices.Contains(all, server) {
			all = append(all, server)
		}
	}
	for _, site := range c.Proxy.Sites {
		for _, server := range site.Servers {
			add(adminstatus.RoleSite, forward.ServerOf(server))
		}
	}
	byNamespace := c.THTTPServers()
	for _, nid := range slices.Sorted(maps.Keys(byNamespace)) {
		for _, server := range byNamespace[nid] {
			add(adminstatus.RoleTHTTP, server)
		}
	}
	if _, isGroup := c.SLP.Group(); !isGroup {
		for _, agent := range c.SLP.Agents {
			add(adminstatus.RoleSLP, agent.String())
		}
	}
	for _, server := range dnsServers(c.DNS) {
		add(adminstatus.RoleDNS, ddds.Server{Address: server.AddrPort.String(), TLS: server.TLS}.String())
	}
	return all
}

// storesOf returns the places where urnd stores data.
func storesOf(c config.Config, r *resolution) (all []adminstatus.Store) {
	if r.registry != nil {
		store := adminstatus.Store{
			Kind: adminstatus.StoreRegistry, Location: placeOf(c.Registry.Store), Content: adminstatus.ContentAnswers,
			Size: -1, Free: -1,
		}
		if path, ok := cli.StoreFile(c.Registry.Store); ok {
			store.Size, store.Free = sizeOf(path, path+"-wal"), freeOf(path)
		}
		if len(r.registry.Failures()) > 0 {
			store.Content, store.Severity = adminstatus.ContentFailing, adminstatus.Critical
		}
		all = append(all, store)
	}
	if r.level != nil {
		store := adminstatus.Store{
			Kind: adminstatus.StoreShared, Location: placeOf(c.Cache.Shared),
			Content: adminstatus.ContentAnswers, Size: -1, Free: -1,
		}
		alone := r.level.Standalone()
		maps.DeleteFunc(alone, func(_ string, is bool) bool { return !is })
		switch {
		case !r.level.Stats().Used:
			store.Content, store.Severity = adminstatus.ReasonSilent, adminstatus.Critical
		case len(alone) > 0:
			store.Content, store.Values = adminstatus.ContentStandalone,
				[]any{"Caches", strings.Join(slices.Sorted(maps.Keys(alone)), ", ")}
			store.Severity = adminstatus.Warning
		}
		all = append(all, store)
	}
	for _, cache := range r.caches {
		if disk, ok := cache.(observe.Disk); ok {
			held, directory := disk.Stats(), diskDirectory(c.Cache)
			store := adminstatus.Store{
				Kind: adminstatus.StoreDisk, Location: directory, Content: adminstatus.ContentUsed, Size: held.Bytes,
				Limit: held.MaxBytes,
				Free:  freeOf(filepath.Join(directory, "x")),
			}
			if held.Failures+held.Corrupt > 0 {
				store.Content, store.Values = adminstatus.ContentDamaged,
					[]any{"Failures", held.Failures, "Damaged", held.Corrupt}
				store.Severity = adminstatus.Warning
			}
			all = append(all, store)
		}
	}
	if path := snapshotPath(c.Cache); path != "" && r.level == nil {
		store := adminstatus.Store{
			Kind: adminstatus.StoreSaved, Location: path, Content: adminstatus.ContentUnsaved,
			Size: sizeOf(path), Free: freeOf(path),
		}
		if info, err := os.Stat(path); err == nil {
			store.Content, store.Values = adminstatus.ContentSaved,
				[]any{"Time", info.ModTime().UTC().Format(time.DateTime)}
		}
		all = append(all, store)
	}
	for _, l := range c.Log.Access {
		if l.File != "" {
			all = append(all, adminstatus.Store{
				Kind: adminstatus.StoreLog, Location: l.File, Content: adminstatus.ContentUsed, Size: sizeOf(l.File),
				Free: freeOf(l.File),
			})
		}
	}
	return all
}

// placeOf returns the location of a store, without user and password.
func placeOf(store string) string {
	u, err := url.Parse(store)
	if err != nil || u.Host == "" {
		return store
	}
	return u.Scheme + "://" + u.Host + u.Path
}

// sizeOf returns the sum of the file sizes in bytes, negative if no file exists.
func sizeOf(paths ...string) int64 {
	all := int64(-1)
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil {
			all = max(all, 0) + info.Size()
		}
	}
	return all
}

// freeOf returns the free bytes on the file system of a file, negative if unknown.
func freeOf(path string) int64 {
	free, ok := observe.FreeSpace(path)
	if !ok {
		return -1
	}
	return free
}

// valuesOf returns the settings in force with their origins for the page of the configuration, by section, in
// the order of the file.
func valuesOf(c config.Config, origins config.Origins) []adminstatus.Section {
	docs := make(map[string]string)
	for _, s := range config.Settings() {
		if s.IsSection() {
			docs[s.Path] = s.Doc
		}
	}
	defaults := make(map[string]string)
	for _, v := range config.Default().Values(config.Origins{}) {
		defaults[v.Path] = v.Text
	}
	var all []adminstatus.Section
	for _, v := range c.Values(origins) {
		name, _, _ := strings.Cut(v.Path, ".")
		if len(all) == 0 || all[len(all)-1].Name != name {
			all = append(all, adminstatus.Section{Name: name, Doc: docs[name]})
		}
		s := adminstatus.Setting{
			Path: v.Path, Doc: v.Doc, Value: redact.URLs(v.Text), Origin: originOf(v),
			IsSet: !v.IsDefault || v.Origin.Kind != config.FromDefault,
		}
		if !v.IsDefault {
			s.Default = defaults[v.Path]
		}
		last := &all[len(all)-1]
		last.Settings = append(last.Settings, s.Cut())
	}
	return all
}

// originOf returns the origin of a value for the page of the configuration.
func originOf(v config.Value) adminstatus.Origin {
	o := adminstatus.Origin{From: adminstatus.FromDefault, Name: v.Origin.Name, Credential: v.Credential}
	switch v.Origin.Kind {
	case config.FromDefault:
	case config.FromFile:
		o.From, o.Name = adminstatus.FromFile, source.Where(v.Origin.Name, v.Origin.Position)
	case config.FromEnvironment:
		o.From = adminstatus.FromEnvironment
	case config.FromFlag:
		o.From = adminstatus.FromFlag
	}
	return o
}

// originsDocument returns the settings in force with their origins, for JSON.
func originsDocument(c config.Config, origins config.Origins) any {
	type setting struct {
		Setting    string `json:"setting"`
		Value      any    `json:"value"`
		IsDefault  bool   `json:"is_default"`
		Origin     string `json:"origin"`
		Name       string `json:"name,omitempty"`
		Line       int    `json:"line,omitempty"`
		Credential string `json:"credential,omitempty"`
	}
	all := []setting{}
	for _, v := range c.Values(origins) {
		all = append(all, setting{
			v.Path, v.Value, v.IsDefault, v.Origin.Kind.String(), v.Origin.Name, v.Origin.Line,
			v.Credential,
		})
	}
	return map[string]any{"settings": all}
}
