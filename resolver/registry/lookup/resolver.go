// Package lookup resolves names by a registry: what is asked for is a query with a canonical name, and the answer is where its entry, or that
// of its longest prefix, leads, or a *resolver.Negative that says why it leads nowhere. The lifetimes of answers are those of the configuration.
//
//   - resolver.go: the entry of a name, now and as it was
//   - answer.go, redirect.go: where that leads, and by which redirect
//   - negative.go: why it leads nowhere
//   - levels.go: identifiers of GS1, whose links are at several levels
//   - versions.go: when it has changed (RFC 7089)
//   - alone.go, hosts.go: names that no other system knows, and those of web hosts of the site
package lookup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
)

// Config configures a Resolver.
type Config struct {
	Store registry.Store
	// TTL is that of answers in the cache.
	TTL time.Duration
	// ClientTTL is how long clients may use them; 0 is TTL.
	ClientTTL time.Duration
	// SharedTTL is how long caches in front of urnd may use them that are told of changes; 0 is as long as clients.
	SharedTTL time.Duration
	// Redirect is the status of redirects where neither the name nor a prefix of it says one; 0 leaves it to who redirects.
	Redirect int
	// Only are what the names begin with that the registry is asked for; nil is all.
	Only []string
	// Hosts are what the names of web hosts of the site begin with: see Hosts.
	Hosts []string
	// Levels returns the canonical names at which the links of a name are registered, the most specific first; nil is for one that has its own
	// alone. A nil Levels is so for all.
	Levels func(name string) []string
	Now    func() time.Time
}

// Resolver resolves the names of a registry. Names that it does not have are not supported by it, so that
// a chain asks the next system, unless the registry is authoritative for them.
type Resolver struct {
	config   Config
	prefixes redirecting
}

// New returns a Resolver.
func New(config Config) *Resolver {
	return &Resolver{config: config}
}

// Resolve implements resolver.Resolver for canonical names, of any scheme.
func (r *Resolver) Resolve(ctx context.Context, q resolver.Query) (resolver.Answer, error) {
	name := q.URI.String()
	if !registry.Asked(r.config.Only, registry.Name(name)) {
		return resolver.Answer{}, &resolver.Negative{
			Kind: resolver.ErrUnsupported, Reason: "the registry is not asked for it",
			Code: "registry_not_asked", TTL: resolver.Forever,
		}
	}
	isLink := false
	if r.config.Levels != nil {
		names := r.config.Levels(name)
		if isLink = len(names) > 0; isLink {
			if answer, ok, err := r.resolveLevels(ctx, q, names); ok {
				return answer, r.failure(err)
			}
		}
	}
	found, err := r.find(ctx, q, name)
	if err != nil {
		return resolver.Answer{}, r.failure(err)
	}
	if isLink {
		found.redirect = cmp.Or(found.redirect, http.StatusTemporaryRedirect)
	}
	return r.answer(ctx, q, found)
}

// failure returns the error for a name, nil for nil: that of the store, unless it is an answer. One that has a lifetime keeps it.
func (r *Resolver) failure(err error) error {
	var n *resolver.Negative
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &n):
		var failure *unavailable
		if errors.As(err, &failure) {
			return err
		}
		return &unavailable{err}
	case n.TTL != 0:
		return n
	}
	ttl := r.config.TTL
	if errors.Is(n.Kind, resolver.ErrUnsupported) { // what other systems answer has its own TTL
		ttl = resolver.Forever
	}
	negative := n.WithTTL(ttl, resolver.Uncached)
	if ttl == r.config.TTL {
		negative.Clients = r.clients()
	}
	return negative
}

// clients returns how long clients may use answers that do not end by themselves.
func (r *Resolver) clients() resolver.ClientTTL {
	return resolver.ClientTTL{Lifetime: r.config.ClientTTL, Shared: r.config.SharedTTL}
}

// find returns what the registry has for the name of a query.
func (r *Resolver) find(ctx context.Context, q resolver.Query, name string) (resolved, error) {
	if q.At.IsZero() {
		return r.findIn(ctx, now{ctx, r.config.Store}, q, name)
	}
	return r.findThen(ctx, q, name)
}

// findIn is find in a state.
func (r *Resolver) findIn(ctx context.Context, s state, q resolver.Query, name string) (found resolved, err error) {
	isUnknown, err := r.isAsUnknown(s, name)
	switch {
	case err != nil:
		return found, err
	case isUnknown:
		return found, notRegistered()
	}
	found, err = resolve(ctx, s, name)
	if found.name == name { // and not what that is an alias of
		found.spelling = q.Spelling.String()
	}
	if err == nil && found.redirect == 0 && q.Service.Locates() {
		found.redirect, err = r.inherited(ctx, s, found.name)
	}
	return found, err
}

// findThen is find of a query of how a name was.
func (r *Resolver) findThen(ctx context.Context, q resolver.Query, name string) (resolved, error) {
	var found resolved
	err := r.config.Store.Read(ctx, func(tx registry.Tx) (err error) {
		if found, err = r.findIn(ctx, then{tx, q.At}, q, name); err != nil || q.Service != resolver.I2L && q.Service != resolver.I2Ls {
			return err
		}
		return stillShown(ctx, present{tx}, found, name)
	})
	return found, err
}

// stillShown returns an error where a name led once by what is withdrawn now: where that was is for those alone who may
// read the registry.
func stillShown(ctx context.Context, now state, found resolved, name string) error {
	e, err := now.entry(found.entry.Key)
	if err == nil && e.Status == registry.Withdrawn {
		err = decide(&e)
	}
	for _, name := range []string{name, found.name} {
		if err != nil {
			return err
		}
		if _, err = resolve(ctx, now, name); errors.As(err, new(*resolver.Negative)) && !errors.Is(err, resolver.ErrGone) {
			err = nil
		}
	}
	return err
}

// unavailable is the error of a store for those who ask for names: why, which may tell where the store
// is, is for administrators.
type unavailable struct{ err error }

func (*unavailable) Error() string { return registry.ErrNoStore.Error() + " now" }

func (u *unavailable) Unwrap() []error { return []error{registry.ErrNoStore, u.err} }

// state is what is asked for entries: now, or as it was then.
type state interface {
	entry(key registry.Key) (registry.Entry, error)
	// prefix returns the entry of the longest prefix of a name, the zero value if there is none.
	prefix(name string) (registry.Entry, error)
}

type now struct {
	ctx   context.Context //nolint:containedctx // it lives as long as one call
	store registry.Store
}

func (n now) entry(key registry.Key) (registry.Entry, error) { return n.store.Lookup(n.ctx, key) }

func (n now) prefix(name string) (registry.Entry, error) {
	return registry.LongestPrefix(func(text string) (registry.Entry, error) { return n.store.Floor(n.ctx, text) }, name)
}

// present is what a transaction has now.
type present struct{ tx registry.Tx }

func (p present) entry(key registry.Key) (registry.Entry, error) {
	entries, err := p.tx.Entries([]registry.Key{key})
	if err != nil {
		return registry.Entry{}, err
	}
	return entries[0], nil
}

func (p present) prefix(name string) (registry.Entry, error) {
	return registry.LongestPrefix(p.tx.Floor, name)
}

type then struct {
	tx registry.Tx
	at time.Time
}

func (t then) entry(key registry.Key) (registry.Entry, error) {
	return registry.EntryAt(t.tx, key, t.at)
}

func (t then) prefix(name string) (registry.Entry, error) {
	for {
		e, err := registry.LongestPrefix(t.tx.Floor, name)
		if err != nil || !e.Exists() {
			return registry.Entry{}, err
		}
		was, err := t.entry(e.Key)
		if err != nil || was.Exists() {
			return was, err
		}
		name = registry.Enclosing(e.Name) // that prefix came later
	}
}

// resolved is what the registry has for a name.
type resolved struct {
	name  string         // whose entry it is: the name, or what it is an alias of
	entry registry.Entry // of the name, or of its longest prefix; in between, of the alias that led to the name
	// spelling is that of the name that was asked for, "" where it is that name.
	spelling string
	// asked is the name that was asked for, of the levels of an identifier.
	asked string
	// redirect is the status of redirects that the name, the alias that led to it or its prefix says; 0 for none.
	redirect int
}

// resolve returns the entry for a name, of which it has decided that its targets may be used.
func resolve(ctx context.Context, s state, name string) (resolved, error) {
	found := resolved{name: name}
	for range registry.MaxAliases + 1 {
		e, err := s.entry(registry.Name(found.name))
		if err != nil {
			return resolved{}, err
		}
		if !e.Exists() {
			return below(s, found)
		}
		found.entry = e
		found.redirect = cmp.Or(found.redirect, e.Redirect)
		trace(ctx, &e)
		if err := decide(&e); err != nil {
			return resolved{}, err
		}
		if e.Alias == "" {
			return found, nil
		}
		found.name = e.Alias
	}
	// A chain that grew at its end, where nobody counts what leads there.
	return resolved{}, &resolver.Negative{
		Kind: resolver.ErrNotFound, Reason: fmt.Sprintf("it is at the end of more than %d aliases", registry.MaxAliases),
		Code: "too_many_aliases", Values: []string{"Number", strconv.Itoa(registry.MaxAliases)},
		Record: recordOf(&found.entry),
	}
}

// below returns the entry of the longest prefix with targets of a name that is not registered itself.
// Prefixes without targets only say something of what they enclose, as that it is a sandbox: what
// encloses them counts, too.
func below(s state, found resolved) (resolved, error) {
	sandbox, longest, redirect := false, true, 0
	for name := found.name; ; {
		p, err := s.prefix(name)
		if err == nil && p.Exists() {
			err = decide(&p)
		}
		if err == nil && p.Exists() {
			err = allows(&p, found.name)
		}
		switch {
		case err != nil:
			return resolved{}, err
		case !p.Exists() && found.entry.Exists():
			return resolved{}, leadsNowhere(&found.entry)
		case !p.Exists():
			return resolved{}, notRegistered()
		case len(p.Targets) == 0 && p.Authoritative:
			return resolved{}, notBelow(&p)
		}
		if longest { // of the registered names below, it is what decides that, too
			sandbox, longest = p.Sandbox, false
		}
		redirect = cmp.Or(redirect, p.Redirect)
		if len(p.Targets) > 0 {
			found.entry = p
			found.entry.Sandbox = sandbox
			found.redirect = cmp.Or(found.redirect, redirect)
			return found, nil
		}
		name = registry.Enclosing(p.Name)
	}
}

func trace(ctx context.Context, e *registry.Entry) {
	if t := resolver.TraceOf(ctx); t != nil {
		t.Add(resolver.Step{
			Stage: "registry", Code: "registered", Values: []any{"Name", e.Name, "Version", e.Version, "Number", len(e.Targets)},
		}, "%s has version %d of %s: %s, %d targets", e.Key, e.Version, e.Changed.Format(time.RFC3339), e.Status, len(e.Targets))
	}
}
