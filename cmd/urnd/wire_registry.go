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

// stateDirectory returns the directory for what urnd keeps, "" where there is none.
func stateDirectory(c config.Cache) string {
	if c.Directory != "" {
		return c.Directory
	}
	return systemd.StateDirectory()
}

// lostRegistry returns an error where the file of the registry is missing, and was there.
func lostRegistry(c config.Config) error { return store.Lost(c.Registry, stateDirectory(c.Cache)) }

// newRegistry returns the registry in a store, whose changes are logged; log may be nil.
func newRegistry(store registry.Store, names resolver.Names, now func() time.Time, log *slog.Logger) *registry.Registry {
	only := names.AskedFor()
	if only == nil {
		names.Known = resolver.AllBeginnings() // what is registered is known
	}
	return registry.New(registry.Config{
		Store: store, CanonicalPrefix: names.CanonicalPrefix, Suggest: names.Meant, Now: now,
		Doubt: doubtOf(names), Level: names.CheckLevel, CheckDigits: checkDigits(), Only: only,
		Audit: audit.Changes(log),
		Canonical: func(text string) (string, error) {
			q, err := resolver.ParseQuery(text, resolver.I2L)
			if err == nil {
				q, err = names.Canonical(names.Named(q))
			}
			return q.URI.String(), err
		},
	})
}

// doubtOf returns what is doubtful in a canonical name.
func doubtOf(names resolver.Names) func(name string) error {
	return func(name string) error {
		u, err := uri.Parse(name)
		if err != nil || !u.IsURN() {
			return nil //nolint:nilerr // only names of namespaces with rules are doubted
		}
		v, err := u.URN()
		if err != nil {
			return nil //nolint:nilerr // as above
		}
		return names.Set.Doubt(v)
	}
}

// wireRegistry makes the registry of a configuration, if there is one.
func wireRegistry(r *resolution, c config.Config, d resolverDependencies) error {
	if c.Registry.Store == "" {
		return nil
	}
	var err error
	make := func() (*follow.Store, func(), error) {
		made := follow.New(follow.Config{Open: store.Opener(c.Registry, stateDirectory(c.Cache), d.registryMade), Report: d.registryState, After: time.After})
		return made, made.End, nil
	}
	r.registry, err = shared.Reuse(&r.shared, d.previous.reusable(), "registry", c.Basis(config.Store), make)
	if err != nil {
		return err
	}
	r.starters = append(r.starters, r.registry.Start)
	r.readiness = append(r.readiness, r.registry.Readiness)
	if r.names.Known != nil {
		r.names.Known = r.registry.Known()
	}
	r.own = lookup.New(lookup.Config{
		Store: r.registry, TTL: c.Registry.TTL, ClientTTL: c.Registry.ClientTTL, SharedTTL: c.CDN.TTL,
		Only: r.names.AskedFor(), Hosts: c.Registry.HostNames(), Levels: r.names.Levels,
		Redirect: redirectStatus(c.Registry), Now: d.now,
	})
	return nil
}

// opening returns what lets requests for names of the registry wait while it is being opened for the first time.
func (r *resolution) opening(d resolverDependencies) follow.Opening {
	only := r.names.AskedFor()
	return follow.Opening{
		Store: r.registry, Limit: r.limits.opening, Stopping: d.stopping,
		Asked: func(q resolver.Query) bool { return registry.Asked(only, registry.Name(q.URI.String())) },
	}
}

// redirectStatus returns the status of redirects that registry.redirect says, 0 where it is the one that all redirects have.
func redirectStatus(c config.Registry) int {
	if c.Redirect == http.StatusFound {
		return 0
	}
	return c.Redirect
}

// wireCounts returns what counts the answers of the registry, nil where none are counted. They outlive
// a reload, and are written before their store is closed.
func wireCounts(r *resolution, c config.Config, d resolverDependencies, log *slog.Logger) (func(string, *resolver.Record), error) {
	if r.registry == nil || !c.Registry.Count {
		return nil, nil //nolint:nilnil // it counts nothing
	}
	opened := r.registry // not the resolution, which the counts outlive
	counts, err := shared.Reuse(&r.shared, d.previous.reusable(), "counts", c.Basis(config.Store), func() (*count.Recorder, func(), error) {
		made := count.NewRecorder(opened, d.now)
		return made, made.Close, nil
	})
	if err != nil {
		return nil, err
	}
	r.starters = append(r.starters, func() { counts.Start(log) })
	return counts.Answered, nil
}

// openRegistry opens the registry, if there is one, for a command: where it cannot be opened, its names
// fail, and messages has the reason. A file is not made: it would be whose the command is, and not the daemon's.
func (r *resolution) openRegistry(ctx context.Context, messages io.Writer) {
	if r.registry == nil {
		return
	}
	if err := r.registry.OpenNow(ctx); err != nil {
		fmt.Fprintln(messages, "urnd:", redact.URLs(err.Error()))
	}
}

// forgetChanged removes cached answers of keys of the registry that have changed.
func (r *resolution) forgetChanged(keys []registry.Key) {
	r.own.Forget(keys)
	items := make(map[string]bool)
	for _, key := range keys {
		if item := r.names.ItemOf(key.Name); item != "" && key.Kind == registry.KindName {
			items[item] = true
			continue
		}
		if selection, ok := key.Selection(); ok {
			r.answers.Purge(selection, false)
			r.tellPurged(selection)
		}
	}
	r.forgetItems(items)
}

// forgetItems removes cached answers of identifiers in web addresses by the names of their items: each is made of what is registered at
// several levels. The cache is read once for all of them.
func (r *resolution) forgetItems(items map[string]bool) {
	if len(items) == 0 {
		return
	}
	r.answers.PurgeAll(r.answers.Entries, func(key string) bool {
		name := cmp.Or(resolver.NameOfKey(key), key)
		return items[r.names.ItemOf(name)]
	}, false)
	for item := range items {
		u, err := uri.Parse(item)
		if err != nil {
			continue
		}
		r.tellPurged(resolver.Selection{Name: u})
		r.tellPurged(resolver.Selection{Prefix: item + "/"})
	}
}

// checkDigits returns what completes the numbers that a registry mints.
func checkDigits() map[string]registry.CheckDigit {
	return map[string]registry.CheckDigit{
		"urn:isbn:": {Digits: urnns.DigitsISBN, Of: urnns.CheckDigitISBN},
		"urn:issn:": {Digits: urnns.DigitsISSN, Of: urnns.CheckDigitISSN},
	}
}

// ownNames returns the names of hosts by which clients reach this urnd: also that of the machine, with
// and without its domain.
func ownNames(c config.Listen) []string {
	machine, _ := os.Hostname() // without it, only what is configured
	short, _, _ := strings.Cut(machine, ".")
	return append([]string{machine, short}, c.Names...)
}

// registryWiring returns what the commands of the registry need.
func registryWiring() cliregistry.Wiring {
	return cliregistry.Wiring{
		Names: namesOf, Resolve: openResolution, Open: store.Open, Lost: lostRegistry, Health: commandHealth, OwnNames: ownNames,
		New: func(store registry.Store, names resolver.Names, log *slog.Logger) *registry.Registry {
			return newRegistry(store, names, time.Now, log)
		},
	}
}

// wireHealth makes the checks of targets, if they are turned on. They start with the configuration.
func wireHealth(c config.Config, r *resolution, d resolverDependencies, log *slog.Logger) *health.Background {
	if r.registry == nil || c.Registry.HealthInterval == 0 {
		return nil
	}
	settings, closeClient := healthConfig(c, r, r.registry, d)
	settings.Failed = func(err error) { log.Warn("targets of the registry cannot be checked now", "error", err) }
	checks := health.NewBackground(settings, r.registry.Opened(), closeClient)
	r.starters = append(r.starters, checks.Start)
	return checks
}

// healthConcurrency bounds the requests of checks at a time. registry.health_rate bounds those of a second, and one server has one:
// with more, only servers that do not answer would be waited for.
const healthConcurrency = 16

// healthConfig returns what configures a checker of targets, with a client of its own that the caller closes.
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
		Timeout: c.Limits.ConnectTimeout + c.Limits.OriginTimeout, Holder: health.NewHolder(), Now: d.now, After: time.After,
		Observe: func(o health.Outcome) { d.metrics.TargetCheck(string(o)) },
	}, web.Close
}

// commandHealth returns what configures a checker of targets for a command. The caller calls end when it needs it no longer.
func commandHealth(c config.Config, store registry.Store) (settings health.Config, end func(), err error) {
	d := newResolverDependencies()
	r, err := newResolution(c, d)
	if err != nil {
		return settings, nil, err
	}
	settings, closeClient := healthConfig(c, r, store, d)
	return settings, func() { closeClient(); r.close() }, nil
}

// healthAgent returns the User-Agent of checks.
func healthAgent(contact string) string {
	return fmt.Sprintf("urnd-link-check/%s (+%s)", versionText(), contact)
}
