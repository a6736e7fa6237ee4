package health

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// State is the health of a target.
type State string

// The states. A target without a document is healthy, or was not checked yet.
const (
	Healthy      State = "healthy"
	Suspect      State = "suspect"      // the last checks failed, but too few, or within too little time
	Unhealthy    State = "unhealthy"    // it failed MinFailures times in a row, over MinFailing at least
	Inaccessible State = "inaccessible" // urnd may not ask its address: whether it is healthy is not known
)

// States returns all states of which there are documents.
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
	Name     string       `json:"-"` // it is in the key
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

// Transition is a change of the state of a target.
type Transition struct {
	At    time.Time `json:"at"`
	State State     `json:"state"`
	Error string    `json:"error,omitempty"`
}

// The keys of TableHealth: a name, a space and a hash of the target. Spaces are not in names, so that documents are in
// the order of names.

func keyOf(name, target string) string {
	sum := sha256.Sum256([]byte(target))
	return name + " " + hex.EncodeToString(sum[:12])
}

// afterName returns a key that is after those of a name, and before those of all names after it.
func afterName(name string) string {
	if name == "" {
		return afterOwn
	}
	return name + " ~"
}

// Own documents of this package, before those of all names.
const (
	keySweep  = " sweep"
	keyPassed = " passed"
	afterOwn  = " ~"
)

// targetOf returns the target of a document.
func targetOf(d registry.Document) (Target, error) {
	name, _, _ := strings.Cut(d.Key, " ")
	t := Target{Name: name}
	if err := json.Unmarshal(d.Value, &t); err != nil {
		return Target{}, fmt.Errorf("%w: the health of a target of %s: %w", registry.ErrDamaged, name, err)
	}
	return t, nil
}

// document returns the document of a target.
func (t Target) document() (registry.Document, error) {
	value, err := json.Marshal(t)
	if err != nil {
		return registry.Document{}, fmt.Errorf("writing the health of a target of %s: %w", t.Name, err)
	}
	return registry.Document{Key: keyOf(t.Name, t.URI), Value: value}, nil
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
