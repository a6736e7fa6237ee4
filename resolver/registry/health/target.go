package health

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// State is the health of a target.
type State string

// The states. A target that is not stored is healthy, or was not checked yet.
const (
	Healthy      State = "healthy"
	Suspect      State = "suspect"      // the last checks failed, but too few of them, or over too short a time
	Unhealthy    State = "unhealthy"    // MinFailures or more consecutive failures over at least MinFailureTime
	Inaccessible State = "inaccessible" // the address is not an allowed destination: its health is unknown
)

// States returns all states.
func States() []State { return []State{Healthy, Suspect, Unhealthy, Inaccessible} }

// The thresholds of an unhealthy target. One success makes it healthy.
const (
	MinFailures    = 3
	MinFailureTime = 24 * time.Hour
)

const (
	maxHistory = 10
	// keepHealthy is how long a target is stored after it has recovered.
	keepHealthy = 90 * 24 * time.Hour
)

// Target is the stored state of a target of a name. Stored are targets that are not healthy, those that have
// recovered recently, and some that have moved permanently.
type Target struct {
	Name     string       `json:"-"`
	URI      string       `json:"uri"`
	State    State        `json:"state,omitempty"`
	Since    time.Time    `json:"since,omitzero"`    // start of the state
	Checked  time.Time    `json:"checked,omitzero"`  // time of the last check
	Outcome  Outcome      `json:"outcome,omitempty"` // of the last check
	Status   int          `json:"status,omitempty"`  // of the last check
	Error    string       `json:"error,omitempty"`   // of the last check
	Moved    string       `json:"moved,omitempty"`   // location of a permanent move, by the last check
	Failures int          `json:"failures"`          // consecutive failures
	Failing  time.Time    `json:"failing,omitzero"`  // time of the first of them
	History  []Transition `json:"history,omitempty"` // the last changes of State, the oldest first
}

// detail is the part of a target that is stored as JSON.
type detail struct {
	Outcome Outcome      `json:"outcome,omitempty"`
	Status  int          `json:"status,omitempty"`
	Failing time.Time    `json:"failing,omitzero"`
	History []Transition `json:"history,omitempty"`
}

// Transition is a change of the state of a target.
type Transition struct {
	At    time.Time `json:"at"`
	State State     `json:"state"`
	Error string    `json:"error,omitempty"`
}

// behind returns a key after all keys of a name, and before those of any later name.
func behind(name string) registry.HealthKey { return registry.HealthKey{Name: name, Hash: "~"} }

func (t *Target) key() registry.HealthKey { return registry.HealthKeyOf(t.Name, t.URI) }

// toTargets decodes stored targets.
func toTargets(all []registry.Health) ([]Target, error) {
	targets := make([]Target, len(all))
	for i, h := range all {
		var d detail
		if err := json.Unmarshal(h.Detail, &d); err != nil {
			return nil, fmt.Errorf("%w: health of a target of %s: %w", registry.ErrDamaged, h.Name, err)
		}
		targets[i] = Target{
			Name: h.Name, URI: h.URI, State: State(h.State), Since: h.Since, Checked: h.Checked, Outcome: d.Outcome,
			Status: d.Status, Error: h.Error, Moved: h.Moved, Failures: h.Failures, Failing: d.Failing,
			History: d.History,
		}
	}
	return targets, nil
}

// put stores a target.
func (t *Target) put(tx registry.WriteTx) error {
	text, err := json.Marshal(detail{t.Outcome, t.Status, t.Failing, t.History})
	if err != nil {
		return fmt.Errorf("writing the health of a target of %s: %w", t.Name, err)
	}
	return tx.PutHealth(registry.Health{
		Name: t.Name, URI: t.URI, State: string(t.State), Since: t.Since, Checked: t.Checked, Failures: t.Failures,
		Error: t.Error, Moved: t.Moved,
		Detail: text,
	})
}

// next returns a target after a check. keep is false if it need not be stored. A target that is not stored
// has the zero value of State.
func (t Target) next(r Result, now time.Time) (after Target, keep bool) {
	now = now.UTC().Truncate(time.Second)
	before := t.State
	if before == "" {
		t.State, t.Since = Healthy, now
	}
	if r.Outcome == Later || r.Outcome == Unchecked {
		return t, before != "" // no information
	}
	t.Checked, t.Outcome, t.Status, t.Error, t.Moved = now, r.Outcome, r.Status, r.Error, r.Moved
	state := Healthy
	switch {
	case r.Outcome.bad():
		if t.Failures == 0 {
			t.Failing = now
		}
		t.Failures++
		state = Suspect
		if t.State == Unhealthy || t.Failures >= MinFailures && now.Sub(t.Failing) >= MinFailureTime {
			state = Unhealthy
		}
	default:
		t.Failures, t.Failing = 0, time.Time{}
		if r.Outcome == Forbidden {
			state = Inaccessible
		}
	}
	if state != t.State {
		t.change(state, now)
	}
	return t, t.State != Healthy || t.wasUnhealthy() && now.Sub(t.Since) < keepHealthy
}

// change changes the state.
func (t *Target) change(state State, now time.Time) {
	t.State, t.Since = state, now
	history := append(t.History[:len(t.History):len(t.History)], Transition{now, state, t.Error})
	t.History = history[max(len(history)-maxHistory, 0):]
}

// wasUnhealthy reports whether the history has the state Unhealthy.
func (t *Target) wasUnhealthy() bool {
	for _, h := range t.History {
		if h.State == Unhealthy {
			return true
		}
	}
	return false
}

// due reports whether a target has to be rechecked outside the sweep.
func (t *Target) due(now time.Time, every time.Duration) bool {
	return (t.State == Suspect || t.State == Unhealthy) && now.Sub(t.Checked) >= every
}
