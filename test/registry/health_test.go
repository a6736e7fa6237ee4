//go:build e2e

package registry

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/health"
	"github.com/urnd/urnd/test/urndtest"
)

// targetServer is a server of targets, of which "/bad..." are gone.
type targetServer struct {
	*httptest.Server
	mu     sync.Mutex
	agents map[string]bool
}

func newTargetServer(t *testing.T) *targetServer {
	s := &targetServer{agents: make(map[string]bool)}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.agents[r.UserAgent()] = true
		s.mu.Unlock()
		if strings.HasPrefix(r.URL.Path, "/bad") {
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// requestedBy reports whether a check with a contact was received.
func (s *targetServer) requestedBy(agent string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for of := range s.agents {
		if strings.HasPrefix(of, "urnd-link-check/") && strings.HasSuffix(of, agent) {
			return true
		}
	}
	return false
}

// checkAt checks all targets as of a time.
func checkAt(t *testing.T, r urndtest.Registry, at time.Time) {
	t.Helper()
	c := health.New(health.Config{
		Store: r.Store(), Transport: &http.Transport{DisableKeepAlives: true}, Agent: "before", Interval: time.Hour,
		Rate: 1000, Concurrency: 1, Timeout: 10 * time.Second, Holder: "before", Now: func() time.Time { return at },
		After: time.After,
	})
	if err := c.Check(t.Context(), "", func(health.Target) error { return nil }); err != nil {
		t.Fatal(err)
	}
}

// TestHealthyTargetsArePreferred checks that clients are redirected to healthy targets, and that urnd checks
// all targets and reports the results.
func TestHealthyTargetsArePreferred(t *testing.T) {
	t.Parallel()
	server := newTargetServer(t)
	r := urndtest.NewRegistry(t)
	bad, good := server.URL+"/bad", server.URL+"/good"
	r.Put(t, registry.Name("urn:nbn:fi:example-1"), registry.Record{Targets: urndtest.Targets(bad, good)})
	r.Put(t, registry.Name("urn:nbn:fi:example-2"), registry.Record{Targets: urndtest.Targets(bad)})
	for _, ago := range []time.Duration{26 * time.Hour, 13 * time.Hour, time.Minute} {
		checkAt(t, r, time.Now().Add(-ago))
	}
	w := r.Start(t, func(c *config.Config) {
		c.Registry.HealthInterval, c.Registry.HealthContact, c.Registry.HealthPause = time.Hour, "a@a.example", 0
		c.Access.AllowDestinations = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
	})
	testserver.Wait(t, "the healthy target is preferred",
		func() bool { return w.Target(t, "urn:nbn:fi:example-1") == good })
	if got := w.Target(t, "urn:nbn:fi:example-2"); got != bad {
		t.Errorf("the only target is not used: %s", got)
	}
	testserver.Wait(t, "the targets are checked", func() bool { return server.requestedBy("(+a@a.example)") })
	testserver.Wait(t, "metrics", func() bool {
		_, text := w.AdminRequest(t, "GET /metrics")
		return strings.Contains(text, `urnd_registry_targets{state="unhealthy"} 2`) &&
			strings.Contains(text, "urnd_registry_sweep_lag_seconds 0") &&
			strings.Contains(text, "urnd_registry_target_checks_total{outcome=\"gone\"}")
	})
	w.Stop() // possibly during a check
	err := r.Store().Read(t.Context(), func(tx registry.Tx) error {
		held, err := tx.Lease("health")
		if held.Holder != "" {
			t.Errorf("a lease was not given up: %+v", held)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if stateOf(t, r, bad) == "" {
		t.Error("nothing is kept of the target")
	}
}

// stateOf returns the state of a target.
func stateOf(t *testing.T, r urndtest.Registry, uri string) (state string) {
	t.Helper()
	if err := health.List(t.Context(), r.Store(), "", "", func(found health.Target) error {
		if found.URI == uri {
			state = string(found.State)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return state
}

// TestRegistryHealthCommand checks that the command lists unhealthy targets, checks on demand, and reports the
// result in its exit status.
func TestRegistryHealthCommand(t *testing.T) {
	t.Parallel()
	server := newTargetServer(t)
	r := urndtest.NewRegistry(t)
	good, bad := server.URL+"/good", server.URL+"/bad"
	r.Put(t, registry.Name("urn:nbn:fi:a-1"), registry.Record{Targets: urndtest.Targets(good)})
	r.Put(t, registry.Name("urn:nbn:fi:b-1"), registry.Record{Targets: urndtest.Targets(bad, "http://10.0.0.1/")})
	environment := []string{
		"URND_CONFIG=", "URND_ACCESS_ALLOW_DESTINATIONS=127.0.0.1/32", "URND_REGISTRY_HEALTH_PAUSE=0s",
		"URND_DNS_SERVERS=127.0.0.1:1",
	}
	const usage = 2 // exit status for wrong arguments
	for _, c := range []struct {
		name, args string
		before     func(t *testing.T)
		status     int // 0 is success
		out        []string
		err        string
	}{
		{"no problem is known", "", nil, 0, nil, "no running urnd has checked targets yet"},
		{"no contact", "--check", nil, usage, nil, "health_contact"},
		{"a bad contact", "--check --contact x)y", nil, usage, nil, "health_contact"},
		{"two prefixes", "urn:nbn:fi:a urn:nbn:fi:b", nil, usage, nil, ""},
		{
			"checked, all well", "urn:nbn:fi:a --check --contact a@a.example", nil, 0, nil,
			"checked 1 targets: 0 do not respond",
		},
		{
			"checked, all shown", "urn:nbn:fi:a --check --all --contact a@a.example", nil, 0,
			[]string{"urn:nbn:fi:a-1\thealthy\t", "\t-\t" + good},
			"",
		},
		{"checked, one gone", "--check --contact a@a.example", nil, 1, []string{
			"urn:nbn:fi:b-1\tsuspect\t", "404 Not Found\t" + bad, "inaccessible",
			"http://10.0.0.1/",
		}, "checked 3 targets: 1 do not respond"},
		{"suspect", "", nil, 0, []string{"suspect", bad}, "0 unhealthy"},
		{"unhealthy", "urn:nbn:fi:b", func(t *testing.T) {
			t.Helper()
			checkAt(t, r, time.Now().Add(12*time.Hour))
			checkAt(t, r, time.Now().Add(25*time.Hour))
		}, 1, []string{"unhealthy", bad}, "1 unhealthy"},
		{"others", "urn:nbn:fi:a", nil, 0, nil, "0 unhealthy"},
		{
			"documents", "urn:nbn:fi:b --output json", nil, 1,
			[]string{`{"name":"urn:nbn:fi:b-1","uri":"` + bad + `","state":"unhealthy",`, `"history":[{"at":`},
			"",
		},
		{"all", "--all", nil, 1, []string{"urn:nbn:fi:a-1\tunchecked\t-\t-\t-\t" + good, bad}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.before != nil {
				c.before(t)
			}
			args := append([]string{"registry", "health", "--store", "sqlite:" + r.Path}, strings.Fields(c.args)...)
			got := urndtest.RunWith(t, environment, "", args...)
			if got.Status != c.status || !strings.Contains(got.Err, c.err) || (got.Out == "") != (c.out == nil) {
				t.Errorf("status %d\n%s%s", got.Status, got.Out, got.Err)
			}
			for _, part := range c.out {
				if !strings.Contains(got.Out, part) {
					t.Errorf("the output does not have %q:\n%s", part, got.Out)
				}
			}
		})
	}
}
