package jobs

import (
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// Limits of States.
const (
	statesFor = 24 * time.Hour
	maxStates = 1000
)

// States counts the jobs of the last day by state.
func States(tx registry.Tx, now time.Time) (map[State]int64, error) {
	documents, err := tx.Documents(registry.TableJobs, keyJob, keyJob+idAt(now.Add(-statesFor)), maxStates)
	if err != nil {
		return nil, err
	}
	states := map[State]int64{Queued: 0, Running: 0, Done: 0, Failed: 0, Cancelled: 0, Interrupted: 0}
	for _, d := range documents {
		var of struct {
			State State `json:"state"`
		}
		if err := decode(d.Value, &of); err != nil {
			return nil, err
		}
		states[of.State]++
	}
	return states, nil
}
