package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/bulk"
	"github.com/urnd/urnd/resolver/registry/health"
	"github.com/urnd/urnd/resolver/registry/mint"
)

// Change makes edits in one transaction, all or none; with dry it only determines their effect. It returns one
// Changed per edit: Before and After are equal if the edit changes nothing, and After has no Seq in a dry run.
func (s *Service) Change(
	ctx context.Context, actor registry.Actor, dry bool, edits ...registry.Edit,
) ([]registry.Changed, error) {
	return s.change(ctx, actor, ToChange, dry, edits)
}

// Withdraw is Change for edits that withdraw names: see registry.Withdraw.
func (s *Service) Withdraw(
	ctx context.Context, actor registry.Actor, dry bool, edits ...registry.Edit,
) ([]registry.Changed, error) {
	return s.change(ctx, actor, ToWithdraw, dry, edits)
}

func (s *Service) change(
	ctx context.Context, actor registry.Actor, use Permission, dry bool, edits []registry.Edit,
) ([]registry.Changed, error) {
	all := make([]registry.Changed, len(edits))
	for i := range edits {
		if err := use.Check(actor, edits[i].Key.Kind); err != nil {
			return nil, err
		}
		change := edits[i].Change
		edits[i].Change = func(before registry.Entry) (registry.Record, error) {
			all[i] = registry.Changed{Before: before, After: before}
			record, err := change(before)
			if err == nil && record.Status == registry.Withdrawn && before.Status != registry.Withdrawn {
				err = actor.CheckAction(registry.ActWithdraw)
			}
			return record, err
		}
	}
	if !dry {
		after, err := s.registry.Apply(ctx, actor, edits...)
		for i := range after {
			all[i].After = after[i]
		}
		return all, s.conflicts(err)
	}
	changes, err := s.registry.Preview(ctx, actor, edits...)
	for _, c := range changes {
		for i := range all {
			if all[i].Before.Key == c.Before.Key && all[i].Before.Version == c.Before.Version {
				all[i].After = c.After
			}
		}
	}
	return all, s.conflicts(err)
}

// maxSuperseded limits the names that are superseded in one transaction.
const maxSuperseded = 1000

// Superseding describes which names are withdrawn in favour of which successors.
type Superseding struct {
	Names, Successors []string
	Reason, Note      string
}

// Supersede withdraws names in favour of successors, all or none. dry and the result are those of Change.
func (s *Service) Supersede(
	ctx context.Context, actor registry.Actor, dry bool, of Superseding,
) ([]registry.Changed, error) {
	if len(of.Names) > maxSuperseded && !s.config.Unbounded {
		return nil, fmt.Errorf("%w: more than %d names", registry.ErrInvalid, maxSuperseded)
	}
	edits, err := registry.Supersede(of.Names, of.Successors, of.Reason, of.Note)
	if err != nil {
		return nil, err
	}
	return s.Withdraw(ctx, actor, dry, edits...)
}

// Mint reserves the next unassigned names of a pattern, and returns them.
func (s *Service) Mint(ctx context.Context, actor registry.Actor, of mint.Request) ([]string, error) {
	if err := ToMint.Check(actor, registry.KindName); err != nil {
		return nil, err
	}
	names, err := s.minter.Mint(ctx, actor, of)
	return names, s.conflicts(err)
}

// maxPatterns limits the patterns that are listed.
const maxPatterns = 100

// MintPatterns returns the patterns that have a counter, begin with prefix, and are within the prefixes of the
// actor.
func (s *Service) MintPatterns(ctx context.Context, actor registry.Actor, prefix string) (all []string, err error) {
	if err := ToMint.Check(actor, registry.KindName); err != nil {
		return nil, err
	}
	err = s.registry.Store().Read(ctx, func(tx registry.Tx) error {
		all = nil
		for after := ""; len(all) < maxPatterns; {
			page, err := tx.MintPatterns(after, entriesAtOnce)
			if err != nil {
				return err
			}
			for _, pattern := range page {
				after = pattern
				literal, _, _ := strings.Cut(strings.TrimPrefix(pattern, "noid:"), "{")
				fits := len(literal) >= len(prefix) && strings.EqualFold(literal[:len(prefix)], prefix)
				if fits && actor.CheckRole(registry.Writer, registry.Prefix(literal)) == nil {
					all = append(all, pattern)
				}
			}
			if len(page) < entriesAtOnce {
				return nil
			}
		}
		return nil
	})
	return all, err
}

// PreviewMint returns the changes that Mint would make.
func (s *Service) PreviewMint(ctx context.Context, actor registry.Actor, of mint.Request) ([]registry.Changed, error) {
	if err := ToMint.Check(actor, registry.KindName); err != nil {
		return nil, err
	}
	return s.minter.Preview(ctx, actor, of)
}

// purged returns the canonical form of prefix, or an error if the actor may not purge it.
func (s *Service) purged(actor registry.Actor, prefix string) (string, error) {
	prefix, err := s.registry.CanonicalPrefix(prefix)
	if err == nil {
		err = ToPurge.CheckKey(actor, registry.Prefix(prefix))
	}
	return prefix, err
}

// Purge removes the sandboxed names and prefixes that begin with prefix, with their history, and returns their
// number.
func (s *Service) Purge(ctx context.Context, actor registry.Actor, prefix, note string) (int, error) {
	prefix, err := s.purged(actor, prefix)
	if err != nil {
		return 0, err
	}
	n, err := s.registry.Purge(ctx, actor, prefix, note)
	return n, s.conflicts(err)
}

// PreviewPurge calls f with all names and prefixes that begin with prefix. Purge would remove those in a
// sandbox.
func (s *Service) PreviewPurge(
	ctx context.Context, actor registry.Actor, prefix string, f func(registry.Entry) error,
) error {
	prefix, err := s.purged(actor, prefix)
	for _, kind := range []registry.Kind{registry.KindName, registry.KindPrefix} {
		if err == nil {
			_, err = s.registry.Search(ctx, registry.Search{Kind: kind, Prefix: prefix}, f)
		}
	}
	return err
}

// Redact permanently removes the targets, metadata and contact of versions of a name or prefix, and returns the
// number of redacted versions.
func (s *Service) Redact(
	ctx context.Context, actor registry.Actor, key registry.Key, versions []int, reason string,
) (int, error) {
	key, err := s.CanonicalKey(actor, ToRedact, key)
	if err != nil {
		return 0, err
	}
	// The health of the targets contains their URIs. It is deleted first, with its count: a redaction deletes what is
	// left, uncounted.
	changes, err := s.registry.PreviewRedact(ctx, actor, key, versions, reason)
	if err == nil && len(changes) > 0 {
		err = health.Forget(ctx, s.registry.Store(), key.Name)
	}
	if err != nil {
		return 0, err
	}
	return s.registry.Redact(ctx, actor, key, versions, reason)
}

// PreviewRedact returns the changes that Redact would make.
func (s *Service) PreviewRedact(
	ctx context.Context, actor registry.Actor, key registry.Key, versions []int, reason string,
) ([]registry.Changed, error) {
	key, err := s.CanonicalKey(actor, ToRedact, key)
	if err != nil {
		return nil, err
	}
	return s.registry.PreviewRedact(ctx, actor, key, versions, reason)
}

// Import imports the records of a source: see bulk.Import. Its Registry and Actor are set by Import.
func (s *Service) Import(
	ctx context.Context, actor registry.Actor, of bulk.Import, source io.Reader,
) (bulk.Report, error) {
	if err := ToImport.Check(actor, registry.KindName); err != nil {
		return bulk.Report{}, err
	}
	of.Registry, of.Actor = s.registry, actor
	return of.Run(ctx, source)
}

// maxReverted limits the versions of a change set that can be reverted by a request, since a client waits for
// it.
const maxReverted = 10_000

// Revert reverts a change set, or determines the effect of that in a dry run.
func (s *Service) Revert(ctx context.Context, actor registry.Actor, of registry.Revert) (registry.RevertResult, error) {
	if err := errors.Join(ToRevert.CheckAll(actor), actor.CheckAction(registry.ActWithdraw)); err != nil {
		return registry.RevertResult{}, err
	}
	if of.Set < 1 {
		return registry.RevertResult{}, fmt.Errorf("%w: set must be the number of a change set", registry.ErrInvalid)
	}
	set, err := s.changeSet(ctx, of.Set)
	if err == nil && set.Rows > maxReverted && !s.config.Unbounded {
		err = fmt.Errorf("%w: change set %d has %d versions: to revert more than %d, run urnd registry revert %d",
			registry.ErrInvalid, set.Number, set.Rows, maxReverted, set.Number)
	}
	if err != nil {
		return registry.RevertResult{}, err
	}
	report, err := s.registry.Revert(ctx, actor, of)
	return report, s.conflicts(err)
}

// Rewrite rewrites the targets of many names, or determines the effect of that in a dry run.
func (s *Service) Rewrite(
	ctx context.Context, actor registry.Actor, of registry.Rewrite,
) (registry.RewriteResult, error) {
	if err := ToImport.Check(actor, registry.KindName); err != nil {
		return registry.RewriteResult{}, err
	}
	var err error
	if of.Prefix != "" {
		if of.Prefix, err = s.registry.SearchPrefix(of.Prefix); err != nil {
			return registry.RewriteResult{}, err
		}
	}
	report, err := s.registry.Rewrite(ctx, actor, of)
	return report, s.conflicts(err)
}
