package lookup_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/lookup"
	"github.com/urnd/urnd/urnns/digitallink"
)

const (
	linkRoot = "https://id.example.org"
	linkItem = linkRoot + "/01/09506000134352"
)

// linkNames returns the naming rules below a root of GS1 Digital Link.
func linkNames(t *testing.T) resolver.Names {
	t.Helper()
	root, err := digitallink.NewRoot(linkRoot+"/", digitallink.GS1())
	if err != nil {
		t.Fatal(err)
	}
	return resolver.Names{Roots: digitallink.Roots{root}}
}

// ofLevels resolves a name by all of its levels.
func ofLevels(t *testing.T, f *fixture, name string, at time.Time) (resolver.Answer, error) {
	t.Helper()
	r := lookup.New(lookup.Config{Store: f.Store(), TTL: time.Minute, Now: f.config.Now, Levels: linkNames(t).Levels})
	q, err := resolver.ParseQuery(name, resolver.I2L)
	if err != nil {
		t.Fatal(err)
	}
	q.At = at
	return r.Resolve(t.Context(), q)
}

// shown returns an answer as texts: the name of its record, its locations, and each link with its anchor.
func shown(a resolver.Answer) (all []string) {
	if a.Record() != nil {
		all = append(all, strings.TrimPrefix(a.Record().Name, linkItem))
	}
	for _, l := range a.Locations {
		all = append(all, "leads "+strings.TrimPrefix(l.ToLink().Anchor, linkItem)+" "+l.URI)
	}
	for _, l := range a.OtherLinks() {
		all = append(all, digitallink.ShortType(l.Rel)+" "+strings.TrimPrefix(l.Anchor, linkItem)+" "+l.URI)
	}
	return all
}

func related(targets ...string) (r registry.Record) {
	for _, t := range targets {
		rel, uri, _ := strings.Cut(t, " ")
		r.Targets = append(r.Targets, registry.Target{URI: uri, Rel: rel})
	}
	return r
}

// GS1-Conformant Resolver standard section 2.5.9: a response combines all levels, and redirects to the most
// specific default.
func TestLevels(t *testing.T) {
	f := newFixture(t)
	f.put(t, registry.Name(linkItem),
		related("gs1:defaultLink https://a.example/item", "gs1:pip https://a.example/pip"))
	f.put(t, registry.Name(linkItem+"/22/v"), related("gs1:pip https://a.example/v"))
	f.put(t, registry.Name(linkItem+"/10/l"), related("gs1:defaultLink https://a.example/lot"))
	f.put(t, registry.Name(linkItem+"/21/s"), related("gs1:traceability https://a.example/serial"))
	f.put(t, registry.Name(linkRoot+"/00/106141412345678908"), related("gs1:traceability https://a.example/sscc"))
	f.put(t, registry.Prefix(linkRoot+"/414/"), related("gs1:handledBy https://other.example/414/"))
	for _, c := range []struct {
		name string
		want []string
	}{
		{linkItem, []string{"", "leads  https://a.example/item", "gs1:pip  https://a.example/pip"}},
		// TS basicWalkUp: an unknown level of a known item is not a 404.
		{linkItem + "/10/unknown", []string{"", "leads  https://a.example/item", "gs1:pip  https://a.example/pip"}},
		{linkItem + "/10/l", []string{
			"/10/l", "leads  https://a.example/lot", "gs1:defaultLink  https://a.example/item",
			"gs1:pip  https://a.example/pip",
		}},
		{linkItem + "/22/v/10/l/21/s", []string{
			"/21/s", "leads /10/l https://a.example/lot", "gs1:traceability /21/s https://a.example/serial",
			"gs1:pip /22/v https://a.example/v",
			"gs1:defaultLink  https://a.example/item", "gs1:pip  https://a.example/pip",
		}},
		{
			linkRoot + "/414/9521141123454/254/1",
			[]string{linkRoot + "/414/", "leads  https://other.example/414/9521141123454/254/1"},
		},
	} {
		answer, err := ofLevels(t, f, c.name, time.Time{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := shown(answer); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%q, want\n%q", c.name, got, c.want)
		}
		if answer.Record().Redirect != 307 {
			t.Errorf("%s is redirected with %d", c.name, answer.Record().Redirect)
		}
		for _, l := range answer.OtherLinks() {
			if below := strings.TrimPrefix(c.name, linkItem); l.Anchor == "" && below != "" && below != "/10/l" {
				t.Errorf("%s: the link %s has no anchor", c.name, l.URI)
			}
		}
	}
	if _, err := ofLevels(t, f, linkRoot+"/00/106141412345678908", time.Time{}); !errors.Is(err, resolver.ErrNotFound) {
		t.Errorf("without a default: %v", err)
	}
	if _, err := ofLevels(t, f, linkRoot+"/01/09506000134369", time.Time{}); !errors.Is(err, resolver.ErrUnsupported) {
		t.Errorf("nothing is known: %v", err)
	}
}

// A withdrawn entry is gone if it is the requested name, or if no other level resolves. A withdrawn level has
// no links.
func TestWithdrawnLevels(t *testing.T) {
	f := newFixture(t)
	before := f.put(t, registry.Name(linkItem), related("gs1:defaultLink https://a.example/item")).Changed
	f.put(t, registry.Name(linkItem+"/10/l"), related("gs1:defaultLink https://a.example/lot"))
	lots := f.put(t, registry.Name(linkItem+"/21/s"),
		registry.Record{Status: registry.Withdrawn, Reason: "recalled"}).Changed
	f.put(t, registry.Name(linkItem+"/22/r"), registry.Record{Status: registry.Reserved})
	for name, gone := range map[string]bool{
		linkItem: false, linkItem + "/10/l": false, linkItem + "/10/l/21/s": true, linkItem + "/21/s": true,
		linkItem + "/22/r": false, linkItem + "/21/t": false,
	} {
		if answer, err := ofLevels(t, f, name, time.Time{}); errors.Is(err, resolver.ErrGone) != gone ||
			gone == (len(answer.Locations) > 0) {
			t.Errorf("%s: %v, %v", name, answer.Locations, err)
		}
	}
	if answer, err := ofLevels(t, f, linkItem+"/21/s", before); err != nil || len(answer.Locations) != 1 {
		t.Errorf("before it was withdrawn: %v, %v", answer, err)
	}
	f.put(t, registry.Name(linkItem), registry.Record{Status: registry.Withdrawn, Reason: "not sold any more"})
	for name, gone := range map[string]bool{linkItem: true, linkItem + "/10/l": false, linkItem + "/10/unknown": true} {
		_, err := ofLevels(t, f, name, time.Time{})
		if errors.Is(err, resolver.ErrGone) != gone || gone && resolver.RecordOf(err).Reason != "not sold any more" {
			t.Errorf("%s, of a withdrawn item: %v", name, err)
		}
	}
	// The former target of the withdrawn item is not shown as of an earlier time either; that of the lot is.
	if answer, err := ofLevels(t, f, linkItem+"/10/l", lots); err != nil || len(answer.Locations) != 1 ||
		len(answer.OtherLinks()) != 0 {
		t.Errorf("of a withdrawn item, then: %v, %v", answer, err)
	}
}

// A response expires when the validity of any target, at any of its levels, starts or ends.
func TestLifetimeOfLevels(t *testing.T) {
	f := newFixture(t)
	at := f.config.Now()
	record := related("gs1:defaultLink https://a.example/item")
	record.Targets[0].Until = at.Add(20 * time.Second)
	f.put(t, registry.Name(linkItem), record)
	record = related("gs1:defaultLink https://a.example/lot")
	record.Targets[0].From = at.Add(10 * time.Second)
	f.put(t, registry.Name(linkItem+"/10/l"), record)
	answer, err := ofLevels(t, f, linkItem+"/10/l", time.Time{})
	if err != nil || answer.TTL > 10*time.Second || answer.TTL <= 0 || !answer.Record().ClientTTL.Bounded {
		t.Errorf("the answer is used for %v, %v", answer.TTL, err)
	}
	if _, err := ofLevels(t, f, linkItem+"/21/x", time.Time{}); err != nil {
		t.Error(err)
	}
}
