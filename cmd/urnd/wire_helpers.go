package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/metrics"
	"github.com/urnd/urnd/internal/shared"
	"github.com/urnd/urnd/proxy/gate"
	"github.com/urnd/urnd/proxy/gate/helper"
)

// Default TTLs of the answers of helpers: those of Squid, where it has a default.
const (
	helperTTL         = time.Hour
	helperNegativeTTL = time.Minute
)

// passwordHelper checks passwords with a helper. Directories ignore the case of a user name and surrounding
// spaces, but rules do not: names are converted to lower case, as by Squid, unless hasCase is set.
type passwordHelper struct {
	*helper.Basic
	hasCase bool
}

// Login implements gate.Logins. The user is the one that the helper returns, by default name.
func (p passwordHelper) Login(
	ctx context.Context, client netip.Addr, name, password string,
) (user string, right bool, err error) {
	if strings.TrimSpace(name) != name {
		return "", false, nil
	}
	if !p.hasCase {
		name = strings.ToLower(name)
	}
	answer, err := p.Check(ctx, client, name, password)
	return cmp.Or(answer.User(), name), err == nil && answer.Result == helper.OK, err
}

// groupHelper looks up groups with a helper, in addition to those of a file.
type groupHelper struct {
	*helper.External
	file gate.GroupFile // nil for none
}

// Memberships implements gate.Groups.
func (g groupHelper) Memberships(ctx context.Context, user string, among []string) ([]string, error) {
	known, err := g.file.Memberships(ctx, user, among)
	if err != nil {
		return nil, err
	}
	answers := make([]helper.Answer, len(among))
	asking, ctx := errgroup.WithContext(ctx) // without one answer, the others are not waited for
	for i, group := range among {            // as many as rules name
		if !slices.Contains(known, group) {
			asking.Go(func() (err error) {
				answers[i], err = g.Lookup(ctx, user, group)
				return err
			})
		}
	}
	err = asking.Wait()
	groups := slices.Clone(known)
	for i, answer := range answers {
		if answer.Result == helper.OK {
			groups = append(groups, among[i])
		}
	}
	return groups, err
}

// wireHelper returns the client of the helper of a kind; ok is false if none is configured. That of the
// previous configuration is reused with its processes if the settings are unchanged, but its cache is
// cleared: a reload is the way to lock out a closed account.
func wireHelper[T interface{ Forget() }](
	kind string, c config.Config, s *service, r *resolution, d dependencies,
	ask func(*helper.Pool, helper.CacheConfig) (T, func(), error),
) (asks T, ok bool, err error) {
	h, i := c.Access.Helper(kind)
	if i < 0 {
		return asks, false, nil
	}
	type made struct {
		asks T
		pool *helper.Pool
	}
	value, err := shared.Reuse(&r.shared, d.previous.reusable(), "helper for "+kind, h, func() (made, func(), error) {
		pool, err := helper.New(helper.Config{
			Name: kind, Command: h.Command, Processes: h.Processes, Concurrency: h.Concurrency, Timeout: h.Timeout,
			Log: d.persistentLog, Now: d.now,
		})
		if err != nil {
			return made{}, nil, err
		}
		asks, end, err := ask(pool,
			helper.CacheConfig{TTL: cmp.Or(h.TTL, helperTTL), NegativeTTL: cmp.Or(h.NegativeTTL, helperNegativeTTL)})
		if err != nil {
			pool.Close()
		}
		return made{asks, pool}, end, err
	})
	if err != nil {
		return asks, false, fmt.Errorf("access.helpers.%d: %w", i, err)
	}
	s.helpers = append(s.helpers, namedPool{kind, value.pool})
	r.starters = append(r.starters, value.asks.Forget)
	r.readiness = append(r.readiness, degrading(value.pool.Failures))
	return value.asks, true, nil
}

// namedPool is the process pool of a helper, with the kind of the helper.
type namedPool struct {
	name string
	pool *helper.Pool
}

// passwordsOf returns the password check by a helper, nil for none.
func passwordsOf(c config.Config, s *service, r *resolution, d dependencies) (gate.Logins, error) {
	h, _ := c.Access.Helper(config.HelperPasswords)
	asks, ok, err := wireHelper(config.HelperPasswords, c, s, r, d,
		func(pool *helper.Pool, cache helper.CacheConfig) (passwordHelper, func(), error) {
			basic, err := helper.NewBasic(pool, cache)
			if err != nil {
				return passwordHelper{}, nil, err
			}
			return passwordHelper{basic, h.CaseSensitive}, basic.Close, nil
		})
	if err != nil || !ok {
		return nil, err
	}
	return asks, nil
}

// negotiateHelper checks tokens of the Negotiate scheme with a helper. The user names that it returns are not
// changed.
type negotiateHelper struct {
	*helper.Negotiate
	epoch atomic.Uint64
}

// Begin implements gate.Handshakes.
func (n *negotiateHelper) Begin(client netip.Addr) gate.Handshake {
	return handshake{n.Negotiate.Begin(client)}
}

// Epoch implements gate.Handshakes.
func (n *negotiateHelper) Epoch() uint64 { return n.epoch.Load() }

// Forget requires authenticated connections to authenticate again.
func (n *negotiateHelper) Forget() { n.epoch.Add(1) }

// handshake is a conversation with a helper, as a login.
type handshake struct{ *helper.Conversation }

// Next implements gate.Handshake. An invalid token is a failed login, and so is one that the helper reports
// as broken, as negotiate_kerberos_auth does for tokens of NTLM and of foreign realms: the client can then
// use another scheme, as with Squid.
func (h handshake) Next(ctx context.Context, token string) (gate.HandshakeStep, error) {
	step, err := h.Conversation.Next(ctx, token)
	switch {
	case errors.Is(err, helper.ErrToken), errors.Is(err, helper.ErrBroken):
		return gate.HandshakeStep{}, nil
	case err != nil:
		return gate.HandshakeStep{}, err
	case step.More:
		return gate.HandshakeStep{Token: step.Token, More: true}, nil
	case step.Answer.Result != helper.OK:
		return gate.HandshakeStep{}, nil
	default:
		return gate.HandshakeStep{User: step.Answer.User(), Token: step.Token}, nil
	}
}

// negotiations returns the check of Negotiate tokens by a helper, nil for none, and the lifetime of a login,
// 0 for that of its connection.
func negotiations(c config.Config, s *service, r *resolution, d dependencies) (gate.Handshakes, time.Duration, error) {
	h, _ := c.Access.Helper(config.HelperNegotiate)
	asks, ok, err := wireHelper(config.HelperNegotiate, c, s, r, d,
		func(pool *helper.Pool, _ helper.CacheConfig) (*negotiateHelper, func(), error) {
			negotiate, err := helper.NewNegotiate(pool)
			if err != nil {
				return nil, nil, err
			}
			return &negotiateHelper{Negotiate: negotiate}, negotiate.Close, nil
		})
	if err != nil || !ok {
		return nil, 0, err
	}
	return asks, h.TTL, nil
}

// memberships returns the groups of users: from a file, a helper, both, or nil for none.
func memberships(c config.Config, s *service, r *resolution, d dependencies) (gate.Groups, error) {
	file, err := groupsOf(c)
	if err != nil {
		return nil, err
	}
	asks, ok, err := wireHelper(config.HelperGroups, c, s, r, d,
		func(pool *helper.Pool, cache helper.CacheConfig) (*helper.External, func(), error) {
			external, err := helper.NewExternal(pool, cache)
			if err != nil {
				return nil, nil, err
			}
			return external, external.Close, nil
		})
	switch {
	case err != nil:
		return nil, err
	case ok:
		return groupHelper{asks, file}, nil
	case file == nil:
		return nil, nil //nolint:nilnil // no groups are configured, which is no error
	default:
		return file, nil
	}
}

// helperStates returns the state of the helpers, for metrics.
func (s *service) helperStates() (all []metrics.Helper) {
	for _, h := range s.helpers {
		status := h.pool.Status()
		all = append(all, metrics.Helper{
			Name: h.name, Processes: status.Processes, Waiting: status.Waiting, Questions: status.Queries,
			Failures: status.Failed,
			Restarts: status.Restarts,
		})
	}
	return all
}
