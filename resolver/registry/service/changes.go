package service

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// ChangeFilter selects change sets: those that match all of its fields.
type ChangeFilter struct {
	Prefix       string // beginning of some name that the set changed; "" is any
	Since, Until time.Time
	By           string
	NewestFirst  bool // newest first, instead of oldest first
}

// fit reports whether a change set matches, apart from Prefix.
func (c *ChangeFilter) fit(set registry.ChangeSet) bool {
	return !set.Time.Before(c.Since) && (c.Until.IsZero() || !set.Time.After(c.Until)) && (c.By == "" || set.By == c.By)
}

// ChangeSetPage is a page of change sets. Next is the cursor of the following page; it is set even if there is
// none yet. More reports whether there are further change sets now.
type ChangeSetPage struct {
	Sets []registry.ChangeSet
	Next string
	More bool
}

// ChangeSets returns a page of change sets. An actor that is restricted to prefixes must select one of them.
// The page ends early after searchWithin; the rest is on the following pages.
func (s *Service) ChangeSets(
	ctx context.Context, actor registry.Actor, of ChangeFilter, page Page,
) (found ChangeSetPage, err error) {
	limit, after, err := s.readSeq(ctx, page)
	if err != nil {
		return found, err
	}
	below, err := s.below(actor, of.Prefix)
	if err != nil {
		return found, err
	}
	read := s.registry.ChangeSets
	if of.NewestFirst {
		read = s.registry.ChangeSetsBefore
	}
	var failed error
	started := s.Now()
	err = read(ctx, after, func(set registry.ChangeSet) bool {
		if found.More = len(found.Sets) == limit || s.Now().Sub(started) >= searchWithin; found.More {
			return false
		}
		ok := of.fit(set)
		if ok && below != "" {
			ok, failed = s.registry.ChangeSetContains(ctx, set.Number, below)
		}
		if after = set.Number; ok {
			found.Sets = append(found.Sets, set)
		}
		return failed == nil
	})
	if err = errors.Join(err, failed); err == nil {
		found.Next, err = s.registry.CursorAt(ctx, after)
	}
	return found, err
}

// ChangeSet returns a change set that changed a name or prefix that begins with prefix; "" is any. An actor
// that is restricted to prefixes must select one of them.
func (s *Service) ChangeSet(
	ctx context.Context, actor registry.Actor, number registry.Seq, prefix string,
) (set registry.ChangeSet, err error) {
	below, err := s.below(actor, prefix)
	if err != nil {
		return set, err
	}
	if set, err = s.changeSet(ctx, number); below == "" {
		return set, err
	}
	ok := false
	if err == nil {
		ok, err = s.registry.ChangeSetContains(ctx, number, below)
	}
	// The same error in both cases: an actor must not learn of change sets outside of its prefixes.
	if err == nil && !ok || errors.Is(err, registry.ErrUnknown) {
		err = fmt.Errorf("%w: no change set %d below %s", registry.ErrUnknown, number, below)
	}
	return set, err
}

// changeSet returns a change set, without a check of its names.
func (s *Service) changeSet(ctx context.Context, number registry.Seq) (set registry.ChangeSet, err error) {
	err = s.registry.Store().Read(ctx, func(tx registry.Tx) error {
		set, err = tx.ChangeSet(number)
		return err
	})
	return set, err
}

// EventPage is a page of versions, purges and redactions. Next is the cursor of the following page; it is set even
// if there is none yet. More reports whether there are further events now.
type EventPage struct {
	Events []registry.Event
	Next   string
	More   bool
}

// Events returns a page of the events of names and prefixes that begin with prefix, "" for all, in a change
// set; 0 is all change sets.
func (s *Service) Events(
	ctx context.Context, actor registry.Actor, set registry.Seq, prefix string, page Page,
) (found EventPage, err error) {
	limit, after, err := s.readSeq(ctx, page)
	if err != nil {
		return found, err
	}
	below, err := s.below(actor, prefix)
	if err != nil {
		return found, err
	}
	found.Events, after, found.More, err = s.registry.Events(ctx,
		registry.Events{After: after, Set: set, Prefix: below, Limit: limit})
	if err == nil {
		found.Next, err = s.registry.CursorAt(ctx, after)
	}
	return found, err
}

// ChangesInSet calls f with the versions of a change set, each with its predecessor, in commit order, until f
// returns false. prefix restricts them to names and prefixes that begin with it, "" is all. An actor that is
// restricted to prefixes must select one of them.
func (s *Service) ChangesInSet(
	ctx context.Context, actor registry.Actor, set registry.Seq, prefix string, f func(registry.Changed) bool,
) error {
	below, err := s.below(actor, prefix)
	if err != nil {
		return err
	}
	return s.registry.ChangesInSet(ctx, set,
		func(c registry.Changed) bool { return !strings.HasPrefix(c.After.Name, below) || f(c) })
}
