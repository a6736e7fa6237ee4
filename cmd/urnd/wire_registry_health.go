package main

import (
	"crypto/rand"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/metrics"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/health"
	schemehttp "github.com/urnd/urnd/resolver/scheme/http"
)

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

// healthConfig returns what configures a checker of targets, with a client of its own that the caller closes.
func healthConfig(c config.Config, r *resolution, store registry.Store, d resolverDependencies) (settings health.Config, closeClient func()) {
	web := schemehttp.New(schemehttp.Config{
		Dial:          r.guard.WithIdleTimeout(c.Limits.OriginIdle),
		HeaderTimeout: c.Limits.OriginTimeout, MaxIdle: c.Registry.HealthConcurrency, MaxIdlePerHost: 1, Now: d.now,
	})
	return health.Config{
		Store: store, Transport: web, Agent: healthAgent(c.Registry.HealthContact),
		Interval: c.Registry.HealthInterval, Rate: c.Registry.HealthRate, Concurrency: c.Registry.HealthConcurrency, Pause: c.Registry.HealthPause,
		Timeout: c.Limits.ConnectTimeout + c.Limits.OriginTimeout, Holder: healthHolder(), Now: d.now, After: time.After,
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
	return fmt.Sprintf("urnd-link-check/%s (+%s)", strings.Trim(versionText(), "()"), contact)
}

// healthHolder returns a name that no other instance has, nor an earlier one of this machine.
func healthHolder() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s/%d/%s", host, os.Getpid(), rand.Text()[:8])
}

// targetMetrics returns the state of the checks of targets; ok is false where there are none.
func targetMetrics(checks *health.Background) (m metrics.Targets, ok bool) {
	sweep, lag, ok := checks.Sweep()
	if !ok {
		return m, false
	}
	m = metrics.Targets{States: make(map[string]int64), Lag: lag, Moved: sweep.Moved}
	for _, state := range health.States() {
		m.States[string(state)] = sweep.States[state]
	}
	return m, true
}
