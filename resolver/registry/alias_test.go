package registry_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/urnd/urnd/resolver/registry"
)

func link(i int) string { return fmt.Sprintf("urn:example:%d", i) }

// A change that makes a chain of aliases too long is rejected at both of its ends and in the middle, also within one
// batch: else the names at its beginning would no longer resolve.
func TestAliasChains(t *testing.T) {
	alias := func(i int) registry.Edit {
		return registry.Edit{
			Key: registry.Name(link(i)), IfVersion: registry.AnyVersion,
			Change: registry.Put(registry.Record{Alias: link(i + 1)}),
		}
	}
	resolves := func(i int) registry.Edit {
		return registry.Edit{
			Key: registry.Name(link(i)), IfVersion: registry.AnyVersion, Change: registry.Put(leadsTo("https://a.example/")),
		}
	}
	for _, c := range []struct {
		name  string
		order []int // of the aliases
		fails int   // the alias that makes nine, -1 for none
	}{
		{"at the beginning", []int{8, 7, 6, 5, 4, 3, 2, 1, 0}, 0},
		{"at the end", []int{0, 1, 2, 3, 4, 5, 6, 7, 8}, 8},
		{"in the middle", []int{0, 1, 2, 3, 8, 7, 6, 5, 4}, 4},
		{"eight", []int{0, 1, 2, 3, 7, 6, 5, 4}, -1},
	} {
		for _, isBatch := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, one batch: %v", c.name, isBatch), func(t *testing.T) {
				f := newFixture(t)
				var all []registry.Edit
				for _, i := range c.order {
					all = append(all, alias(i))
				}
				steps := [][]registry.Edit{all}
				if !isBatch {
					steps = nil
					for i := range all {
						steps = append(steps, all[i:i+1])
					}
				}
				for i, edits := range steps {
					_, err := f.Apply(t.Context(), librarian, edits...)
					var is *registry.Error
					isLong := errors.As(err, &is) && is.Code == "alias_chain_long"
					if want := c.fails >= 0 && i == len(steps)-1; isLong != want || err != nil && !want {
						t.Errorf("step %d: %v, want an error: %v", i, err, want)
					}
				}
			})
		}
	}
	t.Run("a chain that the batch cuts", func(t *testing.T) {
		f := newFixture(t)
		for i := range 8 {
			if _, err := f.Apply(t.Context(), librarian, alias(i)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := f.Apply(t.Context(), librarian, resolves(3), alias(8)); err != nil {
			t.Error(err)
		}
	})
}

// A name of which very many names are aliases does not become one: reading them all would block other writers.
func TestAliasOfMany(t *testing.T) {
	f := newFixture(t)
	const many, each = 10_000, 1000
	target := registry.Name("urn:example:target")
	for i := 0; i < many; i += each {
		var edits []registry.Edit
		for n := i; n < i+each; n++ {
			edits = append(edits, registry.Edit{
				Key: registry.Name(fmt.Sprintf("urn:example:alias-%d", n)), IfVersion: registry.AnyVersion,
				Change: registry.Put(registry.Record{Alias: target.Name}),
			})
		}
		if _, err := f.Apply(t.Context(), librarian, edits...); err != nil {
			t.Fatal(err)
		}
	}
	_, err := f.Apply(t.Context(), librarian, registry.Edit{
		Key: target, IfVersion: registry.AnyVersion, Change: registry.Put(registry.Record{Alias: "urn:example:other"}),
	})
	if err == nil || !strings.Contains(err.Error(), "more than 10000 names are aliases of urn:example:target") {
		t.Errorf("%v", err)
	}
}
