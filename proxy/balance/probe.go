package balance

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"
)

const (
	// failedProbes is the number of consecutive failed probes after which a server is down.
	failedProbes = 2
	// maxProbe is the maximum timeout of a probe, and maxReason the maximum length in bytes of the text of a
	// failure.
	maxProbe  = 5 * time.Second
	maxReason = 300
	// jitter is the fraction by which the interval varies, so that the probes of several instances do not
	// coincide.
	jitter = 0.1
	// startPercent is the percentage of its weight with which a recovered server starts.
	startPercent = 10
)

// health is the state of a server by probes. It is immutable: each probe replaces it.
type health struct {
	down   bool
	back   bool      // it has recovered, so it starts slowly
	since  time.Time // when it went down or up
	failed int       // consecutive failed probes
	reason string    // of the last failed probe
}

// percent returns the percentage of its weight that a server has.
func (h *health) percent(now time.Time, slowStart time.Duration) int64 {
	if !h.starting(now, slowStart) {
		return 100
	}
	elapsed := max(now.Sub(h.since), 0)
	return startPercent + int64(float64(100-startPercent)*elapsed.Seconds()/slowStart.Seconds())
}

func (h *health) starting(now time.Time, slowStart time.Duration) bool {
	return h.back && !h.down && now.Sub(h.since) < slowStart
}

// knownHealth returns the state of a server in the previous pool, nil if it is unknown there, or probed otherwise.
func (c *Config) knownHealth(name string) *health {
	if c.Previous == nil {
		return nil
	}
	check, before := c.HealthCheck, c.Previous.config.HealthCheck
	if check.Interval <= 0 || before.Interval <= 0 || check.Path != before.Path || check.Status != before.Status {
		return nil
	}
	for _, s := range c.Previous.servers {
		if s.name == name && !s.Drained {
			return s.health.Load()
		}
	}
	return nil
}

// Run probes the servers until ctx ends, and returns after the last probe; without an interval it returns
// immediately. Each server has at most one probe in flight. Run is called once.
func (p *Pool) Run(ctx context.Context) {
	if p.config.HealthCheck.Interval <= 0 {
		return
	}
	var running sync.WaitGroup
	for _, s := range p.servers { // at most MaxServers
		if !s.Drained {
			running.Go(func() { p.probes(ctx, s) })
		}
	}
	running.Wait()
}

// probes probes a server periodically. The first probe is early, because a server counts as up until its second
// failed probe.
func (p *Pool) probes(ctx context.Context, s *server) {
	interval := p.config.HealthCheck.Interval
	timer := time.NewTimer(randomUpTo(min(interval, time.Second)))
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		if probe := p.prober.Load(); probe != nil {
			reason := p.probe(ctx, *probe, s)
			if ctx.Err() != nil {
				return // the probe was canceled, and proves nothing
			}
			p.probed(s, reason)
		}
		varied := time.Duration(float64(interval) * jitter)
		timer.Reset(interval - varied + randomUpTo(2*varied))
	}
}

// randomUpTo returns a random duration from 0 to limit.
func randomUpTo(limit time.Duration) time.Duration {
	return time.Duration(rand.Int64N(int64(limit) + 1)) //nolint:gosec // jitter is no secret
}

// probe probes a server once, and returns the reason of a failure, "" for success.
func (p *Pool) probe(ctx context.Context, probe Probe, s *server) (reason string) {
	ctx, cancel := context.WithTimeout(ctx, min(p.config.HealthCheck.Interval, maxProbe))
	defer cancel()
	status, err := probe(ctx, s.URL, p.config.HealthCheck.Path)
	expected := p.config.HealthCheck.Status
	switch {
	case err != nil:
		reason = "no response: " + err.Error()
		return strings.ToValidUTF8(reason[:min(len(reason), maxReason)], "")
	case expected == 0 && (status < 200 || status > 399):
		return fmt.Sprintf("unexpected status %d, not from 200 to 399", status)
	case expected != 0 && status != expected:
		return fmt.Sprintf("unexpected status %d, not %d", status, expected)
	default:
		return ""
	}
}

// probed records the result of a probe. Only the goroutine that probes a server replaces its health.
func (p *Pool) probed(s *server, reason string) {
	now, before := p.config.Now(), s.health.Load()
	h := *before
	if reason == "" {
		h.failed = 0
	} else {
		h.failed, h.reason = min(h.failed+1, failedProbes), reason
	}
	switch {
	case !h.down && h.failed == failedProbes:
		h.down, h.since = true, now
	case h.down && h.failed == 0:
		h.down, h.back, h.since = false, true, now
	}
	s.health.Store(&h)
	switch {
	case h.down:
		p.up.And(uint64(^s.bit))
		p.starting.And(uint64(^s.bit))
	case h.starting(now, p.config.HealthCheck.SlowStart):
		p.starting.Or(uint64(s.bit)) // before up, so that no pick sees the full weight
		p.up.Or(uint64(s.bit))
	default:
		p.starting.And(uint64(^s.bit))
		p.up.Or(uint64(s.bit))
	}
	switch {
	case h.down && !before.down:
		p.config.Log.Warn(p.config.Kind+" down, used only if all others are down or fail",
			"server", s.name, "reason", h.reason)
	case before.down && !h.down:
		downFor := now.Sub(before.since).Round(time.Second)
		p.config.Log.Info(p.config.Kind+" up again", "server", s.name, "down_for", downFor)
	}
}
