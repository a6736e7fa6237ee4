package main

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver"
)

// A shared cache is closed with the last configuration that uses it, in any order.
func TestSharedCaches(t *testing.T) {
	first := config.Default()
	first.DDDS.Enabled = false
	other := first
	other.Resolve.RuleTTL = time.Hour
	deps := newDependencies()
	wired := func(c config.Config) wiredAll {
		t.Helper()
		p, err := wireAll(c, deps)
		if err != nil {
			t.Fatal(err)
		}
		deps.previous = p.resolution
		return p
	}
	a, b, c := wired(first), wired(first), wired(other)
	defer c.close()
	q := resolvable(t, "urn:ietf:rfc:2648")
	answers := func(p wiredAll) {
		t.Helper()
		if _, err := p.resolver.Resolve(t.Context(), q); err != nil {
			t.Error(err)
		}
	}
	if a.answers.Cache != b.answers.Cache || b.answers.Cache == c.answers.Cache {
		t.Error("a cache is shared with a configuration that changes it, or not with an equal one")
	}
	b.close() // its requests end before those of a
	answers(a)
	answers(c)
	a.close()
	answers(c)
	if _, err := a.resolver.Resolve(t.Context(), resolvable(t, "urn:ietf:rfc:1")); err == nil {
		t.Error("a cache that no configuration uses is open")
	}
}

// Responses are stored for exactly the schemes that are retrieved.
func TestSchemesOfResponses(t *testing.T) {
	c, d := config.Default(), newDependencies()
	r, err := newResolution(c, d.resolverDependencies)
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	var s service
	defer s.close()
	handlers, err := newGateways(&s, c, r, d)
	if err != nil {
		t.Fatal(err)
	}
	for _, scheme := range append(slices.Collect(maps.Keys(handlers)), "http", "https") {
		if !hasResponses(scheme) {
			t.Errorf("responses for %s are denied", scheme)
		}
	}
	for _, scheme := range []string{"urn", "doi", "", "HTTP"} {
		if hasResponses(scheme) {
			t.Errorf("%s has responses", scheme)
		}
	}
}

// A snapshot may still be restored into a cache that a reload or a shutdown closes.
func TestRestoringWhileClosing(t *testing.T) {
	for range 20 {
		c := config.Default()
		c.Cache.Answers, c.Cache.Records, c.DDDS.Enabled = 1<<20, 1<<20, false
		p, err := wireAll(c, newDependencies())
		if err != nil {
			t.Fatal(err)
		}
		started, ended := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(ended)
			defer func() {
				if p := recover(); p != nil {
					t.Errorf("it panics: %v", p)
				}
			}()
			for i := range 3000 {
				p.answers.Seed(fmt.Sprintf("urn:a1:%d", i),
					resolver.Locations{{URI: "http://a.example/", From: &resolver.Source{}}}, time.Hour)
				if i == 10 {
					close(started)
				}
			}
		}()
		<-started
		p.close()
		testserver.Within(t, "the last answer", func() { <-ended })
	}
}
