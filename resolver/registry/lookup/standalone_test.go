package lookup_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/lookup"
)

// failingResolver returns an error for each name.
type failingResolver struct{ err error }

func (f failingResolver) Resolve(context.Context, resolver.Query) (resolver.Answer, error) {
	return resolver.Answer{}, f.err
}

// An unsupported name becomes not found; other errors are unchanged.
func TestAlone(t *testing.T) {
	broken := errors.New("broken")
	for _, tt := range []struct{ err, want error }{
		{&resolver.Negative{Kind: resolver.ErrUnsupported, Reason: "r", TTL: resolver.Forever}, resolver.ErrNotFound},
		{&resolver.Negative{Kind: resolver.ErrGone, Reason: "r", TTL: time.Hour}, resolver.ErrGone},
		{broken, broken},
	} {
		_, err := lookup.Standalone{Resolver: failingResolver{tt.err}, TTL: time.Hour}.Resolve(t.Context(),
			resolver.Query{})
		var n *resolver.Negative
		if !errors.Is(err, tt.want) || errors.As(err, &n) && (n.TTL != time.Hour || n.Reason != "r") {
			t.Errorf("%v: %v", tt.err, err)
		}
	}
}

// The selection of a name is its own responses, that of a prefix all responses below it, that of the empty
// prefix all responses.
func TestSelectionOfKeys(t *testing.T) {
	if s, ok := registry.Name("urn:nbn:fi:a").Selection(); !ok || s.Name.String() != "urn:nbn:fi:a" || s.All ||
		s.Prefix != "" {
		t.Errorf("%+v, %t", s, ok)
	}
	if s, ok := registry.Prefix("urn:nbn:fi:").Selection(); !ok || s.Prefix != "urn:nbn:fi:" || s.All ||
		s.Name.IsValid() {
		t.Errorf("%+v, %t", s, ok)
	}
	if s, ok := registry.Prefix("").Selection(); !ok || !s.All {
		t.Errorf("%+v, %t", s, ok)
	}
	if _, ok := registry.Name("no name").Selection(); ok {
		t.Error("an invalid URI has answers")
	}
}
