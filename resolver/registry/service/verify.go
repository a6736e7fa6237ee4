package service

import (
	"context"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/lint"
)

// Head returns the last commit, whose digest covers the whole history; the zero value for an empty registry.
func (s *Service) Head(ctx context.Context, actor registry.Actor) (head registry.Commit, err error) {
	if err := ToRead.CheckAll(actor); err != nil {
		return head, err
	}
	err = s.registry.Store().Read(ctx, func(tx registry.Tx) error {
		head, err = tx.LastCommit()
		return err
	})
	return head, err
}

// Verify reports corruption, and names that are not in canonical form: see registry.Registry.Verify.
func (s *Service) Verify(
	ctx context.Context, actor registry.Actor, report func(problem string), progress func(done, all registry.Seq),
) error {
	if err := ToRead.CheckAll(actor); err != nil {
		return err
	}
	return s.registry.Verify(ctx, report, progress)
}

// Mark records that an operation on the whole registry was done now.
func (s *Service) Mark(ctx context.Context, mark registry.Mark) error {
	return s.registry.SetMark(ctx, mark)
}

// Check reports errors and warnings about the names and prefixes that begin with prefix, "" for all. The
// Registry of c is set by Check.
func (s *Service) Check(
	ctx context.Context, actor registry.Actor, c lint.Config, prefix string, report func(lint.Finding) error,
) (lint.Summary, error) {
	below, err := s.below(actor, prefix)
	if err != nil {
		return lint.Summary{}, err
	}
	c.Registry = s.registry
	return lint.Run(ctx, c, below, report)
}
