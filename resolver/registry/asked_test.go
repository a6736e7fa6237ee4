package registry_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/urnd/urnd/resolver/registry"
)

// What a registry is not asked for is not registered; what is there already can be changed.
func TestWhatIsNotAskedFor(t *testing.T) {
	f := newFixture(t)
	put := func(r *registry.Registry, key registry.Key) error {
		_, err := r.Apply(t.Context(), librarian, registry.Edit{Key: key, IfVersion: registry.Any, Change: registry.Put(leadsTo("https://a.example/"))})
		return err
	}
	if err := put(f.Registry, registry.Name("urn:b:there")); err != nil {
		t.Fatal(err)
	}
	f.config.Only = []string{"urn:a:", "urn:c:d:"}
	f.config.Suggest = func(text string) []string { return []string{"urn:b:" + text, "urn:A:" + text} }
	r := registry.New(f.config)
	const says = "would not be answered: this registry is asked only for what begins with urn:a:, urn:c:d:"
	for key, accepted := range map[registry.Key]bool{
		registry.Name("urn:a:1"): true, registry.Name("URN:A:2"): true, registry.Name("urn:c:d:1"): true, registry.Name("urn:b:there"): true,
		registry.Prefix("urn:a:x:"): true, registry.Prefix("urn:c:"): true, // some names below it are answered
		registry.Name("urn:b:new"): false, registry.Name("urn:c:e"): false, registry.Prefix("urn:b:"): false, registry.Prefix("urn:c:e:"): false,
	} {
		err := put(r, key)
		if (err == nil) != accepted || err != nil && (!errors.Is(err, registry.ErrInvalid) || !strings.Contains(err.Error(), says)) {
			t.Errorf("%s: %v", key, err)
		}
	}
	if err := put(r, registry.Name("urn:b:new")); !strings.HasSuffix(err.Error(), "; do you mean urn:a:urn:b:new?") {
		t.Errorf("without what was meant: %v", err)
	}
	edit := registry.Edit{
		Key: registry.Name("urn:b:new"), IfVersion: registry.Any, AllowUnresolvable: true, Change: registry.Put(leadsTo("https://a.example/")),
	}
	if _, err := r.Apply(t.Context(), librarian, edit); err != nil {
		t.Errorf("allowed: %v", err)
	}
}

// Nothing new leads nowhere without a word; what did before stays as it is while other things of it change.
func TestWhatLacksAll(t *testing.T) {
	f := newFixture(t)
	name := registry.Name("urn:a:1")
	existing := func(record registry.Record) registry.Entry {
		return registry.Entry{Key: name, Version: 1, Record: record}
	}
	nowhere, unexplained := registry.Record{}, registry.Record{Status: registry.Withdrawn}
	for i, c := range []struct {
		before registry.Entry
		key    registry.Key
		record registry.Record
		says   string
	}{
		{registry.Entry{}, name, nowhere, "lead nowhere"},
		{existing(leadsTo("https://a.example/")), name, nowhere, "lead nowhere"},
		{existing(nowhere), name, registry.Record{Contact: "x"}, ""},
		{existing(nowhere), name, unexplained, "without a reason"},
		{registry.Entry{}, name, unexplained, "without a reason"},
		{existing(unexplained), name, registry.Record{Status: registry.Withdrawn, Contact: "x"}, ""},
		{registry.Entry{}, name, registry.Record{Status: registry.Withdrawn, Reason: "why"}, ""},
		{registry.Entry{}, name, registry.Record{Status: registry.Withdrawn, Successors: []string{"urn:a:2"}}, ""},
		{registry.Entry{}, name, registry.Record{Status: registry.Reserved}, ""},
		{registry.Entry{}, name, registry.Record{Alias: "urn:a:2"}, ""},
		{registry.Entry{}, registry.Prefix("urn:a:"), nowhere, ""}, // it may say something of what it encloses
		{registry.Entry{}, registry.Prefix("urn:a:"), unexplained, "without a reason"},
	} {
		err := f.CheckChange(c.before, c.key, c.record, false)
		if (err != nil) != (c.says != "") || err != nil && (!errors.Is(err, registry.ErrInvalid) || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%d: %v", i, err)
		}
	}
}
