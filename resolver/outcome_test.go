package resolver_test

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver"
)

func TestOutcome(t *testing.T) {
	source := &resolver.Source{
		Name: "ddds urn.arpa.", Type: "text/html", Language: "de", Authentic: true,
		Content: "a <text> & more",
	}
	for name, c := range map[string]struct {
		locations resolver.Locations
		failure   error
		shared    bool
	}{
		"locations": {resolver.Locations{
			{URI: "https://a.example/?a=1&b=2", From: source},
			{URI: "https://b.example/", From: source},
		}, nil, true},
		"relations": {resolver.Locations{{
			URI: "https://a.example/",
			From: &resolver.Source{Relation: &resolver.Relation{
				Rel: "item", Title: "<The> book", Context: "DE",
				OtherLinks: []resolver.Link{{URI: "https://a.example/rdf", Rel: "describedby"}},
			}},
		}}, nil, true},
		"a title without UTF-8": {resolver.Locations{{
			URI:  "https://a.example/",
			From: &resolver.Source{Relation: &resolver.Relation{Title: "\xff"}},
		}}, nil, false},
		"an empty": {resolver.Locations{}, nil, true},
		"not found": {
			nil,
			&resolver.Negative{Kind: resolver.ErrNotFound, Reason: "no such name", TTL: time.Minute}, true,
		},
		"unclaimed": {
			nil,
			&resolver.Negative{Kind: resolver.ErrUnsupported, Reason: "x", TTL: time.Minute, Unclaimed: true}, true,
		},
		"clients": {
			nil,
			&resolver.Negative{
				Kind: resolver.ErrGone, TTL: time.Minute,
				ClientTTL: resolver.ClientTTL{Lifetime: time.Second, Bounded: true},
			}, true,
		},
		"wrapped":   {nil, fmt.Errorf("more: %w", &resolver.Negative{Kind: resolver.ErrNotFound}), false},
		"a failure": {nil, errors.New("failing"), false},
		"registered": {resolver.Locations{{
			URI:  "https://a.example/",
			From: &resolver.Source{Record: new(resolver.Record)},
		}}, nil, false},
		"withdrawn": {nil, &resolver.Negative{Kind: resolver.ErrGone, Record: new(resolver.Record)}, false},
		"no UTF-8": {resolver.Locations{{
			URI:  "https://a.example/",
			From: &resolver.Source{Content: "\xff"},
		}}, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			text, ok := resolver.EncodeOutcome(c.locations, c.failure)
			if ok != c.shared {
				t.Fatalf("shared: %t", ok)
			}
			if !ok {
				return
			}
			locations, failure, err := resolver.DecodeOutcome(text, time.Minute)
			same := len(locations) == len(c.locations) &&
				(len(locations) == 0 || reflect.DeepEqual(locations, c.locations))
			if err != nil || !same || !reflect.DeepEqual(failure, c.failure) {
				t.Errorf("%s: got %+v, %+v, %v", text, locations, failure, err)
			}
		})
	}
	for _, text := range []string{"", "{", `{"negative":{"kind":"other"}}`, "[]"} {
		if _, _, err := resolver.DecodeOutcome([]byte(text), time.Minute); err == nil {
			t.Errorf("%q is an outcome", text)
		}
	}
}
