package main

import (
	"context"
	"crypto/x509"
	"fmt"
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
	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/internal/metrics"
	"github.com/urnd/urnd/internal/observe"
	"github.com/urnd/urnd/internal/redact"
	adminstatus "github.com/urnd/urnd/proxy/admin/status"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/health"
)

// wireStatus returns what shows the state of urnd.
func wireStatus(c config.Config, r *resolution, s *service, certificate func() *x509.Certificate, d dependencies) func() adminstatus.State {
	sources := adminstatus.Sources{
		Version: buildText(), Started: d.started, Now: d.now, Health: func() (unready, degraded []string) { return r.report(d.health.Report) },
		Warnings: sync.OnceValue(func() []string { return warningsOf(c, d) }), Certificate: certificate, Forms: d.metrics.Forms,
		Systems: d.metrics.Systems, Limits: r.limits.metrics,
		Caches:   func() []metrics.Cache { return observe.All(r.caches) },
		Failing:  func() []adminstatus.Failing { return failing(c, r, s) },
		Stores:   func() []adminstatus.Store { return storesOf(c, r) },
		Errors:   func() []adminstatus.Record { return recordsOf(d) },
		Registry: func() *adminstatus.Registry { return registryState(r) },
		Machines: func() []adminstatus.Machine { return machines(c, r) },
	}
	return sources.State
}

// warningsOf returns what is probably not meant in a configuration.
func warningsOf(c config.Config, d dependencies) (all []string) {
	if d.warnings == nil {
		return nil
	}
	for _, warning := range d.warnings(c) {
		all = append(all, redact.URLs(warning.String()))
	}
	return all
}

// statusTimeout bounds the time for which the page of the state waits for the store of the registry.
const statusTimeout = 2 * time.Second

// registryState returns what the registry has, nil where there is none, or it does not say so in time.
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
		Changes: int64(head), Active: t.Active, Reserved: t.Reserved, Withdrawn: t.Withdrawn, Aliases: t.Aliases, Targets: t.Targets, Prefixes: t.Prefixes,
	}
}

// machines returns those that run urnd together, as far as this one knows them: it shares caches with others, or one of them checks targets.
func machines(c config.Config, r *resolution) []adminstatus.Machine {
	all := []adminstatus.Machine{{Name: instanceOf(c.Listen), Does: "this one: it answers"}}
	if r.level != nil {
		alone := r.level.Alone()
		for _, name := range slices.Sorted(maps.Keys(alone)) {
			other := adminstatus.Machine{Name: "others", Does: "share " + name + " with this one"}
			if alone[name] {
				other = adminstatus.Machine{Name: "no other", Does: "shares " + name + " with this one"}
			}
			all = append(all, other)
		}
	}
	if r.registry == nil || c.Registry.HealthInterval <= 0 {
		return all
	}
	ctx, cancel := context.WithTimeout(context.Background(), statusTimeout)
	defer cancel()
	_ = r.registry.Read(ctx, func(tx registry.Tx) error { // where it fails, it is among what fails now
		held, err := tx.Lease(health.LeaseName)
		if err == nil && held.Holder != "" {
			all = append(all, adminstatus.Machine{Name: held.Holder, Does: "looks whether targets answer", Until: held.Until})
		}
		return err
	})
	return all
}

// recordsOf returns what the log has that is at least a warning.
func recordsOf(d dependencies) (all []adminstatus.Record) {
	for _, f := range d.recent.Faults() {
		all = append(all, adminstatus.Record{
			Error: f.Level >= slog.LevelError, First: f.First, Last: f.Last, Message: f.Message, Attributes: f.Attributes, Count: f.Count, Others: f.Others,
		})
	}
	return all
}

// failing returns the servers that fail now, without passwords.
func failing(c config.Config, r *resolution, s *service) (all []adminstatus.Failing) {
	if r.registry != nil {
		for _, fault := range r.registry.Faults() {
			all = append(all, adminstatus.Failing{Server: placeOf(c.Registry.Store), Is: "registry", Why: redact.URLs(fault), Severity: adminstatus.Critical})
		}
	}
	if r.level != nil && !r.level.Stats().Used {
		all = append(all, adminstatus.Failing{Server: placeOf(c.Cache.Shared), Is: "shared level of caches", Why: "it does not answer", Severity: adminstatus.Critical})
	}
	for _, kind := range append(r.avoided[:len(r.avoided):len(r.avoided)], avoidance{"origin or gateway", false, s.Avoided}) {
		severity := adminstatus.Warning
		if kind.isNeeded {
			severity = adminstatus.Critical
		}
		for _, server := range kind.list(adminstatus.MostFailing) {
			all = append(all, adminstatus.Failing{Server: redact.URLs(server.Server), Is: kind.is, Why: redact.URLs(server.Why), Until: server.Until, Severity: severity})
		}
	}
	if sweep, _, ok := s.checks.Sweep(); ok && sweep.States[health.Unhealthy] > 0 {
		all = append(all, adminstatus.Failing{
			Server: fmt.Sprintf("%d targets of the registry", sweep.States[health.Unhealthy]), Is: "dead in checks", Why: "see urnd registry health", Severity: adminstatus.Warning,
		})
	}
	return all
}

// storesOf returns where urnd keeps what it keeps.
func storesOf(c config.Config, r *resolution) (all []adminstatus.Store) {
	if r.registry != nil {
		store := adminstatus.Store{Name: "registry", Place: placeOf(c.Registry.Store), State: "it answers", Size: -1, Free: -1}
		if path, ok := cli.StoreFile(c.Registry.Store); ok {
			store.Size, store.Free = sizeOf(path, path+"-wal"), freeOf(path)
		}
		if len(r.registry.Faults()) > 0 {
			store.State, store.Severity = "it does not answer, or takes no changes", adminstatus.Critical
		}
		all = append(all, store)
	}
	if r.level != nil {
		store := adminstatus.Store{Name: "shared level of caches", Place: placeOf(c.Cache.Shared), State: "it answers", Size: -1, Free: -1}
		alone := r.level.Alone()
		maps.DeleteFunc(alone, func(_ string, is bool) bool { return !is })
		switch {
		case !r.level.Stats().Used:
			store.State, store.Severity = "it does not answer", adminstatus.Critical
		case len(alone) > 0:
			store.State = "it answers; no other urnd shares " + strings.Join(slices.Sorted(maps.Keys(alone)), ", ")
			store.Severity = adminstatus.Warning
		}
		all = append(all, store)
	}
	for _, cache := range r.caches {
		if disk, ok := cache.(observe.Disk); ok {
			held, directory := disk.Stats(), diskDirectory(c.Cache)
			store := adminstatus.Store{
				Name: "responses on disk", Place: directory, State: "in use", Size: held.Bytes, Most: held.MaxBytes, Free: freeOf(filepath.Join(directory, "x")),
			}
			if held.Faults+held.Corrupt > 0 {
				store.State, store.Severity = fmt.Sprintf("in use; %d faults, %d damaged files", held.Faults, held.Corrupt), adminstatus.Warning
			}
			all = append(all, store)
		}
	}
	if path := snapshotPath(c.Cache); path != "" && r.level == nil {
		all = append(all, adminstatus.Store{Name: "saved answers", Place: path, State: savedState(path), Size: sizeOf(path), Free: freeOf(path)})
	}
	if c.Log.Access != "off" && c.Log.AccessFile != "" {
		all = append(all, adminstatus.Store{Name: "access log", Place: c.Log.AccessFile, State: "in use", Size: sizeOf(c.Log.AccessFile), Free: freeOf(c.Log.AccessFile)})
	}
	return all
}

// savedState tells when answers were saved last.
func savedState(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return "not saved yet: it is when urnd stops"
	}
	return "saved at " + info.ModTime().UTC().Format(time.DateTime)
}

// placeOf returns where a store is, without user and password.
func placeOf(store string) string {
	u, err := url.Parse(store)
	if err != nil || u.Host == "" {
		return store
	}
	return u.Scheme + "://" + u.Host + u.Path
}

// sizeOf returns the bytes in files, negative where none of them is there.
func sizeOf(paths ...string) int64 {
	all := int64(-1)
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil {
			all = max(all, 0) + info.Size()
		}
	}
	return all
}

// freeOf returns the bytes that are free for a file, negative where that is not known.
func freeOf(path string) int64 {
	free, ok := observe.FreeRoom(path)
	if !ok {
		return -1
	}
	return free
}

// valuesOf returns the settings in force for the page of them, with their origins, in the order of the file, by sections.
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
		s := adminstatus.Setting{Path: v.Path, Doc: v.Doc, Value: redact.URLs(v.Text), Origin: v.Source(), IsSet: !v.IsDefault || v.Origin.Kind != config.FromDefault}
		if !v.IsDefault {
			s.Default = defaults[v.Path]
		}
		last := &all[len(all)-1]
		last.Settings = append(last.Settings, s.Cut())
	}
	return all
}

// originsDocument returns the settings in force with their origins, for programs.
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
		all = append(all, setting{v.Path, v.Value, v.IsDefault, v.Origin.Kind.String(), v.Origin.Name, v.Origin.Line, v.Credential})
	}
	return map[string]any{"settings": all}
}
