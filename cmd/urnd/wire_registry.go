package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/urnd/urnd/config"
	cliregistry "github.com/urnd/urnd/internal/cli/registry"
	"github.com/urnd/urnd/internal/cli/store"
	"github.com/urnd/urnd/internal/redact"
	"github.com/urnd/urnd/internal/shared"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/audit"
	"github.com/urnd/urnd/resolver/registry/count"
	"github.com/urnd/urnd/resolver/registry/follow"
	"github.com/urnd/urnd/resolver/registry/health"
	"github.com/urnd/urnd/resolver/registry/lookup"
	schemehttp "github.com/urnd/urnd/resolver/scheme/http"
	"github.com/urnd/urnd/systemd"
	"github.com/urnd/urnd/uri"
	"github.com/urnd/urnd/urnns"
)

// stateDirectory returns the directory for persistent state, "" for none.
func stateDirectory(c config.Cache) string {
	if c.Directory != "" {
		return c.Directory
	}
	return systemd.StateDirectory()
}

// checkLostRegistry returns an error if the file of the registry is missing although it has existed.
func checkLostRegistry(c config.Config) error {
	return store.CheckLost(c.Registry, stateDirectory(c.Cache))
}

// newRegistry returns the registry in a store, whose changes are logged; log may be nil.
func newRegistry(
	store registry.Store, names resolver.Names, now func() time.Time, log *slog.Logger,
) *registry.Registry {
	only := names.RegistryPrefixes()
	if only == nil {
		names.RegisteredPrefixes = resolver.AllPrefixes() // all registered names are known
	}
	return registry.New(registry.Config{
		Store: store, CanonicalPrefix: names.CanonicalPrefix, Suggest: names.DidYouMean, Now: now,
		Warning: warningOf(names), CheckLevel: names.CheckLevel, CheckDigits: checkDigits(), OwnedPrefixes: only,
		Audit: audit.LogChanges(log),
		Canonical: func(text string) (string, error) {
			q, err := resolver.ParseQuery(text, resolver.I2L)
			if err == nil {
				q, err = names.Canonical(names.Identify(q))
			}
			return q.URI.String(), err
		},
	})
}

// warningOf returns the function that returns the warning about a canonical name.
func warningOf(names resolver.Names) func(name string) error {
	return func(name string) error {
		u, err := uri.Parse(name)
		if err != nil || !u.IsURN() {
			return nil //nolint:nilerr // only names of namespaces with rules are checked
		}
		v, err := u.URN()
		if err != nil {
			return nil //nolint:nilerr // as above
		}
		return names.Set.Warning(v)
	}
}

// wireRegistry sets the registry of a configuration, if there is one.
func wireRegistry(r *resolution, c config.Config, d resolverDependencies) error {
	if c.Registry.Store == "" {
		return nil
	}
	var err error
	make := func() (*follow.Store, func(), error) {
		made := follow.New(follow.Config{
			Open:   store.Opener(c.Registry, stateDirectory(c.Cache), d.registryMade),
			Report: d.registryState, After: time.After,
		})
		return made, made.Stop, nil
	}
	r.registry, err = shared.Reuse(&r.shared, d.previous.reusable(), "registry", c.Basis(config.Store), make)
	if err != nil {
		return err
	}
	r.starters = append(r.starters, r.registry.Start)
	r.readiness = append(r.readiness, r.registry.Readiness)
	if r.names.RegisteredPrefixes != nil {
		r.names.RegisteredPrefixes = r.registry.Prefixes()
	}
	r.own = lookup.New(lookup.Config{
		Store: r.registry, TTL: c.Registry.TTL, ClientTTL: c.Registry.ClientTTL, SharedTTL: c.CDN.TTL,
		OwnedPrefixes: r.names.RegistryPrefixes(), Hosts: c.Registry.HostPrefixes(), Levels: r.names.Levels,
		Redirect: redirectStatus(c.Registry), Now: d.now,
	})
	return nil
}

// opening returns the wait for the registry, by which requests for its names wait while it is opened for the
// first time.
func (r *resolution) opening(d resolverDependencies) follow.Opening {
	only := r.names.RegistryPrefixes()
	return follow.Opening{
		Store: r.registry, Limit: r.limits.opening, Stopping: d.stopping,
		Owned: func(q resolver.Query) bool { return registry.Owned(only, registry.Name(q.URI.String())) },
	}
}

// redirectStatus returns the redirect status of registry.redirect, 0 for the default.
func redirectStatus(c config.Registry) int {
	if c.Redirect == http.StatusFound {
		return 0
	}
	return c.Redirect
}

// wireCounts returns the counter of the registry's answers, nil if it is disabled. Counts outlive a reload,
// and are written before their store is closed.
func wireCounts(
	r *resolution, c config.Config, d resolverDependencies, log *slog.Logger,
) (func(string, *resolver.Record), error) {
	if r.registry == nil || !c.Registry.Count {
		return nil, nil //nolint:nilnil // counting is disabled
	}
	opened := r.registry // not r, which the counts outlive
	counts, err := shared.Reuse(&r.shared, d.previous.reusable(), "counts", c.Basis(config.Store),
		func() (*count.Recorder, func(), error) {
			made := count.NewRecorder(opened, d.now)
			return made, made.Close, nil
		})
	if err != nil {
		return nil, err
	}
	r.starters = append(r.starters, func() { counts.Start(log) })
	return counts.Record, nil
}

// openRegistry opens the registry, if there is one, for a command. If it cannot be opened, its names fail,
// and the reason is written to messages. A missing file is not created: it would be owned by the user of the
// command instead of that of the daemon.
func (r *resolution) openRegistry(ctx context.Context, messages io.Writer) {
	if r.registry == nil {
		return
	}
	if err := r.registry.OpenSync(ctx); err != nil {
		fmt.Fprintln(messages, "urnd:", redact.URLs(err.Error()))
	}
}

// invalidate removes the cached answers for changed keys of the registry.
func (r *resolution) invalidate(keys []registry.Key) {
	r.own.Invalidate(keys)
	items := make(map[string]bool)
	for _, key := range keys {
		if item := r.names.PrimaryKey(key.Name); item != "" && key.Kind == registry.KindName {
			items[item] = true
			continue
		}
		if selection, ok := key.Selection(); ok {
			r.answers.Purge(selection, false)
			r.reportPurged(selection)
		}
	}
	r.invalidatePrimaryKeys(items)
}

// invalidatePrimaryKeys removes the cached answers of identifiers in web addresses by the names of their items: each
// answer combines the entries of several levels. The cache is scanned once for all of them.
func (r *resolution) invalidatePrimaryKeys(items map[string]bool) {
	if len(items) == 0 {
		return
	}
	r.answers.PurgeAll(r.answers.Entries, func(key string) bool {
		name := cmp.Or(resolver.NameOfKey(key), key)
		return items[r.names.PrimaryKey(name)]
	}, false)
	for item := range items {
		u, err := uri.Parse(item)
		if err != nil {
			continue
		}
		r.reportPurged(resolver.Selection{Name: u})
		r.reportPurged(resolver.Selection{Prefix: item + "/"})
	}
}

// checkDigits returns the check digits of the numbers that a registry mints, by prefix.
func checkDigits() map[string]registry.CheckDigit {
	return map[string]registry.CheckDigit{
		"urn:isbn:": {Digits: urnns.DigitsISBN, Compute: urnns.CheckDigitISBN},
		"urn:issn:": {Digits: urnns.DigitsISSN, Compute: urnns.CheckDigitISSN},
	}
}

// ownNames returns the host names of this urnd, including that of the machine, with and without its domain.
func ownNames(c config.Listen) []string {
	machine, _ := os.Hostname() // without it, only the configured names
	short, _, _ := strings.Cut(machine, ".")
	return append([]string{machine, short}, c.Names...)
}

// registryWiring returns the wiring of the registry commands.
func registryWiring() cliregistry.Wiring {
	return cliregistry.Wiring{
		Names: namesOf, Resolve: openResolution, Open: store.Open, CheckLost: checkLostRegistry, Health: commandHealth,
		OwnNames: ownNames,
		New: func(store registry.Store, names resolver.Names, log *slog.Logger) *registry.Registry {
			return newRegistry(store, names, time.Now, log)
		},
	}
}

// wireHealth returns the health checks of targets, nil if they are disabled. They start with the
// configuration.
func wireHealth(c config.Config, r *resolution, d resolverDependencies, log *slog.Logger) *health.Background {
	if r.registry == nil || c.Registry.HealthInterval == 0 {
		return nil
	}
	settings, closeClient := healthConfig(c, r, r.registry, d)
	settings.Failed = func(err error) { log.Warn("registry target checks failed, retrying", "error", err) }
	checks := health.NewBackground(settings, r.registry.Opened(), closeClient)
	r.starters = append(r.starters, checks.Start)
	return checks
}

// healthConcurrency limits the concurrent requests of health checks. registry.health_rate limits their rate,
// and each server gets one at a time: a higher limit would only wait for more servers that do not respond.
const healthConcurrency = 16

// healthConfig returns the configuration of a checker of targets, with a client of its own that the caller
// must close.
func healthConfig(
	c config.Config, r *resolution, store registry.Store, d resolverDependencies,
) (settings health.Config, closeClient func()) {
	web := schemehttp.New(schemehttp.Config{
		Dial:          r.guard.WithIdleTimeout(c.Limits.OriginIdle),
		HeaderTimeout: c.Limits.OriginTimeout, MaxIdle: healthConcurrency, MaxIdlePerHost: 1, Now: d.now,
	})
	return health.Config{
		Store: store, Transport: web, Agent: healthAgent(c.Registry.HealthContact),
		Interval: c.Registry.HealthInterval, Rate: c.Registry.HealthRate,
		Concurrency: healthConcurrency, Pause: c.Registry.HealthPause,
		Timeout: c.Limits.ConnectTimeout + c.Limits.OriginTimeout, Holder: health.NewHolder(), Now: d.now,
		After:   time.After,
		Observe: func(o health.Outcome) { d.metrics.TargetCheck(string(o)) },
	}, web.Close
}

// commandHealth returns the configuration of a checker of targets for a command. The caller must call end
// when it is no longer needed.
func commandHealth(c config.Config, store registry.Store) (settings health.Config, end func(), err error) {
	d := newResolverDependencies()
	r, err := newResolution(c, d)
	if err != nil {
		return settings, nil, err
	}
	settings, closeClient := healthConfig(c, r, store, d)
	return settings, func() { closeClient(); r.close() }, nil
}

// healthAgent returns the User-Agent of health checks.
func healthAgent(contact string) string {
	return fmt.Sprintf("urnd-link-check/%s (+%s)", versionText(), contact)
}
