package balance

import "time"

// State is the availability of a server.
type State string

const (
	Up       State = "up"
	Down     State = "down"     // by probes: gets requests only if all others are down or failing
	Starting State = "starting" // recovered, with a part of its weight
	Drained  State = "drained"  // as configured
)

// ServerStatus is a snapshot of a server.
type ServerStatus struct {
	URL     string // scheme://authority, normalized
	Weight  int    // as configured, clamped to 1 and MaxWeight
	Drained bool
	State   State
	Since   time.Time // start of the state; for up and drained no earlier than New
	// Failing is true if requests to it have failed, so that others are preferred. Its state may still be up or
	// starting.
	Failing     bool
	Reason      string // of the last failed probe, even if a later one succeeded; "" for none
	Outstanding int64  // requests in flight
	Requests    int64  // since New, including retries
	Failures    int64  // failed requests, by Report
}

// Status returns a snapshot of the servers, in configuration order.
func (p *Pool) Status() []ServerStatus {
	now := p.config.Now()
	all := make([]ServerStatus, 0, len(p.servers))
	for _, s := range p.servers {
		h := s.health.Load()
		status := ServerStatus{
			URL: s.name, Weight: s.Weight, Drained: s.Drained, State: Up, Since: h.since, Reason: h.reason,
			Failing: p.config.Failing != nil && p.config.Failing(s.name), Outstanding: s.outstanding.Load(),
			Requests: s.requests.Load(), Failures: s.failures.Load(),
		}
		switch slowStart := p.config.HealthCheck.SlowStart; {
		case s.Drained:
			status.State = Drained
		case h.down:
			status.State = Down
		case h.starting(now, slowStart):
			status.State = Starting
		case h.back:
			status.Since = h.since.Add(slowStart)
		}
		all = append(all, status)
	}
	return all
}
