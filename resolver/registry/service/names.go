package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/bulk"
)

// Filtered reports whether a search has criteria other than the prefix of the names, or a different order.
func Filtered(s *registry.Search) bool {
	return s.NewestFirst || s.AliasOf != "" || s.Target != "" || s.Text != "" || s.Title != "" || s.Tag != "" ||
		s.Member != "" || s.Statuses != nil
}

// below returns the canonical form of a search prefix, or ErrDenied if the actor may not read all names that
// begin with it.
func (s *Service) below(actor registry.Actor, prefix string) (below string, err error) {
	if prefix != "" {
		if below, err = s.registry.SearchPrefix(prefix); err != nil {
			return "", err
		}
	}
	return below, ToRead.CheckKey(actor, registry.Prefix(below))
}

// canonical makes Prefix and AliasOf of a search canonical, or returns ErrDenied if the actor may not read its
// results.
func (s *Service) canonical(actor registry.Actor, search *registry.Search) (err error) {
	if search.Prefix, err = s.below(actor, search.Prefix); err != nil || search.AliasOf == "" {
		return err
	}
	alias, err := s.registry.CanonicalKey(registry.Name(search.AliasOf))
	if err != nil {
		return fmt.Errorf("alias_of: %w", err)
	}
	search.AliasOf = alias.Name
	return nil
}

// find calls found with the results of a search, within the time and concurrency limits of searches.
func (s *Service) find(
	ctx context.Context, actor registry.Actor, search registry.Search, found func(registry.Entry) error,
) (registry.SearchProgress, error) {
	done, err := s.searching(ctx, actor)
	if err != nil {
		return registry.SearchProgress{}, err
	}
	defer done()
	if !s.config.Unbounded {
		search.Timeout = searchWithin
	}
	return s.registry.Search(ctx, search, found)
}

// Search calls found with the results of a search, in their order, and returns its progress. Only an Unbounded
// service honours search.Within; otherwise the limit is searchWithin.
func (s *Service) Search(
	ctx context.Context, actor registry.Actor, search registry.Search, found func(registry.Entry) error,
) (registry.SearchProgress, error) {
	if err := s.canonical(actor, &search); err != nil {
		return registry.SearchProgress{}, err
	}
	return s.find(ctx, actor, search, found)
}

// Version selects a version of a name: the one as of the time At, the one with a Number, or the current one.
type Version struct {
	At     time.Time
	Number int
}

// Get returns a version of a name or prefix; ErrUnknown if there is none.
func (s *Service) Get(ctx context.Context, actor registry.Actor, key registry.Key, v Version) (registry.Entry, error) {
	key, err := s.CanonicalKey(actor, ToRead, key)
	switch {
	case err != nil:
		return registry.Entry{}, err
	case !v.At.IsZero():
		return s.registry.At(ctx, key, v.At)
	case v.Number != 0:
		return s.version(ctx, key, v.Number)
	default:
		return s.registry.Get(ctx, key)
	}
}

// version returns a version by its number.
func (s *Service) version(ctx context.Context, key registry.Key, number int) (registry.Entry, error) {
	for before := registry.Seq(0); ; {
		page, err := s.registry.History(ctx, key, before, entriesAtOnce)
		if err != nil {
			return registry.Entry{}, err
		}
		for _, e := range page {
			if before = e.Seq; e.Version == number {
				return e, nil
			}
		}
		if len(page) < entriesAtOnce {
			return registry.Entry{}, fmt.Errorf("%w: %s has no version %d", registry.ErrUnknown, key, number)
		}
	}
}

// EntryPage is a page of entries. Next is the cursor of the next page, "" at the end.
type EntryPage struct {
	Entries []registry.Entry
	Next    string
}

var errPageFull = errors.New("page full")

// List returns a page of the results of a search. The page ends early after searchWithin; the rest is on the
// following pages.
func (s *Service) List(
	ctx context.Context, actor registry.Actor, search registry.Search, page Page,
) (found EntryPage, err error) {
	limit, after, err := page.read()
	if err != nil {
		return found, err
	}
	if err := s.canonical(actor, &search); err != nil {
		return found, err
	}
	if !Filtered(&search) {
		all, more, err := entriesUpTo(limit, func(last *registry.Entry, n int) ([]registry.Entry, error) {
			if last != nil {
				after = last.Name
			}
			return s.registry.List(ctx, search.Kind, search.Prefix, after, n)
		})
		if found.Entries = all; more {
			found.Next = cursorOf(all[len(all)-1].Name)
		}
		return found, err
	}
	search.After, search.Limit = after, limit
	size := 0
	done, err := s.find(ctx, actor, search, func(e registry.Entry) error {
		if found.Entries, size = append(found.Entries, e), size+sizeOf(&e); size > pageBytes {
			return errPageFull
		}
		return nil
	})
	if err != nil && !errors.Is(err, errPageFull) {
		return EntryPage{}, err
	}
	if done.Last != "" {
		found.Next = cursorOf(done.Last)
	}
	return found, nil
}

// History returns a page of the versions of a name or prefix, newest first.
func (s *Service) History(
	ctx context.Context, actor registry.Actor, key registry.Key, page Page,
) (found EntryPage, err error) {
	if key, err = s.CanonicalKey(actor, ToRead, key); err != nil {
		return found, err
	}
	limit, before, err := s.readSeq(ctx, page)
	if err != nil {
		return found, err
	}
	all, more, err := entriesUpTo(limit, func(last *registry.Entry, n int) ([]registry.Entry, error) {
		if last != nil {
			before = last.Seq
		}
		return s.registry.History(ctx, key, before, n)
	})
	if found.Entries = all; more {
		found.Next, err = s.registry.CursorAt(ctx, all[len(all)-1].Seq)
	}
	return found, err
}

// ExportAll exports a snapshot of all entries that begin with a prefix, in any format: see bulk.Export.
func (s *Service) ExportAll(ctx context.Context, actor registry.Actor, w io.Writer, o bulk.ExportOptions) (err error) {
	if o.Prefix, err = s.below(actor, o.Prefix); err != nil {
		return err
	}
	return bulk.Export(ctx, w, s.registry, o)
}

// Export is an export that was started.
type Export struct {
	// Write writes the export. It must be called at most once.
	Write func(w io.Writer) error
	// Close releases the export. It must be called exactly once.
	Close func()
}

// Export exports all results of a search, now or as of its time, as NDJSON, CSV or TSV.
func (s *Service) Export(
	ctx context.Context, actor registry.Actor, search registry.Search, format bulk.Format,
) (Export, error) {
	if err := s.canonical(actor, &search); err != nil {
		return Export{}, err
	}
	done, err := s.export(actor)
	if err != nil {
		return Export{}, err
	}
	return Export{
		Close: done,
		Write: func(w io.Writer) error { return bulk.ExportSearch(ctx, w, s.registry, search, format) },
	}, nil
}
