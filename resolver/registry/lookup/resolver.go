// Package lookup resolves names by a registry. A resolver.Query with a canonical name enters; an Answer with
// the locations of its entry, or of the entry of its longest prefix, leaves, or a *resolver.Negative with the
// reason why it does not resolve. It implements the services I2L, I2Ls, I2N and I2Ns of RFC 2483, versions as
// of a time (RFC 7089), and links at several levels (GS1-Conformant Resolver standard). Lifetimes of responses
// are set by Config.
//
//   - resolver.go: the entry of a name, now and as of a time
//   - answer.go, redirect.go: its locations, and the redirect status
//   - negative.go: reasons why a name does not resolve
//   - levels.go: GS1 identifiers, whose links are at several levels
//   - versions.go: times of changes (RFC 7089)
//   - standalone.go, hosts.go: names that no other system knows, and names of web hosts of the site
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
	// TTL is the lifetime of responses in the cache.
	TTL time.Duration
	// ClientTTL is the lifetime of responses for clients; 0 is TTL.
	ClientTTL time.Duration
	// SharedTTL is the lifetime for caches in front of urnd that are notified of changes; 0 is that of clients.
	SharedTTL time.Duration
	// Redirect is the redirect status if neither the name nor one of its prefixes sets one; 0 leaves the choice
	// to the caller.
	Redirect int
	// OwnedPrefixes are the owned prefixes: other names are not supported. nil owns all names.
	OwnedPrefixes []string
	// Hosts are the beginnings of the names of web hosts of the site: see Hosts.
	Hosts []string
	// Levels returns the canonical names at which the links of a name are registered, most specific first; nil
	// for a name without levels. The field may be nil.
	Levels func(name string) []string
	Now    func() time.Time
}

// Resolver resolves the names of a registry. A name that is not registered is ErrUnsupported, so that a chain
// queries the next system, unless the registry is authoritative for it.
type Resolver struct {
	config   Config
	prefixes redirecting
}

// New returns a Resolver.
func New(config Config) *Resolver {
	return &Resolver{config: config}
}

// Resolve implements resolver.Resolver for canonical names of any scheme.
func (r *Resolver) Resolve(ctx context.Context, q resolver.Query) (resolver.Answer, error) {
	name := q.URI.String()
	if !registry.Owned(r.config.OwnedPrefixes, registry.Name(name)) {
		return resolver.Answer{}, &resolver.Negative{
			Kind: resolver.ErrUnsupported, Reason: "outside the prefixes of the registry",
			Code: "registry_not_queried", TTL: resolver.Forever,
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

// failure returns the error for a name, nil for nil. A Negative without a TTL gets one; any other error is
// wrapped as an error of the store.
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
	if errors.Is(n.Kind, resolver.ErrUnsupported) { // results of other systems have their own TTL
		ttl = resolver.Forever
	}
	negative := n.WithTTL(ttl, resolver.Uncached)
	if ttl == r.config.TTL {
		negative.ClientTTL = r.clients()
	}
	return negative
}

// clients returns the lifetime for clients of responses without an expiry of their own.
func (r *Resolver) clients() resolver.ClientTTL {
	return resolver.ClientTTL{Lifetime: r.config.ClientTTL, Shared: r.config.SharedTTL}
}

// find returns the entry that resolves the name of a query.
func (r *Resolver) find(ctx context.Context, q resolver.Query, name string) (resolved, error) {
	if q.At.IsZero() {
		return r.findIn(ctx, storeState{ctx, r.config.Store}, q, name)
	}
	return r.findThen(ctx, q, name)
}

// findIn is find in a given state.
func (r *Resolver) findIn(ctx context.Context, s state, q resolver.Query, name string) (found resolved, err error) {
	unknown, err := r.isAsUnknown(s, name)
	switch {
	case err != nil:
		return found, err
	case unknown:
		return found, notRegistered()
	}
	found, err = resolve(ctx, s, name)
	if found.name == name { // false if the name is an alias
		found.spelling = q.Spelling.String()
	}
	if err == nil && found.redirect == 0 && q.Service.Locates() {
		found.redirect, err = r.inherited(ctx, s, found.name)
	}
	return found, err
}

// findThen is find for a query as of a time.
func (r *Resolver) findThen(ctx context.Context, q resolver.Query, name string) (resolved, error) {
	var found resolved
	err := r.config.Store.Read(ctx, func(tx registry.Tx) (err error) {
		if found, err = r.findIn(ctx, asOfState{tx, q.At}, q, name); err != nil ||
			q.Service != resolver.I2L && q.Service != resolver.I2Ls {
			return err
		}
		return stillShown(ctx, txState{tx}, found, name)
	})
	return found, err
}

// stillShown returns an error if a name formerly resolved by an entry that is withdrawn now: the former target
// is visible only to readers of the registry.
func stillShown(ctx context.Context, now state, found resolved, name string) error {
	e, err := now.entry(found.entry.Key)
	if err == nil && e.Status == registry.Withdrawn {
		err = decide(&e)
	}
	for _, name := range []string{name, found.name} {
		if err != nil {
			return err
		}
		if _, err = resolve(ctx, now, name); errors.As(err, new(*resolver.Negative)) &&
			!errors.Is(err, resolver.ErrGone) {
			err = nil
		}
	}
	return err
}

// unavailable is an error of the store for clients of names. The cause may reveal the location of the store, so
// it is for administrators only.
type unavailable struct{ err error }

func (*unavailable) Error() string { return registry.ErrUnavailable.Error() + " now" }

func (u *unavailable) Unwrap() []error { return []error{registry.ErrUnavailable, u.err} }

// state reads entries, currently or as of a time.
type state interface {
	entry(key registry.Key) (registry.Entry, error)
	// prefix returns the entry of the longest prefix of a name, the zero value if there is none.
	prefix(name string) (registry.Entry, error)
}

type storeState struct {
	ctx   context.Context //nolint:containedctx // the value lives for one call
	store registry.Store
}

func (n storeState) entry(key registry.Key) (registry.Entry, error) {
	return n.store.Lookup(n.ctx, key)
}

func (n storeState) prefix(name string) (registry.Entry, error) {
	return registry.LongestPrefix(func(text string) (registry.Entry, error) { return n.store.Floor(n.ctx, text) }, name)
}

// txState is the current state within a transaction.
type txState struct{ tx registry.Tx }

func (p txState) entry(key registry.Key) (registry.Entry, error) {
	entries, err := p.tx.Entries([]registry.Key{key})
	if err != nil {
		return registry.Entry{}, err
	}
	return entries[0], nil
}

func (p txState) prefix(name string) (registry.Entry, error) {
	return registry.LongestPrefix(p.tx.Floor, name)
}

type asOfState struct {
	tx registry.Tx
	at time.Time
}

func (t asOfState) entry(key registry.Key) (registry.Entry, error) {
	return registry.EntryAt(t.tx, key, t.at)
}

func (t asOfState) prefix(name string) (registry.Entry, error) {
	for {
		e, err := registry.LongestPrefix(t.tx.Floor, name)
		if err != nil || !e.Exists() {
			return registry.Entry{}, err
		}
		was, err := t.entry(e.Key)
		if err != nil || was.Exists() {
			return was, err
		}
		name = registry.EnclosingPrefix(e.Name) // that prefix was registered later
	}
}

// resolved is the entry that resolves a name.
type resolved struct {
	name  string         // the name, or the target of its alias
	entry registry.Entry // of the name, or of its longest prefix; while resolving, of the last alias
	// spelling is the requested spelling of the name, "" if it equals name.
	spelling string
	// requested is the requested name at a level of an identifier.
	requested string
	// redirect is the redirect status that the name, its alias or its prefix sets; 0 for none.
	redirect int
}

// resolve returns the entry that resolves a name. Its targets may be used.
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
	// Registering an alias makes no such chain: see registry.Batch.
	return resolved{}, &resolver.Negative{
		Kind: resolver.ErrNotFound, Reason: fmt.Sprintf("chain of more than %d aliases", registry.MaxAliases),
		Code: "too_many_aliases", Values: []string{"Number", strconv.Itoa(registry.MaxAliases)},
		Record: recordOf(&found.entry),
	}
}

// below returns the entry of the longest prefix with targets of an unregistered name. A prefix without targets
// only sets properties of the names below it, such as the sandbox; its enclosing prefixes apply, too.
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
			return resolved{}, dangling(&found.entry)
		case !p.Exists():
			return resolved{}, notRegistered()
		case len(p.Targets) == 0 && p.Authoritative:
			return resolved{}, notBelow(&p)
		}
		if longest { // the longest prefix decides, as at the registration of names
			sandbox, longest = p.Sandbox, false
		}
		redirect = cmp.Or(redirect, p.Redirect)
		if len(p.Targets) > 0 {
			found.entry = p
			found.entry.Sandbox = sandbox
			found.redirect = cmp.Or(found.redirect, redirect)
			return found, nil
		}
		name = registry.EnclosingPrefix(p.Name)
	}
}

func trace(ctx context.Context, e *registry.Entry) {
	if t := resolver.TraceOf(ctx); t != nil {
		t.Add(resolver.Step{
			Stage: "registry", Code: "registered",
			Values: []any{"Name", e.Name, "Version", e.Version, "Number", len(e.Targets)},
		}, "%s has version %d of %s: %s, %d targets", e.Key, e.Version, e.Changed.Format(time.RFC3339), e.Status,
			len(e.Targets))
	}
}
