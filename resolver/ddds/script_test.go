package ddds

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// set is the scripted result of one lookup.
type set struct {
	naptr []NAPTR
	srv   []SRV
	ttl   time.Duration
	err   error
	ad    bool
}

func (s set) info() RRsetInfo { return RRsetInfo{TTL: s.ttl, Authentic: s.ad} }

// script is a Lookuper that answers from a map with keys such as "foo.urn.arpa. NAPTR", and records the
// lookups. Other names do not exist.
type script struct {
	sets    map[string]set
	queried []string
}

// missingTTL is the TTL of the negative answers of a script.
const missingTTL = 7 * time.Minute

func (s *script) query(key string) set {
	s.queried = append(s.queried, key)
	found, ok := s.sets[key]
	if !ok {
		found.err = &resolver.Negative{Kind: resolver.ErrNotFound, Reason: key + " not in the script", TTL: missingTTL}
	}
	return found
}

func (s *script) NAPTR(_ context.Context, name string) ([]NAPTR, RRsetInfo, error) {
	found := s.query(name + " NAPTR")
	return found.naptr, found.info(), found.err
}

func (s *script) SRV(_ context.Context, name string) ([]SRV, RRsetInfo, error) {
	found := s.query(name + " SRV")
	return found.srv, found.info(), found.err
}

// query returns the I2L query of a URN.
func query(t testing.TB, urn string) resolver.Query {
	t.Helper()
	u, err := uri.Parse(urn)
	if err != nil {
		t.Fatal(err)
	}
	q, err := resolver.NewQuery(u, resolver.I2L)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// resolve resolves a name with the root "urn.arpa." and at most five domains.
func resolve(t testing.TB, s *script, urn string) (resolver.Answer, error) {
	t.Helper()
	r := New(Config{Lookup: s, Roots: []string{"urn.arpa."}, MaxDomains: 5})
	return r.Resolve(t.Context(), query(t, urn))
}

// locations joins the URIs of an answer.
func locations(a resolver.Answer) string {
	var uris []string
	for _, l := range a.Locations {
		uris = append(uris, l.URI)
	}
	return strings.Join(uris, " ")
}

// expectNegative checks that err is a negative answer with this kind, TTL and reason.
func expectNegative(t testing.TB, err, kind error, ttl time.Duration, reason string) {
	t.Helper()
	var n *resolver.Negative
	if !errors.As(err, &n) {
		t.Errorf("got %v, want a negative answer", err)
		return
	}
	if !errors.Is(err, kind) || n.TTL != ttl || !strings.Contains(n.Reason, reason) {
		t.Errorf("got %v for %s; want %v for %s that contains %q", err, n.TTL, kind, ttl, reason)
	}
}

// clock is a clock that a test advances.
type clock struct{ nanos atomic.Int64 }

func (c *clock) now() time.Time          { return time.Unix(0, c.nanos.Load()) }
func (c *clock) advance(d time.Duration) { c.nanos.Add(int64(d)) }

// details returns the details of the steps of one stage.
func details(trace *resolver.Trace, stage string) []string {
	var found []string
	for _, step := range trace.Steps() {
		if step.Stage == stage {
			found = append(found, step.Detail)
		}
	}
	return found
}
