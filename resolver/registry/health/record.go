package health

import (
	"context"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// maxDocuments bounds the stored targets.
const maxDocuments = 1_000_000

// maxMoved bounds the stored targets that are healthy but have moved permanently. If there are more, for
// example after all sites have switched to TLS, nobody reviews them one by one.
const maxMoved = 10_000

// checkResult is a job with its result.
type checkResult struct {
	job
	Result
}

// record updates the stored targets by the results of checks, and counts them in a sweep. Results without
// outcome are skipped.
func record(tx registry.WriteTx, s *Sweep, all []checkResult, now time.Time) error {
	for _, c := range all {
		if !c.changed() {
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

// changed reports whether a result may change what is stored.
func (c *checkResult) changed() bool {
	return c.Outcome != "" && (!c.Outcome.good() || c.known || c.Moved != "")
}

// keepsMove reports whether a target is stored because it has moved permanently.
func (s *Sweep) keepsMove(before, after Target) bool {
	return after.Moved != "" && (before.State != "" || s.States[Healthy] < maxMoved)
}

// remove deletes stored targets that names do not have any more.
func remove(tx registry.WriteTx, s *Sweep, keys []registry.HealthKey) error {
	for _, key := range keys {
		before, err := tx.TargetHealth(key)
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

// Forget deletes the stored targets of a name, which are counted again if they are checked again.
func Forget(ctx context.Context, store registry.Store, name string) error {
	return store.Write(ctx, func(tx registry.WriteTx) error {
		known, err := tx.Health(name, registry.HealthKey{}, "", maxKnown) // the name is the first one that begins so
		if err != nil {
			return err
		}
		var gone []registry.HealthKey
		for _, h := range known {
			if h.Name == name {
				gone = append(gone, registry.HealthKeyOf(h.Name, h.URI))
			}
		}
		if gone == nil {
			return nil
		}
		s, err := readSweep(tx)
		if err != nil {
			return err
		}
		if err := remove(tx, &s, gone); err != nil {
			return err
		}
		return write(tx, keySweep, s)
	})
}

// readTarget returns a stored target; State is "" if it is not stored.
func readTarget(tx registry.Tx, name, uri string) (Target, error) {
	kept, err := tx.TargetHealth(registry.HealthKeyOf(name, uri))
	if err != nil || kept.State == "" {
		return Target{Name: name, URI: uri}, err
	}
	t, err := toTargets([]registry.Health{kept})
	if err != nil {
		return Target{}, err
	}
	return t[0], nil
}

// count counts a transition of a stored target; "" is a target that is not stored.
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

// documents returns the number of stored targets.
func (s *Sweep) documents() (n int64) {
	for _, of := range s.States {
		n += of
	}
	return n
}
