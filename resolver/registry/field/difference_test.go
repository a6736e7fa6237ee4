package field_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/field"
)

func TestDifferences(t *testing.T) {
	day := time.Date(2031, 5, 1, 0, 0, 0, 0, time.UTC)
	a, b := registry.Target{URI: "https://a/"}, registry.Target{URI: "https://b/"}
	full := registry.Target{
		URI: "https://a/", Type: "text/html", Language: "fi", Priority: -1, From: day,
		Until: day.AddDate(1, 0, 0), Note: "mirror",
	}
	for _, c := range []struct {
		name          string
		before, after registry.Record
		want          []field.Difference
	}{
		{
			"none",
			registry.Record{Targets: []registry.Target{a}, Since: day},
			registry.Record{Targets: []registry.Target{a}},
			nil,
		},
		{
			"a target more",
			registry.Record{Targets: []registry.Target{a}},
			registry.Record{Targets: []registry.Target{a, b}},
			[]field.Difference{{"target", "", "https://b/"}},
		},
		{
			"about a target",
			registry.Record{Targets: []registry.Target{a}},
			registry.Record{Targets: []registry.Target{full}},
			[]field.Difference{
				{"target", "https://a/", ""},
				{
					"target", "",
					`https://a/ (text/html, fi, priority -1, from 2031-05-01T00:00:00Z, until 2032-05-01T00:00:00Z, "mirror")`,
				},
			},
		},
		{
			"the order",
			registry.Record{Targets: []registry.Target{a, b}},
			registry.Record{Targets: []registry.Target{b, a}},
			[]field.Difference{{"order of each target", "https://a/, https://b/", "https://b/, https://a/"}},
		},
		{
			"all else",
			registry.Record{Alias: "urn:a:b", Metadata: "{}", Contact: "x", Redirect: 301, Sandbox: true},
			registry.Record{
				Status: registry.Withdrawn, Reason: "merged", Successors: []string{"urn:a:c"},
				Authoritative: true,
			},
			[]field.Difference{
				{"status", "active", "withdrawn"},
				{"reason", "", "merged"},
				{"successor", "", "urn:a:c"},
				{"alias of", "urn:a:b", ""},
				{"metadata", "{}", ""},
				{"contact", "x", ""},
				{"redirect", "301", ""},
				{"authoritative", "", "yes"},
				{"sandbox", "yes", ""},
			},
		},
	} {
		if got := field.Differences(c.before, c.after); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
