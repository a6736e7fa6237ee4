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
	"github.com/urnd/urnd/proxy/admin"
	adminstatus "github.com/urnd/urnd/proxy/admin/status"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/resolver/registry/health"
)

// wireStatus returns what the pages for operators are made of, and takes samples of it as long as the configuration is in force.
func wireStatus(c config.Config, r *resolution, s *service, certificate func() *x509.Certificate, d dependencies) admin.Status {
	of := adminstatus.Sources{
		Version: buildText(), Now: d.now, Health: func() (unready, degraded []string) { return r.report(d.health.Report) }, Certificate: certificate, Forms: d.metrics.Forms,
		Systems: d.metrics.Systems, Limits: r.limits.metrics, Trend: d.trend,
		Caches:  func() []metrics.Cache { return observe.All(r.caches) },
		Failing: func() []adminstatus.Failing { return failing(c, r, s) },
		Stores:  func() []adminstatus.Store { return storesOf(c, r) },
		Faults:  func() []adminstatus.Fault { return faultsOf(d) },
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	r.starters = append(r.starters, func() { running.Go(func() { sample(ctx, of) }) })
	s.closers = append(s.closers, func() {
		cancel()
		running.Wait()
	})
	return admin.Status{
		State: of.State, Faults: of.FaultTables, Ticks: ticks,
		Deadline: func(after time.Duration) time.Time { return time.Now().Add(after) },
	}
}

// sample takes samples until ctx ends.
func sample(ctx context.Context, of adminstatus.Sources) {
	every, stop := ticks(adminstatus.SampleEvery)
	defer stop()
	for {
		of.Sample()
		select {
		case <-ctx.Done():
			return
		case <-every:
		}
	}
}

// faultsOf returns what the log has that is at least a warning.
func faultsOf(d dependencies) (all []adminstatus.Fault) {
	for _, f := range d.recent.Faults() {
		all = append(all, adminstatus.Fault{
			IsError: f.Level >= slog.LevelError, First: f.First, Last: f.Last, Message: f.Message, Attributes: f.Attributes, Count: f.Count, Others: f.Others,
		})
	}
	return all
}

// failing returns the servers that fail now, without passwords.
func failing(c config.Config, r *resolution, s *service) (all []adminstatus.Failing) {
	if r.registry != nil {
		for _, fault := range r.registry.Faults() {
			all = append(all, adminstatus.Failing{Server: placeOf(c.Registry.Store), Is: "registry", Why: redact.URLs(fault), Severity: pages.Critical})
		}
	}
	if r.level != nil && !r.level.Stats().Used {
		all = append(all, adminstatus.Failing{Server: placeOf(c.Cache.Shared), Is: "shared level of caches", Why: "it does not answer", Severity: pages.Critical})
	}
	for _, kind := range append(r.avoided[:len(r.avoided):len(r.avoided)], avoidance{"origin or gateway", false, s.Avoided}) {
		severity := pages.Warning
		if kind.isNeeded {
			severity = pages.Critical
		}
		for _, server := range kind.list(adminstatus.MostFailing) {
			all = append(all, adminstatus.Failing{Server: redact.URLs(server.Server), Is: kind.is, Why: redact.URLs(server.Why), Until: server.Until, Severity: severity})
		}
	}
	if sweep, _, ok := s.checks.Sweep(); ok && sweep.States[health.Unhealthy] > 0 {
		all = append(all, adminstatus.Failing{
			Server: fmt.Sprintf("%d targets of the registry", sweep.States[health.Unhealthy]), Is: "dead in checks", Why: "see urnd registry health", Severity: pages.Warning,
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
			store.State, store.Severity = "it does not answer, or takes no changes", pages.Critical
		}
		all = append(all, store)
	}
	if r.level != nil {
		store := adminstatus.Store{Name: "shared level of caches", Place: placeOf(c.Cache.Shared), State: "it answers", Size: -1, Free: -1}
		alone := r.level.Alone()
		maps.DeleteFunc(alone, func(_ string, is bool) bool { return !is })
		switch {
		case !r.level.Stats().Used:
			store.State, store.Severity = "it does not answer", pages.Critical
		case len(alone) > 0:
			store.State = "it answers; no other urnd shares " + strings.Join(slices.Sorted(maps.Keys(alone)), ", ")
			store.Severity = pages.Warning
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
				store.State, store.Severity = fmt.Sprintf("in use; %d faults, %d damaged files", held.Faults, held.Corrupt), pages.Warning
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

// sizeOf returns the octets in files, negative where none of them is there.
func sizeOf(paths ...string) int64 {
	all := int64(-1)
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil {
			all = max(all, 0) + info.Size()
		}
	}
	return all
}

// freeOf returns the octets that are free for a file, negative where that is not known.
func freeOf(path string) int64 {
	free, ok := observe.FreeRoom(path)
	if !ok {
		return -1
	}
	return free
}

// valuesOf returns the settings in force for the page of them, with their origins, in the order of the file, by sections.
func valuesOf(c config.Config, origins config.Origins) []pages.Section {
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
	var all []pages.Section
	for _, v := range c.Values(origins) {
		name, _, _ := strings.Cut(v.Path, ".")
		if len(all) == 0 || all[len(all)-1].Name != name {
			all = append(all, pages.Section{Name: name, Doc: docs[name]})
		}
		s := pages.Setting{Path: v.Path, Doc: v.Doc, Value: redact.URLs(v.Text), Origin: v.Source(), IsSet: !v.IsDefault || v.Origin.Kind != config.FromDefault}
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
