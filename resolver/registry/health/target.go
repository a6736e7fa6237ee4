package health

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// State is the health of a target.
type State string

// The states. A target of which nothing is kept is healthy, or was not checked yet.
const (
	Healthy      State = "healthy"
	Suspect      State = "suspect"      // the last checks failed, but too few, or within too little time
	Unhealthy    State = "unhealthy"    // it failed MinFailures times in a row, over MinFailing at least
	Inaccessible State = "inaccessible" // urnd may not ask its address: whether it is healthy is not known
)

// States returns all states that are kept.
func States() []State { return []State{Healthy, Suspect, Unhealthy, Inaccessible} }

// When a target is unhealthy. One success makes it healthy.
const (
	MinFailures = 3
	MinFailing  = 24 * time.Hour
)

const (
	maxHistory = 10
	// keepHealthy is how long the history of a target is kept that is healthy again.
	keepHealthy = 90 * 24 * time.Hour
)

// Target is what is kept of a target of a name: of those that are not healthy, of those that are healthy
// again for some time, and of some that have moved for good.
type Target struct {
	Name     string       `json:"-"`
	URI      string       `json:"uri"`
	State    State        `json:"state,omitempty"`
	Since    time.Time    `json:"since,omitzero"`    // since when it has the state
	Checked  time.Time    `json:"checked,omitzero"`  // when it was checked last
	Outcome  Outcome      `json:"outcome,omitempty"` // of the last check
	Status   int          `json:"status,omitempty"`  // likewise
	Error    string       `json:"error,omitempty"`   // likewise
	Moved    string       `json:"moved,omitempty"`   // where it has moved for good, by the last check
	Failures int          `json:"failures"`          // in a row
	Failing  time.Time    `json:"failing,omitzero"`  // when the first of these was
	History  []Transition `json:"history,omitempty"` // the last changes of State, the oldest first
}

// detail is what the store has of a target as JSON.
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

// behind returns a key that is after those of a name, and before those of all names after it.
func behind(name string) registry.HealthKey { return registry.HealthKey{Name: name, Hash: "~"} }

func (t *Target) key() registry.HealthKey { return registry.HealthKeyOf(t.Name, t.URI) }

// toTargets returns what the store has of targets.
func toTargets(all []registry.Health) ([]Target, error) {
	targets := make([]Target, len(all))
	for i, h := range all {
		var d detail
		if err := json.Unmarshal(h.Detail, &d); err != nil {
			return nil, fmt.Errorf("%w: the health of a target of %s: %w", registry.ErrDamaged, h.Name, err)
		}
		targets[i] = Target{
			Name: h.Name, URI: h.URI, State: State(h.State), Since: h.Since, Checked: h.Checked, Outcome: d.Outcome, Status: d.Status,
			Error: h.Error, Moved: h.Moved, Failures: h.Failures, Failing: d.Failing, History: d.History,
		}
	}
	return targets, nil
}

// put writes what is kept of a target.
func (t *Target) put(tx registry.WriteTx) error {
	text, err := json.Marshal(detail{t.Outcome, t.Status, t.Failing, t.History})
	if err != nil {
		return fmt.Errorf("writing the health of a target of %s: %w", t.Name, err)
	}
	return tx.PutHealth(registry.Health{
		Name: t.Name, URI: t.URI, State: string(t.State), Since: t.Since, Checked: t.Checked, Failures: t.Failures, Error: t.Error, Moved: t.Moved,
		Detail: text,
	})
}

// next returns a target after a check. keep is false where nothing need be kept of it. The zero value of
// State is a target of which there was nothing.
func (t Target) next(r Result, now time.Time) (after Target, keep bool) {
	now = now.UTC().Truncate(time.Second)
	before := t.State
	if before == "" {
		t.State, t.Since = Healthy, now
	}
	if r.Outcome == Later || r.Outcome == Unchecked {
		return t, before != "" // nothing was learnt
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
		if t.State == Unhealthy || t.Failures >= MinFailures && now.Sub(t.Failing) >= MinFailing {
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

// wasUnhealthy reports whether the target was unhealthy once.
func (t *Target) wasUnhealthy() bool {
	for _, h := range t.History {
		if h.State == Unhealthy {
			return true
		}
	}
	return false
}

// due reports whether a target is to be checked outside the order of names.
func (t *Target) due(now time.Time, every time.Duration) bool {
	return (t.State == Suspect || t.State == Unhealthy) && now.Sub(t.Checked) >= every
}
