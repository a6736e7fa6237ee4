package registry_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/urnd/urnd/resolver/registry"
)

// A key outside of the owned prefixes is not registered; an existing one can be changed.
func TestOutsidePrefixes(t *testing.T) {
	f := newFixture(t)
	put := func(r *registry.Registry, key registry.Key) error {
		_, err := r.Apply(t.Context(), librarian,
			registry.Edit{
				Key: key, IfVersion: registry.AnyVersion,
				Change: registry.Put(leadsTo("https://a.example/")),
			})
		return err
	}
	if err := put(f.Registry, registry.Name("urn:b:there")); err != nil {
		t.Fatal(err)
	}
	f.config.OwnedPrefixes = []string{"urn:a:", "urn:c:d:"}
	f.config.Suggest = func(text string) []string { return []string{"urn:b:" + text, "urn:A:" + text} }
	r := registry.New(f.config)
	const message = "cannot be resolved here: outside the prefixes of this registry, urn:a:, urn:c:d:"
	for key, accepted := range map[registry.Key]bool{
		registry.Name("urn:a:1"): true, registry.Name("URN:A:2"): true, registry.Name("urn:c:d:1"): true,
		registry.Name("urn:b:there"): true,
		registry.Prefix("urn:a:x:"):  true, registry.Prefix("urn:c:"): true, // overlaps with the owned prefixes
		registry.Name("urn:b:new"): false, registry.Name("urn:c:e"): false, registry.Prefix("urn:b:"): false,
		registry.Prefix("urn:c:e:"): false,
	} {
		err := put(r, key)
		if (err == nil) != accepted ||
			err != nil && (!errors.Is(err, registry.ErrInvalid) || !strings.Contains(err.Error(), message)) {
			t.Errorf("%s: %v", key, err)
		}
	}
	if err := put(r, registry.Name("urn:b:new")); !strings.HasSuffix(err.Error(), "; did you mean urn:a:urn:b:new?") {
		t.Errorf("without a suggestion: %v", err)
	}
	edit := registry.Edit{
		Key: registry.Name("urn:b:new"), IfVersion: registry.AnyVersion, AllowUnresolvable: true,
		Change: registry.Put(leadsTo("https://a.example/")),
	}
	if _, err := r.Apply(t.Context(), librarian, edit); err != nil {
		t.Errorf("allowed: %v", err)
	}
}

// A new record must resolve or explain why it does not; a deficient record from before stays editable in its
// other fields.
func TestWhatLacksAll(t *testing.T) {
	f := newFixture(t)
	name := registry.Name("urn:a:1")
	existing := func(record registry.Record) registry.Entry {
		return registry.Entry{Key: name, Version: 1, Record: record}
	}
	nowhere, unexplained := registry.Record{}, registry.Record{Status: registry.Withdrawn}
	for i, c := range []struct {
		before  registry.Entry
		key     registry.Key
		record  registry.Record
		message string
	}{
		{registry.Entry{}, name, nowhere, "active name without a target"},
		{existing(leadsTo("https://a.example/")), name, nowhere, "active name without a target"},
		{existing(nowhere), name, registry.Record{Contact: "x"}, ""},
		{existing(nowhere), name, unexplained, "without a reason"},
		{registry.Entry{}, name, unexplained, "without a reason"},
		{existing(unexplained), name, registry.Record{Status: registry.Withdrawn, Contact: "x"}, ""},
		{registry.Entry{}, name, registry.Record{Status: registry.Withdrawn, Reason: "why"}, ""},
		{registry.Entry{}, name, registry.Record{Status: registry.Withdrawn, Successors: []string{"urn:a:2"}}, ""},
		{registry.Entry{}, name, registry.Record{Status: registry.Reserved}, ""},
		{registry.Entry{}, name, registry.Record{Alias: "urn:a:2"}, ""},
		// A prefix without targets may still be a sandbox or authoritative.
		{registry.Entry{}, registry.Prefix("urn:a:"), nowhere, ""},
		{registry.Entry{}, registry.Prefix("urn:a:"), unexplained, "without a reason"},
	} {
		err := f.CheckChange(c.before, c.key, c.record, false)
		if (err != nil) != (c.message != "") ||
			err != nil && (!errors.Is(err, registry.ErrInvalid) || !strings.Contains(err.Error(), c.message)) {
			t.Errorf("%d: %v", i, err)
		}
	}
}
