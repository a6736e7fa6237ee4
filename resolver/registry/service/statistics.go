package service

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/count"
	"github.com/urnd/urnd/resolver/registry/health"
)

// Totals are the numbers of names and prefixes.
type Totals struct {
	Seq      registry.Seq               // of the last version, without criteria; 0 for a search
	Groups   map[string]registry.Totals // by namespace or scheme, without criteria
	Total    registry.Totals
	TimedOut bool // the time limit was reached before all entries were counted
}

// Totals returns the numbers of entries that a search matches. Without criteria they are read from the stored
// totals, otherwise the results are counted.
func (s *Service) Totals(ctx context.Context, actor registry.Actor, search registry.Search) (t Totals, err error) {
	if err := s.canonical(actor, &search); err != nil {
		return t, err
	}
	if Filtered(&search) || search.Prefix != "" {
		done, err := s.find(ctx, actor, search, func(e registry.Entry) error {
			t.Total.Add(&e, 1)
			return nil
		})
		t.TimedOut = done.TimedOut
		return t, err
	}
	if t.Seq, err = s.registry.Store().Head(ctx); err != nil {
		return t, err
	}
	err = s.registry.Store().Read(ctx, func(tx registry.Tx) error {
		t.Groups, err = tx.Totals()
		return err
	})
	for _, group := range t.Groups {
		t.Total = t.Total.Plus(group)
	}
	return t, err
}

// Counts returns the canonical name of a key and the counts of its resolutions by day or month; the counts of
// all names if the name is "". A zero time does not limit the days.
func (s *Service) Counts(
	ctx context.Context, actor registry.Actor, key registry.Key, since, until time.Time,
) (_ string, found []registry.Count, err error) {
	if key.Name == "" {
		_, err = s.below(actor, "")
		key.Name = registry.AllNames
	} else {
		key, err = s.CanonicalKey(actor, ToRead, key)
	}
	if err != nil {
		return "", nil, err
	}
	err = s.registry.Store().Read(ctx, func(tx registry.Tx) error {
		found, err = count.Get(tx, key.Name, since, until)
		return err
	})
	return key.Name, found, err
}

// TopCounts returns the names that were resolved most often, and the tally of all names.
func (s *Service) TopCounts(
	ctx context.Context, actor registry.Actor, since, until time.Time, limit int,
) ([]registry.NameCount, registry.Tally, error) {
	if err := ToRead.CheckAll(actor); err != nil {
		return nil, registry.Tally{}, err
	}
	return count.Top(ctx, s.registry.Store(), since, until, limit)
}

// Health returns a page of the targets, of names that begin with prefix, that have recently been unhealthy;
// state restricts them, "" is any. next is the cursor of the next page, "" at the end.
func (s *Service) Health(
	ctx context.Context, actor registry.Actor, prefix string, state health.State, page Page,
) (found []health.Target, next string, err error) {
	limit, after, err := page.read()
	if err != nil {
		return nil, "", err
	}
	if state != "" && !slices.Contains(health.States(), state) {
		return nil, "", fmt.Errorf("%w: state must be one of %v", registry.ErrInvalidParameters, health.States())
	}
	below, err := s.below(actor, prefix)
	if err != nil {
		return nil, "", err
	}
	found, after, err = health.Page(ctx, s.registry.Store(), below, state, after, limit)
	if after != "" {
		next = cursorOf(after)
	}
	return found, next, err
}

// Targets calls each with the targets of names that begin with prefix, "" for all, in the order of names: those
// that were unhealthy at their last check, with healthy also all others, including those not yet checked.
func (s *Service) Targets(
	ctx context.Context, actor registry.Actor, prefix string, healthy bool, each func(health.Target) error,
) error {
	below, err := s.below(actor, prefix)
	switch {
	case err != nil:
		return err
	case healthy:
		return health.ListAll(ctx, s.registry.Store(), s.Now(), below, each)
	default:
		return health.List(ctx, s.registry.Store(), below, "", func(t health.Target) error {
			if t.State == health.Healthy {
				return nil
			}
			return each(t)
		})
	}
}

// Sweep returns the progress of the target checks of a running urnd.
func (s *Service) Sweep(ctx context.Context) (health.Sweep, error) {
	return health.ReadSweep(ctx, s.registry.Store())
}

// CheckTargets checks the targets of names that begin with prefix, "" for all, with a checker configured by by,
// whose Store is set by CheckTargets: see health.Checker.Check.
func (s *Service) CheckTargets(
	ctx context.Context, actor registry.Actor, by health.Config, prefix string, each func(health.Target) error,
) error {
	below, err := s.below(actor, prefix)
	if err != nil {
		return err
	}
	by.Store = s.registry.Store()
	return health.New(by).Check(ctx, below, each)
}
