package resolver_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
	"github.com/urnd/urnd/urnns"
)

// Cached and returned answers are within the limits, whatever a resolver returns.
func TestAnswersAreBounded(t *testing.T) {
	locations := func(lengths ...int) (all []resolver.Location) {
		for _, n := range lengths {
			all = append(all, resolver.Location{URI: strings.Repeat("a", n), From: &resolver.Source{}})
		}
		return all
	}
	half := make([]int, 65)
	for i := range half {
		half[i] = resolver.MaxLocation / 2
	}
	for _, tt := range []struct {
		lengths []int
		want    int // 0 means an error
	}{
		{[]int{1, 2}, 2},
		{[]int{resolver.MaxLocation, 1}, 2},
		{[]int{resolver.MaxLocation + 1, 1}, 1},
		{[]int{resolver.MaxLocation + 1}, 0},
		{half, 64},
		{append(half[:64:64], resolver.MaxLocation+1), 64},
	} {
		answers := newAnswers(t, time.Now, nil)
		ctx, trace := resolver.WithTrace(t.Context(), time.Now)
		answer, err := resolver.NewCached(answers.Cache,
			resolver.Func(func(context.Context, resolver.Query) (resolver.Answer, error) {
				return resolver.Answer{Locations: locations(tt.lengths...), TTL: time.Hour}, nil
			}), nil).Resolve(ctx, query(t, "urn:example:a"))
		if len(answer.Locations) != tt.want || (err == nil) != (tt.want > 0) ||
			err != nil && !errors.Is(err, resolver.ErrUnreachable) {
			t.Errorf("%d locations of %d, %v", len(answer.Locations), len(tt.lengths), err)
		}
		if reported := strings.Contains(fmt.Sprint(trace.Steps()), "omitted"); reported != (tt.want < len(tt.lengths)) {
			t.Errorf("%d of %d: the trace is %v", tt.want, len(tt.lengths), trace.Steps())
		}
	}
}

// A template that repeats the name is limited as well.
func TestTemplatesAreBounded(t *testing.T) {
	set, err := urnns.NewSet(urnns.Namespace{
		NID:     "x-twice",
		Targets: []urnns.Target{{Template: "http://a/{+nss}/{+nss}"}, {Template: "http://b/{+nss}"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	r := resolver.NewCanonical(resolver.Names{Set: set, Accept: uri.CurrentURN}, resolver.NewNamespaces(set, time.Hour))
	answer, err := r.Resolve(t.Context(), query(t, "urn:x-twice:"+strings.Repeat("a", 5000)))
	if err != nil || len(answer.Locations) != 1 || !strings.HasPrefix(answer.Locations[0].URI, "http://b/") {
		t.Errorf("%d locations, %v", len(answer.Locations), err)
	}
	_, err = r.Resolve(t.Context(), query(t, "urn:x-twice:"+strings.Repeat("a", 9000)))
	if !errors.Is(err, resolver.ErrUnreachable) { // the cause is not a missing target
		t.Errorf("no location fits: %v", err)
	}
}
