package resolver_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/resolver"
)

func answersAt(t testing.TB, now *time.Time) resolver.Answers {
	t.Helper()
	return newAnswers(t, func() time.Time { return *now }, nil)
}

// peek returns the entry of a key.
func peek(c resolver.Answers, key string) (*cache.Entry[resolver.Locations], bool) {
	e := c.Cache.Lookup(key)
	return e, e != nil
}

func size(c resolver.Answers) (n int) {
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
	if n, err := restored.Restore(t.Context(), bytes.NewReader(file.Bytes()), []string{"other", "basis"}, now, none); n != 2 || err != nil {
		t.Fatalf("restored %d, %v", n, err)
	}
	e, ok := peek(restored, "urn:a:1")
	if !ok || restored.TTL(e) != 30*time.Second || e.Value[0].URI != "http://a.example/urn:a:1" || *e.Value[0].From != *source {
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
		"empty":              {"", resolver.ErrSnapshotMismatch},
		"something else":     {"#!/bin/sh\n", resolver.ErrSnapshotMismatch},
		"cut off":            {file.String()[:file.Len()/2], resolver.ErrSnapshotDamaged},
		"an octet changed":   {strings.Replace(file.String(), "a.example", "b.example", 1), resolver.ErrSnapshotDamaged},
		"an extra line":      {file.String() + "{}\n", resolver.ErrSnapshotDamaged},
		"a line without end": {file.String()[:21] + strings.Repeat("x", 2<<20), resolver.ErrSnapshotDamaged},
		"another version":    {strings.Replace(file.String(), "answers 1", "answers 2", 1), resolver.ErrSnapshotMismatch},
		"the header alone":   {"urnd answers 1 basis\n", resolver.ErrSnapshotDamaged},
		"another basis":      {"", resolver.ErrSnapshotMismatch},
	} {
		c := answersAt(t, &now)
		basis := "basis"
		if name == "another basis" {
			change.text, basis = file.String(), "other"
		}
		if n, err := c.Restore(t.Context(), strings.NewReader(change.text), []string{"other", basis}, now, none); n != 0 || !errors.Is(err,
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
		t.Errorf("saved %d in %d octets, %v", n, file.Len(), err)
	}
	if n, err := answersAt(t, &now).Restore(t.Context(), bytes.NewReader(file.Bytes()), []string{"other", "basis"}, now, none); n != 1 || err != nil {
		t.Errorf("restored %d, %v", n, err)
	}
}

// What was saved after now was saved before the system clock was set back: it may be of any age.
func TestSnapshotOfTheFuture(t *testing.T) {
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
		if n, err := answersAt(t, &at).Restore(t.Context(), bytes.NewReader(file.Bytes()), []string{"other", "basis"}, at, none); n != tt.want || err != nil {
			t.Errorf("at %d: restored %d, %v", tt.at, n, err)
		}
	}
}

// none owns no name.
func none(context.Context, string) bool { return false }

func TestRestoreWithoutOwned(t *testing.T) {
	now := time.Unix(1_900_000_000, 0)
	var file bytes.Buffer
	c := answersAt(t, &now)
	for _, key := range []string{"urn:a:1", "urn:a:1 I2Ls", "urn:a:2"} {
		c.Seed(key, resolver.Locations{{URI: "http://a.example/", From: &resolver.Source{}}}, time.Hour)
	}
	c.Seed("urn:a:3", resolver.Locations{{URI: "http://a.example/", From: &resolver.Source{Record: &resolver.Record{}}}}, time.Hour)
	if n, err := c.Save(&file, "basis", now, 1<<20); n != 3 || err != nil {
		t.Fatalf("saved %d, %v; answers of the registry are not saved", n, err)
	}
	restored := answersAt(t, &now)
	owned := func(_ context.Context, name string) bool { return name == "urn:a:1" }
	if n, err := restored.Restore(t.Context(), bytes.NewReader(file.Bytes()), []string{"other", "basis"}, now, owned); n != 1 || err != nil {
		t.Errorf("restored %d, %v; what others may have changed is not restored", n, err)
	}
	if _, ok := peek(restored, "urn:a:1 I2Ls"); ok {
		t.Error("an answer of a name that is owned was restored")
	}
}
