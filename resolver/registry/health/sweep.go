package health

import (
	"encoding/json"
	"fmt"
	"sort"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// Sweep is the progress of the sweep over all names.
type Sweep struct {
	Started  time.Time         `json:"started,omitzero"`
	Position string            `json:"position,omitempty"` // the last name that was passed
	Names    int64             `json:"names"`              // number of names passed
	Total    int64             `json:"total"`              // number of names at the start
	Moved    time.Time         `json:"moved,omitzero"`     // the last change of Position
	Interval time.Duration     `json:"interval"`           // from the start of a sweep to the start of the next one
	Outcomes map[Outcome]int64 `json:"outcomes,omitempty"` // of the checks of this sweep
	// States counts the stored targets by state.
	States map[State]int64 `json:"states,omitempty"`
	// Revision increases with each change of the set of unhealthy targets.
	Revision int64 `json:"revision"`
	// Unrecorded counts targets that are not healthy but not stored, because maxDocuments is reached.
	Unrecorded int64 `json:"unrecorded,omitempty"`
	// Ended is when the sweep passed the last name.
	Ended time.Time `json:"ended,omitzero"`
}

// Due returns the time at which the next name is due: names are spread evenly over the interval.
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

// Lag returns the delay of the sweep.
func (s Sweep) Lag(now time.Time) time.Duration {
	if s.Started.IsZero() {
		return 0
	}
	return max(now.Sub(s.Due()), 0)
}

const (
	maxPage = 200 // names in one page
	// pageTime bounds a page: its names are those due in this time at an even pace.
	pageTime = 10 * time.Minute
)

// page returns the number of names in the next page.
func (s Sweep) page() int {
	n := s.Total * int64(pageTime) / int64(max(s.Interval, pageTime))
	return int(min(max(n, 1), maxPage))
}

// passed records the times at which sweeps passed names.
type passed struct {
	Current  []checkpoint `json:"current"`
	Previous []checkpoint `json:"previous"` // of the previous sweep
}

// checkpoint says that the names up to and including Name were passed at a time.
type checkpoint struct {
	Name string    `json:"name"`
	At   time.Time `json:"at"`
}

const (
	checkpoints    = 100     // of a sweep
	maxCheckpoints = 400     // of a sweep that exceeds its interval
	maxPassedName  = 1 << 10 // bytes
)

// pass records that the names up to name were passed. It reports whether it added a checkpoint: there are at
// most maxCheckpoints, at intervals.
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

// at returns the time by which a name was passed last, zero if it never was. For names after the last
// checkpoint of the current sweep that is s.Moved.
func (p *passed) at(name string, s Sweep) time.Time {
	if name <= s.Position || !s.Ended.IsZero() {
		if t := find(p.Current, name); !t.IsZero() {
			return t
		}
		return s.Moved
	}
	return find(p.Previous, name)
}

// find returns the time of the first checkpoint at or after a name.
func find(points []checkpoint, name string) time.Time {
	i := sort.Search(len(points), func(i int) bool { return points[i].Name >= name })
	if i == len(points) {
		return time.Time{}
	}
	return points[i].At
}

// The keys of the sweep in registry.TableMarks.
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

// read reads a document; a missing one leaves to unchanged.
func read(tx registry.Tx, key string, to any) error {
	value, err := tx.Document(registry.TableMarks, key)
	if err != nil || value == nil {
		return err
	}
	if err := json.Unmarshal(value, to); err != nil {
		return fmt.Errorf("%w: state of the target checks: %w", registry.ErrDamaged, err)
	}
	return nil
}

func write(tx registry.WriteTx, key string, from any) error {
	value, err := json.Marshal(from)
	if err != nil {
		return fmt.Errorf("writing the state of the target checks: %w", err)
	}
	return tx.Put(registry.TableMarks, []registry.Document{{Key: key, Value: value}})
}
