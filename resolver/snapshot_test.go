package resolver_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/resolver"
)

func answersAt(t testing.TB, now *time.Time) resolver.AnswerCache {
	t.Helper()
	return newAnswers(t, func() time.Time { return *now }, nil)
}

// peek returns the entry of a key.
func peek(c resolver.AnswerCache, key string) (*cache.Entry[resolver.Locations], bool) {
	e := c.Cache.Lookup(key)
	return e, e != nil
}

func size(c resolver.AnswerCache) (n int) {
	c.Entries.Each(func(*cache.Entry[resolver.Locations]) bool { n++; return true })
	return n
}

func TestSnapshot(t *testing.T) {
	now := time.Unix(1000, 0)
	c := answersAt(t, &now)
	source := &resolver.Source{Name: "ddds urn.arpa.", Type: "text/html", Language: "en", Authentic: true}
	put := func(key string, ttl time.Duration, err error) {
		_, _ = c.Get(t.Context(), key, func(context.Context) (resolver.Locations, time.Duration, error) {
			return resolver.Locations{{URI: "http://a.example/" + key, From: source}}, ttl, err
		})
	}
	put("urn:a:1", time.Minute, nil)
	put("urn:a:2", time.Second, nil)
	put("urn:a:3 I2Ls", time.Hour, nil)
	put("urn:a:4", time.Hour, errors.New("not found"))
	var file bytes.Buffer
	if n, err := c.Save(&file, "basis", now, 1<<20); n != 3 || err != nil {
		t.Fatalf("saved %d, %v", n, err)
	}
	now = now.Add(30 * time.Second)
	restored := answersAt(t, &now)
	if n, err := restored.Restore(t.Context(), bytes.NewReader(file.Bytes()), "basis", now, none); n != 2 ||
		err != nil {
		t.Fatalf("restored %d, %v", n, err)
	}
	e, ok := peek(restored, "urn:a:1")
	if !ok || restored.TTL(e) != 30*time.Second || e.Value[0].URI != "http://a.example/urn:a:1" ||
		*e.Value[0].From != *source {
		t.Errorf("%+v", e)
	}
	other, _ := peek(restored, "urn:a:3 I2Ls")
	if other.Value[0].From != e.Value[0].From {
		t.Error("the source is not shared")
	}
	for name, change := range map[string]struct {
		text string
		err  error
	}{
		"empty":          {"", resolver.ErrSnapshotMismatch},
		"something else": {"#!/bin/sh\n", resolver.ErrSnapshotMismatch},
		"cut off":        {file.String()[:file.Len()/2], resolver.ErrSnapshotDamaged},
		"a byte changed": {
			strings.Replace(file.String(), "a.example", "b.example", 1),
			resolver.ErrSnapshotDamaged,
		},
		"an extra line":      {file.String() + "{}\n", resolver.ErrSnapshotDamaged},
		"a line without end": {file.String()[:21] + strings.Repeat("x", 2<<20), resolver.ErrSnapshotDamaged},
		"another version": {
			strings.Replace(file.String(), "answers 1", "answers 2", 1),
			resolver.ErrSnapshotMismatch,
		},
		"the header alone": {"urnd answers 1 basis\n", resolver.ErrSnapshotDamaged},
		"another basis":    {"", resolver.ErrSnapshotMismatch},
	} {
		c := answersAt(t, &now)
		basis := "basis"
		if name == "another basis" {
			change.text, basis = file.String(), "other"
		}
		if n, err := c.Restore(t.Context(), strings.NewReader(change.text), basis, now, none); n != 0 || !errors.Is(err,
			change.err) || size(c) != 0 {
			t.Errorf("%s: restored %d, %v", name, n, err)
		}
	}
}

func TestSnapshotIsBounded(t *testing.T) {
	now := time.Unix(1000, 0)
	c := answersAt(t, &now)
	for _, key := range []string{"urn:a:1", "urn:a:2", "urn:a:3"} {
		c.Seed(key, resolver.Locations{{URI: "http://a.example/", From: &resolver.Source{}}}, time.Hour)
	}
	var file bytes.Buffer
	n, err := c.Save(&file, "basis", now, 250)
	if n != 1 || err != nil || file.Len() > 250 {
		t.Errorf("saved %d in %d bytes, %v", n, file.Len(), err)
	}
	if n, err := answersAt(t, &now).Restore(t.Context(), bytes.NewReader(file.Bytes()), "basis", now, none); n != 1 ||
		err != nil {
		t.Errorf("restored %d, %v", n, err)
	}
}

// A snapshot saved in the future is not restored: the system clock was set back, so the age of its answers is
// unknown.
func TestSnapshotWithFutureTimes(t *testing.T) {
	now := time.Unix(1000, 0)
	c := answersAt(t, &now)
	c.Seed("urn:a:1", resolver.Locations{{URI: "http://a.example/", From: &resolver.Source{}}}, time.Hour)
	var file bytes.Buffer
	if n, err := c.Save(&file, "basis", now, 1<<20); n != 1 || err != nil {
		t.Fatalf("saved %d, %v", n, err)
	}
	for _, tt := range []struct {
		at   int64
		want int
	}{{999, 0}, {-1 << 30, 0}, {1000, 1}, {4599, 1}, {4600, 0}} {
		at := time.Unix(tt.at, 0)
		if n, err := answersAt(t, &at).Restore(t.Context(), bytes.NewReader(file.Bytes()), "basis", at,
			none); n != tt.want || err != nil {
			t.Errorf("at %d: restored %d, %v", tt.at, n, err)
		}
	}
}

// none reports that no name is owned.
func none(context.Context, string) bool { return false }

func TestRestoreWithoutOwned(t *testing.T) {
	now := time.Unix(1_900_000_000, 0)
	var file bytes.Buffer
	c := answersAt(t, &now)
	for _, key := range []string{"urn:a:1", "urn:a:1 I2Ls", "urn:a:2"} {
		c.Seed(key, resolver.Locations{{URI: "http://a.example/", From: &resolver.Source{}}}, time.Hour)
	}
	c.Seed("urn:a:3",
		resolver.Locations{{URI: "http://a.example/", From: &resolver.Source{Record: &resolver.Record{}}}}, time.Hour)
	if n, err := c.Save(&file, "basis", now, 1<<20); n != 3 || err != nil {
		t.Fatalf("saved %d, %v; answers of the registry must not be saved", n, err)
	}
	restored := answersAt(t, &now)
	owned := func(_ context.Context, name string) bool { return name == "urn:a:1" }
	if n, err := restored.Restore(t.Context(), bytes.NewReader(file.Bytes()), "basis", now, owned); n != 1 ||
		err != nil {
		t.Errorf("restored %d, %v; owned names must not be restored", n, err)
	}
	if _, ok := peek(restored, "urn:a:1 I2Ls"); ok {
		t.Error("an answer of a name that is owned was restored")
	}
}

// Relations are restored by value: equal ones are shared, links of one name are not, and older snapshots have
// none.
func TestSnapshotOfRelations(t *testing.T) {
	now := time.Unix(1000, 0)
	c := answersAt(t, &now)
	titled := func(others ...resolver.Link) *resolver.Source {
		relation := &resolver.Relation{Rel: "item", Title: "The book", Context: "DE", OtherLinks: others}
		return &resolver.Source{Name: "namespace a", Type: "text/html", Relation: relation}
	}
	rdf := resolver.Link{
		Anchor: "urn:a:0", URI: "https://a.example/rdf", Rel: "describedby", Title: "RDF", Type: "application/rdf+xml",
		Language: "de", Context: "AT",
	}
	want := map[string]resolver.Locations{
		"urn:a:1": {{URI: "https://a.example/1", From: titled()}},
		"urn:a:2": {{URI: "https://a.example/2", From: titled()}},
		"urn:a:3": {{URI: "https://a.example/3", From: titled(rdf)}, {URI: "https://b.example/3", From: titled()}},
		"urn:a:4": {{URI: "https://a.example/4", From: titled(rdf)}},
		"urn:a:5": {{
			URI: "https://a.example/5",
			From: &resolver.Source{
				Name:     "namespace a",
				Relation: &resolver.Relation{OtherLinks: []resolver.Link{rdf}},
			},
		}},
		"urn:a:6": {{URI: "https://a.example/6", From: &resolver.Source{Name: "namespace a", Type: "text/html"}}},
	}
	for key, locations := range want {
		c.Seed(key, locations, time.Hour)
	}
	var file bytes.Buffer
	if n, err := c.Save(&file, "basis", now, 1<<20); n != len(want) || err != nil {
		t.Fatalf("saved %d, %v", n, err)
	}
	restored := answersAt(t, &now)
	if n, err := restored.Restore(t.Context(), bytes.NewReader(file.Bytes()), "basis", now, none); n != len(want) ||
		err != nil {
		t.Fatalf("restored %d, %v", n, err)
	}
	from := make(map[string]*resolver.Source)
	for key, locations := range want {
		e, ok := peek(restored, key)
		if !ok || !reflect.DeepEqual(e.Value, locations) {
			t.Errorf("%s: %+v", key, e)
			continue
		}
		from[key] = e.Value[0].From
	}
	if from["urn:a:1"] != from["urn:a:2"] || from["urn:a:3"] == from["urn:a:4"] || from["urn:a:1"] == from["urn:a:6"] {
		t.Errorf("sources with equal contents not shared: %v", from)
	}
	old := `{"key":"urn:a:9","expires":4600,"ttl":3600,"locations":[{"uri":"https://a.example/9","source":"namespace a"}]}`
	text := "urnd answers 1 basis\n" + old + "\n"
	text += fmt.Sprintf("%x\n", sha256.Sum256([]byte(text)))
	if n, err := restored.Restore(t.Context(), strings.NewReader(text), "basis", now, none); n != 1 || err != nil {
		t.Errorf("previous format:  restored %d, %v", n, err)
	}
	if e, ok := peek(restored, "urn:a:9"); !ok || *e.Value[0].From != (resolver.Source{Name: "namespace a"}) {
		t.Errorf("previous format:  %+v", e)
	}
}
