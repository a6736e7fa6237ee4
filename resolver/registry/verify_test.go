package registry_test

import (
	"context"
	"errors"
	"testing"

	"github.com/urnd/urnd/resolver/registry"
)

// broken is a large store that cannot be read.
type broken struct{ registry.Store }

var errBroken = errors.New("it cannot be read")

func (broken) Head(context.Context) (registry.Seq, error)          { return 100 << 16, nil }
func (broken) Read(context.Context, func(registry.Tx) error) error { return errBroken }
func (broken) Check(context.Context, func(string)) error           { return nil }

// A check of a large store ends when a part of it cannot be read.
func TestVerifyEnds(t *testing.T) {
	err := registry.Verify(t.Context(), broken{}, func(fault string) { t.Error(fault) }, func(_, _ registry.Seq) {})
	if !errors.Is(err, errBroken) {
		t.Errorf("the error is %v", err)
	}
}
