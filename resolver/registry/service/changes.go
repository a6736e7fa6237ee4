package service

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// Changes choose change sets: those that fit all of it.
type Changes struct {
	Prefix       string // what some name begins with that they have changed; "" is any
	Since, Until time.Time
	By           string
	Newest       bool // the newest ones are first, and not the oldest
}

// fit reports whether a change set fits, whatever it has changed.
func (c *Changes) fit(set registry.ChangeSet) bool {
	return !set.Time.Before(c.Since) && (c.Until.IsZero() || !set.Time.After(c.Until)) && (c.By == "" || set.By == c.By)
}

// ChangeSets are a page of change sets. Next is the cursor of what comes later, also where there is no more yet.
type ChangeSets struct {
	Sets []registry.ChangeSet
	Next string
	More bool
}

// ChangeSets returns a page of change sets. Whoever may see some names only must choose those. What took too long to be found is on a
// later page.
func (s *Service) ChangeSets(ctx context.Context, actor registry.Actor, of Changes, page Page) (found ChangeSets, err error) {
	limit, after, err := s.readSeq(ctx, page)
	if err != nil {
		return found, err
	}
	below, err := s.below(actor, of.Prefix)
	if err != nil {
		return found, err
	}
	read := s.registry.ChangeSets
	if of.Newest {
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
			ok, failed = s.registry.Touches(ctx, set.Number, below)
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

// ChangeSet returns a change set that has changed something that begins with a prefix; "" is anything. Whoever may see some names only must
// choose those.
func (s *Service) ChangeSet(ctx context.Context, actor registry.Actor, number registry.Seq, prefix string) (set registry.ChangeSet, err error) {
	below, err := s.below(actor, prefix)
	if err != nil {
		return set, err
	}
	if set, err = s.changeSet(ctx, number); below == "" {
		return set, err
	}
	ok := false
	if err == nil {
		ok, err = s.registry.Touches(ctx, number, below)
	}
	if err == nil && !ok || errors.Is(err, registry.ErrUnknown) { // one error: whether others have made it is theirs
		err = fmt.Errorf("%w: no change set %d has changed anything that begins with %s", registry.ErrUnknown, number, below)
	}
	return set, err
}

// changeSet returns a change set, whatever it has changed.
func (s *Service) changeSet(ctx context.Context, number registry.Seq) (set registry.ChangeSet, err error) {
	err = s.registry.Store().Read(ctx, func(tx registry.Tx) error {
		set, err = tx.ChangeSet(number)
		return err
	})
	return set, err
}

// Events are a page of versions, purges and redactions. Next is the cursor of what comes later, also where there is no more yet.
type Events struct {
	Events []registry.Event
	Next   string
	More   bool
}

// Events returns a page of what happened to names that begin with a prefix, "" for all: by a change set, or by all where its number is 0.
func (s *Service) Events(ctx context.Context, actor registry.Actor, set registry.Seq, prefix string, page Page) (found Events, err error) {
	limit, after, err := s.readSeq(ctx, page)
	if err != nil {
		return found, err
	}
	below, err := s.below(actor, prefix)
	if err != nil {
		return found, err
	}
	found.Events, after, found.More, err = s.registry.Events(ctx, registry.Events{After: after, Set: set, Below: below, Limit: limit})
	if err == nil {
		found.Next, err = s.registry.CursorAt(ctx, after)
	}
	return found, err
}

// ChangesOf calls f with the versions of a change set, each with the one before it, in their order, until it returns false. Whoever may see
// some names only must choose those that begin with a prefix, "" for all.
func (s *Service) ChangesOf(
	ctx context.Context, actor registry.Actor, set registry.Seq, prefix string, f func(registry.Changed) bool,
) error {
	below, err := s.below(actor, prefix)
	if err != nil {
		return err
	}
	return s.registry.ChangesOf(ctx, set, func(c registry.Changed) bool { return !strings.HasPrefix(c.After.Name, below) || f(c) })
}
