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

// Totals say how many names there are.
type Totals struct {
	Seq    registry.Seq               // of the last version, of all names; 0 of a search
	Groups map[string]registry.Totals // by namespace or scheme, of all names
	Total  registry.Totals
	Late   bool // there was no time to count all
}

// Totals returns how many names there are: those of all names are kept, others are counted.
func (s *Service) Totals(ctx context.Context, actor registry.Actor, search registry.Search) (t Totals, err error) {
	if err := s.canonical(actor, &search); err != nil {
		return t, err
	}
	if Filtered(&search) || search.Below != "" {
		done, err := s.find(ctx, actor, search, func(e registry.Entry) error {
			t.Total.Add(&e, 1)
			return nil
		})
		t.Late = done.Late
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

// Counts returns how often a name was resolved, or all names where that is "", by day or month; with the canonical name. Zero times do not
// bound the days.
func (s *Service) Counts(ctx context.Context, actor registry.Actor, key registry.Key, since, until time.Time) (_ string, found []registry.Count, err error) {
	if key.Name == "" {
		_, err = s.below(actor, "")
		key.Name = registry.AllNames
	} else {
		key, err = s.KeyOf(actor, ToRead, key)
	}
	if err != nil {
		return "", nil, err
	}
	err = s.registry.Store().Read(ctx, func(tx registry.Tx) error {
		found, err = count.Of(tx, key.Name, since, until)
		return err
	})
	return key.Name, found, err
}

// TopCounts returns the names that were resolved most, and the sum of all.
func (s *Service) TopCounts(ctx context.Context, actor registry.Actor, since, until time.Time, limit int) ([]registry.NameCount, registry.Tally, error) {
	if err := ToRead.CheckAll(actor); err != nil {
		return nil, registry.Tally{}, err
	}
	return count.Top(ctx, s.registry.Store(), since, until, limit)
}

// Health returns a page of the targets of names that begin with a prefix that were not healthy lately: those of a state, "" for all.
// next is the cursor of the next one, "" for none.
func (s *Service) Health(
	ctx context.Context, actor registry.Actor, prefix string, state health.State, page Page,
) (found []health.Target, next string, err error) {
	limit, after, err := page.read()
	if err != nil {
		return nil, "", err
	}
	if state != "" && !slices.Contains(health.States(), state) {
		return nil, "", fmt.Errorf("%w: state is one of %v", registry.ErrSelection, health.States())
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

// Targets calls each with the targets of names that begin with a prefix, "" for all, in the order of names: those that were not healthy when
// they were checked last, or with healthy all that were or are to be checked.
func (s *Service) Targets(ctx context.Context, actor registry.Actor, prefix string, healthy bool, each func(health.Target) error) error {
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

// Sweep returns how far the checks of targets by a running urnd are.
func (s *Service) Sweep(ctx context.Context) (health.Sweep, error) {
	return health.ReadSweep(ctx, s.registry.Store())
}

// CheckTargets checks the targets of names that begin with a prefix, "" for all, by a checker of a configuration,
// whose Store is that of the registry: see health.Checker.Check.
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
