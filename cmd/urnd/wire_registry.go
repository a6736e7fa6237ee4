package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/redact"
	"github.com/urnd/urnd/internal/shared"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/sqlite"
	"github.com/urnd/urnd/uri"
	"github.com/urnd/urnd/urnns"
)

// errNoRegistry is the error where no store is configured.
var errNoRegistry = errors.New("no registry is configured: set registry.store, or use --store with sqlite:FILE or the URL of a PostgreSQL database")

// openStore opens the store of a configuration.
func openStore(ctx context.Context, c config.Registry) (registry.Store, error) {
	path, ok := strings.CutPrefix(c.Store, storeSQLite)
	switch {
	case c.Store == "":
		return nil, errNoRegistry
	case ok:
		return sqlite.Open(ctx, path)
	default:
		return openPostgres(ctx, c)
	}
}

// newRegistry returns the registry in a store. audit may be nil.
func newRegistry(store registry.Store, names resolver.Names, now func() time.Time, audit audit) *registry.Registry {
	return registry.New(registry.Config{
		Store: store, CanonicalPrefix: names.CanonicalPrefix, Now: now, Audit: audit, CheckDigits: checkDigits(),
		Canonical: func(text string) (string, error) {
			q, err := resolver.ParseQuery(text, resolver.I2L)
			if err == nil {
				q, err = names.Canonical(q)
			}
			return q.URI.String(), err
		},
	})
}

// The times of a registry.
const (
	reopenEvery  = 2 * time.Second        // where its store cannot be opened
	changesEvery = 250 * time.Millisecond // how often a store is asked for changes
)

// followed is a store whose changes are followed, over all configurations that have it.
type followed struct {
	*registry.Reopening
	once    sync.Once
	running sync.WaitGroup
	cancel  context.CancelFunc
	isOpen  chan struct{} // closed when it is open
	noFile  bool          // a file that there is not is an error, and not made

	mu      sync.Mutex
	changed map[int]func(keys []registry.Key) // by the number of a configuration
	next    int
	fault   error
	report  func(err error) // see resolverDependencies.registryState
}

// follow makes the store of a configuration; nothing is opened.
func follow(c config.Registry, report func(err error)) *followed {
	f := &followed{isOpen: make(chan struct{}), changed: make(map[int]func([]registry.Key)), cancel: func() {}, report: report}
	f.Reopening = registry.NewReopening(registry.ReopeningConfig{
		Open: func(ctx context.Context) (registry.Store, error) {
			if f.noFile {
				if err := mustExist(c.Store); err != nil {
					return nil, err
				}
			}
			return openStore(ctx, c)
		},
		Every: reopenEvery, After: time.After,
		Opened: f.state,
	})
	return f
}

// start opens the store in the background, and follows its changes. Only the first call does.
func (f *followed) start() {
	f.once.Do(func() {
		var ctx context.Context
		ctx, f.cancel = context.WithCancel(context.Background())
		f.running.Go(func() {
			head := f.Run(ctx)
			if ctx.Err() != nil {
				return
			}
			close(f.isOpen)
			feed := registry.Feed{Store: f, Every: changesEvery, Changed: f.tell, State: f.state, After: time.After}
			feed.Run(ctx, head)
		})
	})
}

// state records whether the store can be asked.
func (f *followed) state(err error) {
	f.mu.Lock()
	changed := (err == nil) != (f.fault == nil)
	f.fault = err
	f.mu.Unlock()
	if changed && f.report != nil {
		f.report(err)
	}
}

// faults are what is wrong with the store.
func (f *followed) faults() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fault == nil {
		return nil
	}
	return []string{fmt.Sprintf("the registry cannot be asked: %s", f.fault)}
}

// tell passes changes on to all configurations.
func (f *followed) tell(keys []registry.Key) {
	f.mu.Lock()
	var all []func([]registry.Key)
	for _, changed := range f.changed {
		all = append(all, changed)
	}
	f.mu.Unlock()
	for _, changed := range all {
		changed(keys)
	}
}

// watch calls changed with the keys that change, until the function that it returns is called.
func (f *followed) watch(changed func(keys []registry.Key)) (end func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.next
	f.next++
	f.changed[n] = changed
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.changed, n)
	}
}

func (f *followed) close() {
	f.cancel()
	f.running.Wait()
	if err := f.Close(); err != nil && f.report != nil {
		f.report(err)
	}
}

// wireRegistry makes the registry of a configuration, if there is one.
func wireRegistry(r *resolution, c config.Config, d resolverDependencies) error {
	if c.Registry.Store == "" {
		return nil
	}
	var previous *shared.Values
	if d.previous != nil {
		previous = &d.previous.shared
	}
	var err error
	r.registry, err = shared.Reuse(&r.shared, previous, "registry", basisOfRegistry(c.Registry), func() (*followed, func(), error) {
		f := follow(c.Registry, d.registryState)
		return f, f.close, nil
	})
	if err != nil {
		return err
	}
	r.starters = append(r.starters, r.registry.start)
	r.own = registry.NewResolver(registry.ResolverConfig{Store: r.registry, TTL: c.Registry.TTL, Only: c.Registry.Only, Now: d.now})
	return nil
}

// basisOfRegistry returns what the store of a registry depends on.
func basisOfRegistry(c config.Registry) any { return [...]string{c.Store, c.Replica, c.Password} }

// openRegistry opens the registry, if there is one, for a command: where it cannot be opened, its names
// fail, and messages has the reason. A file is not made: it would be whose the command is, and not the daemon's.
func (r *resolution) openRegistry(ctx context.Context, messages io.Writer) {
	if r.registry == nil {
		return
	}
	r.registry.noFile = true
	_, err := r.registry.Try(ctx)
	if err != nil {
		fmt.Fprintln(messages, "urnd:", redact.URLs(err.Error()))
	}
	r.registry.state(err)
}

// registered resolves names that only the registry knows: there is no other system that gives the answer that it
// does not have a name its lifetime.
type registered struct {
	resolver.Resolver
	ttl time.Duration
}

// Resolve implements resolver.Resolver.
func (r registered) Resolve(ctx context.Context, q resolver.Query) (resolver.Answer, error) {
	answer, err := r.Resolver.Resolve(ctx, q)
	var n *resolver.Negative
	if errors.As(err, &n) && errors.Is(n.Kind, resolver.ErrUnsupported) {
		return resolver.Answer{}, &resolver.Negative{Kind: resolver.ErrNotFound, Reason: n.Reason, TTL: r.ttl}
	}
	return answer, err
}

// forgetChanged removes cached answers of keys of the registry that have changed.
func (r *resolution) forgetChanged(keys []registry.Key) {
	for _, key := range keys {
		selection := resolver.Selection{Prefix: key.Name, All: key.Name == ""}
		if key.Kind == registry.KindName {
			u, err := uri.Parse(key.Name)
			if err != nil {
				continue
			}
			selection = resolver.Selection{Name: u}
		}
		r.answers.Purge(selection, false)
	}
}

// registryFirst returns the systems with the registry as the first one, whatever their order is.
func registryFirst(systems resolver.ChainConfig, own resolver.Resolver) resolver.ChainConfig {
	const name = "registry"
	systems.Members = append(systems.Members, resolver.Member{Name: name, Resolver: own, History: true})
	systems.Order = append([]string{name}, systems.Order...)
	for nid, order := range systems.Orders {
		systems.Orders[nid] = append([]string{name}, order...)
	}
	return systems
}

// healthReport returns a report of the health of the daemon with what is wrong with the registry.
func (r *resolution) healthReport(report func() (unready, degraded []string)) func() (unready, degraded []string) {
	if r.registry == nil {
		return report
	}
	return func() (unready, degraded []string) {
		unready, degraded = report()
		return unready, append(degraded, r.registry.faults()...)
	}
}

// checkDigits returns what completes the numbers that a registry mints.
func checkDigits() map[string]registry.CheckDigit {
	return map[string]registry.CheckDigit{
		"urn:isbn:": {Digits: urnns.DigitsISBN, Of: urnns.CheckDigitISBN},
		"urn:issn:": {Digits: urnns.DigitsISSN, Of: urnns.CheckDigitISSN},
	}
}
