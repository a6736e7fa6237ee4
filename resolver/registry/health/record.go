package health

import (
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// maxDocuments bounds the targets of which something is kept.
const maxDocuments = 1_000_000

// maxMoved bounds the healthy targets of which something is kept since they have moved for good: where there are more, such as after all sites
// have turned to TLS, nobody looks at them one by one.
const maxMoved = 10_000

// checked is a job with its result.
type checked struct {
	job
	Result
}

// record writes what checks found into the documents of targets, and counts it in a sweep. Results that were
// not had are not recorded.
func record(tx registry.WriteTx, s *Sweep, all []checked, now time.Time) error {
	for _, c := range all {
		if !c.isNews() {
			continue
		}
		before, err := readTarget(tx, c.name, c.uri)
		if err != nil {
			return err
		}
		after, keep := before.next(c.Result, now)
		keep = keep || s.keepsMove(before, after)
		switch {
		case before.State == "" && !keep:
			continue
		case before.State == "" && s.documents() >= maxDocuments:
			s.Unrecorded++
			continue
		}
		if keep {
			err = after.put(tx)
		} else {
			after.State, err = "", tx.RemoveHealth(after.key())
		}
		if err != nil {
			return err
		}
		s.count(before.State, after.State)
	}
	return nil
}

// isNews reports whether a result changes what is kept.
func (c *checked) isNews() bool {
	return c.Outcome != "" && (!c.Outcome.good() || c.known || c.Moved != "")
}

// keepsMove reports whether a target is kept since it has moved for good.
func (s *Sweep) keepsMove(before, after Target) bool {
	return after.Moved != "" && (before.State != "" || s.States[Healthy] < maxMoved)
}

// remove removes what is kept of targets that names do not have any more.
func remove(tx registry.WriteTx, s *Sweep, keys []registry.HealthKey) error {
	for _, key := range keys {
		before, err := tx.HealthOf(key)
		if err != nil {
			return err
		}
		s.count(State(before.State), "")
		if err := tx.RemoveHealth(key); err != nil {
			return err
		}
	}
	return nil
}

// readTarget returns what is kept of a target; State is "" where there is nothing.
func readTarget(tx registry.Tx, name, uri string) (Target, error) {
	kept, err := tx.HealthOf(registry.HealthKeyOf(name, uri))
	if err != nil || kept.State == "" {
		return Target{Name: name, URI: uri}, err
	}
	t, err := toTargets([]registry.Health{kept})
	if err != nil {
		return Target{}, err
	}
	return t[0], nil
}

// count counts that a document changes its state; "" is that there is none.
func (s *Sweep) count(before, after State) {
	if before == after {
		return
	}
	if before != "" {
		s.States[before] = max(s.States[before]-1, 0)
	}
	if after != "" {
		s.States[after]++
	}
	if before == Unhealthy || after == Unhealthy {
		s.Revision++
	}
}

// documents returns how many there are.
func (s *Sweep) documents() (n int64) {
	for _, of := range s.States {
		n += of
	}
	return n
}
