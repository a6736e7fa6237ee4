package balance

import "time"

// State is whether a server gets requests.
type State string

const (
	Up       State = "up"
	Down     State = "down"     // by probes: it gets requests only where all others are down or fail
	Starting State = "starting" // up again, with a part of its weight
	Drained  State = "drained"  // as it is configured
)

// ServerStatus is what is known of a server.
type ServerStatus struct {
	URL     string // scheme://authority, normalized
	Weight  int    // as it is configured, within 1 and MaxWeight
	Drained bool
	State   State
	Since   time.Time // when the state began; for up and drained, at the latest since New
	// Failing is whether it has failed requests, so that others are picked. It may also be up or starting.
	Failing     bool
	Reason      string // of the last failed probe, also where one has succeeded since; "" for none
	Outstanding int64  // requests now
	Requests    int64  // since New, with retries
	Failures    int64  // of those, by Report
}

// Status returns what is known of the servers now, in the order of the configuration.
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
		switch slowStart := p.config.Check.SlowStart; {
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
