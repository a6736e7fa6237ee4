package health

import (
	"encoding/json"
	"fmt"
	"sort"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// Sweep is how far the walk over all names is.
type Sweep struct {
	Started  time.Time         `json:"started,omitzero"`
	Position string            `json:"position,omitempty"` // the last name that was passed
	Names    int64             `json:"names"`              // that were passed
	Total    int64             `json:"total"`              // names when it began
	Moved    time.Time         `json:"moved,omitzero"`     // when the position changed last
	Interval time.Duration     `json:"interval"`           // from the beginning of a sweep to that of the next one
	Outcomes map[Outcome]int64 `json:"outcomes,omitempty"` // of the checks of this sweep
	// States are how many documents there are of each state.
	States map[State]int64 `json:"states,omitempty"`
	// Revision changes with the set of targets that are unhealthy.
	Revision int64 `json:"revision"`
	// Unrecorded counts targets that are not healthy, and of which nothing is kept since there are maxDocuments.
	Unrecorded int64 `json:"unrecorded,omitempty"`
	// Ended is when the sweep has passed the last name.
	Ended time.Time `json:"ended,omitzero"`
}

// Due returns when the next name is to be passed: names are spread evenly over the interval.
func (s Sweep) Due() time.Time {
	switch {
	case s.Started.IsZero():
		return time.Time{}
	case !s.Ended.IsZero():
		return s.Started.Add(s.Interval)
	}
	share := float64(s.Names) / float64(max(s.Total, s.Names, 1))
	return s.Started.Add(time.Duration(share * float64(s.Interval)))
}

// Lag returns how late the sweep is.
func (s Sweep) Lag(now time.Time) time.Duration {
	if s.Started.IsZero() {
		return 0
	}
	return max(now.Sub(s.Due()), 0)
}

const (
	maxPage = 200 // names that are passed at once
	// pageTime is how long the names of a page would take at an even pace.
	pageTime = 10 * time.Minute
)

// page returns how many names are passed at once.
func (s Sweep) page() int {
	n := s.Total * int64(pageTime) / int64(max(s.Interval, pageTime))
	return int(min(max(n, 1), maxPage))
}

// passed are the times at which sweeps passed names.
type passed struct {
	Current  []checkpoint `json:"current"`
	Previous []checkpoint `json:"previous"` // of the sweep before
}

// checkpoint says that the names up to one, included, were passed at a time.
type checkpoint struct {
	Name string    `json:"name"`
	At   time.Time `json:"at"`
}

const (
	checkpoints    = 100     // of a sweep
	maxCheckpoints = 400     // of a sweep that takes longer than it should
	maxPassedName  = 1 << 10 // octets
)

// pass records that the names up to one were passed. It reports whether that changes anything: there are not
// more than maxCheckpoints.
func (p *passed) pass(name string, at time.Time, interval time.Duration) bool {
	if len(name) > maxPassedName || len(p.Current) >= maxCheckpoints {
		return false
	}
	if n := len(p.Current); n > 0 && at.Sub(p.Current[n-1].At) < interval/checkpoints {
		return false
	}
	p.Current = append(p.Current, checkpoint{name, at})
	return true
}

// at returns the time by which a name was passed last; the zero value if it was not. Names of the sweep
// that goes on and after its last checkpoint were passed by s.Moved.
func (p *passed) at(name string, s Sweep) time.Time {
	if name <= s.Position || !s.Ended.IsZero() {
		if t := find(p.Current, name); !t.IsZero() {
			return t
		}
		return s.Moved
	}
	return find(p.Previous, name)
}

// find returns the time of the first checkpoint that is not before a name.
func find(points []checkpoint, name string) time.Time {
	i := sort.Search(len(points), func(i int) bool { return points[i].Name >= name })
	if i == len(points) {
		return time.Time{}
	}
	return points[i].At
}

// The marks of the checks.
const (
	keySweep  = "sweep"
	keyPassed = "passed"
)

func readSweep(tx registry.Tx) (s Sweep, err error) {
	err = read(tx, keySweep, &s)
	if s.Outcomes == nil {
		s.Outcomes = make(map[Outcome]int64)
	}
	if s.States == nil {
		s.States = make(map[State]int64)
	}
	return s, err
}

func readPassed(tx registry.Tx) (p passed, err error) {
	err = read(tx, keyPassed, &p)
	return p, err
}

// read reads a document, if there is one.
func read(tx registry.Tx, key string, to any) error {
	value, err := tx.Document(registry.TableMarks, key)
	if err != nil || value == nil {
		return err
	}
	if err := json.Unmarshal(value, to); err != nil {
		return fmt.Errorf("%w: the state of checks of targets: %w", registry.ErrDamaged, err)
	}
	return nil
}

func write(tx registry.WriteTx, key string, from any) error {
	value, err := json.Marshal(from)
	if err != nil {
		return fmt.Errorf("writing the state of checks of targets: %w", err)
	}
	return tx.Put(registry.TableMarks, []registry.Document{{Key: key, Value: value}})
}
