package resolver_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/urnns"
)

func rulesOf(t testing.TB, targets ...urnns.Target) *resolver.Namespaces {
	t.Helper()
	set, err := urnns.NewSet(urnns.Namespace{NID: "example", Targets: targets})
	if err != nil {
		t.Fatal(err)
	}
	return resolver.NewNamespaces(set, time.Hour)
}

// A rule has the relation of its target to the name. A name resolves to its resource; the other targets are its
// links.
func TestRulesWithRelations(t *testing.T) {
	n := rulesOf(t,
		urnns.Target{
			Template: "https://a.example/{nss}.rdf", Rel: "describedby", Type: "application/rdf+xml",
			Title: "RDF", Context: "DE", Language: "de",
		},
		urnns.Target{Pattern: "^only", Gone: true},
		urnns.Target{Pattern: "^[ab]", Template: "https://a.example/{nss}", Rel: "item", Title: "The book"},
		urnns.Target{Pattern: "^b", Template: "https://b.example/{nss}", Type: "text/html"},
		urnns.Target{Template: "https://cc.example/", Rel: "license"},
		urnns.Target{Template: "{+nss}", Rel: "author"}, // not a location
	)
	answer, err := n.Resolve(t.Context(), query(t, "urn:example:b1"))
	want := []resolver.Link{
		{URI: "https://a.example/b1", Rel: "item", Title: "The book"},
		{URI: "https://b.example/b1", Type: "text/html"},
		{
			URI: "https://a.example/b1.rdf", Rel: "describedby", Title: "RDF", Type: "application/rdf+xml", Language: "de",
			Context: "DE",
		},
		{URI: "https://cc.example/", Rel: "license"},
	}
	if err != nil || len(answer.Locations) != 2 || !reflect.DeepEqual(answer.Links(), want) {
		t.Errorf("%+v, %v", answer.Links(), err)
	}
	answer.Locations[0], answer.Locations[1] = answer.Locations[1], answer.Locations[0]
	if len(answer.OtherLinks()) != 2 {
		t.Error("the links depend on which location is first")
	}
	other, err := n.Resolve(t.Context(), query(t, "urn:example:a1"))
	if err != nil || !strings.HasSuffix(other.OtherLinks()[0].URI, "/a1.rdf") {
		t.Errorf("another name: %+v, %v", other.Links(), err)
	}
	if _, err := n.Resolve(t.Context(), query(t, "urn:example:c1")); !errors.Is(err, resolver.ErrUnsupported) {
		t.Errorf("a name with links, and without a location: %v", err)
	}
	if _, err := n.Resolve(t.Context(), query(t, "urn:example:only")); !errors.Is(err, resolver.ErrGone) {
		t.Errorf("a name that is gone, apart from its links: %v", err)
	}
}

// The links of an answer by rules are limited as its locations are.
func TestLinksOfRulesAreBounded(t *testing.T) {
	targets := []urnns.Target{{Template: "https://a.example/"}}
	for range 100 {
		targets = append(targets, urnns.Target{Template: "https://b.example/{+nss}", Rel: "describedby"})
	}
	n := rulesOf(t, targets...)
	answer, err := n.Resolve(t.Context(), query(t, "urn:example:"+strings.Repeat("a", 8000)))
	if err != nil || len(answer.OtherLinks()) != resolver.MaxAnswer/8018 {
		t.Errorf("%d links, %v", len(answer.OtherLinks()), err)
	}
	if answer, err = n.Resolve(t.Context(), query(t, "urn:example:"+strings.Repeat("a", 8190))); err != nil ||
		len(answer.OtherLinks()) != 0 {
		t.Errorf("%d links that are too long, %v", len(answer.OtherLinks()), err)
	}
}

// An answer by rules without links of its own shares its source with others.
func TestRulesShareSources(t *testing.T) {
	n := rulesOf(t, urnns.Target{Template: "https://a.example/{nss}", Rel: "item", Title: "The book"})
	one, _ := n.Resolve(t.Context(), query(t, "urn:example:1"))
	two, _ := n.Resolve(t.Context(), query(t, "urn:example:2"))
	if one.Locations[0].From != two.Locations[0].From {
		t.Error("the source is not shared")
	}
}
