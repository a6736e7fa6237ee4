package adversary

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// usage contains the resources of the process by metric name.
type usage map[string]float64

// mayGrow is the tolerance of a metric when no request is in progress: goroutines and connections to origins
// remain in pools. Limits must be released completely.
var mayGrow = map[string]float64{
	"go_goroutines": 100, "process_open_fds": 40, "go_memstats_heap_alloc_bytes": 24 << 20, "urnd_panics_total": 0,
	`urnd_limit_used{limit="connections"}`: 0, `urnd_limit_used{limit="bound_connections"}`: 0,
	`urnd_limit_used{limit="requests"}`: 0, `urnd_limit_used{limit="fetches"}`: 0,
	`urnd_limit_used{limit="streams"}`: 0,
}

// usage runs a garbage collection of the process and returns its resources.
func (d *daemon) usage(ctx context.Context) (usage, error) {
	if _, err := ask(ctx, d.admin, friend, "GET", "/debug/pprof/heap?gc=1", ""); err != nil {
		return nil, err
	}
	got, err := ask(ctx, d.admin, friend, "GET", "/metrics", "")
	if err != nil {
		return nil, err
	}
	all := make(usage)
	for line := range strings.Lines(got.body) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if _, ok := mayGrow[name]; ok {
			if all[name], err = strconv.ParseFloat(value, 64); err != nil {
				return nil, err
			}
		}
	}
	if len(all) != len(mayGrow) {
		return nil, fmt.Errorf("of %d metrics there are %d", len(mayGrow), len(all))
	}
	return all, nil
}

// releases returns an error unless the process releases its resources in time, back to an earlier usage.
func (d *daemon) releases(ctx context.Context, before usage) error {
	return eventually(ctx, inTime, func() error {
		if err := d.crashed(); err != nil {
			return err
		}
		now, err := d.usage(ctx)
		if err != nil {
			return err
		}
		var all []error
		for name, more := range mayGrow {
			if now[name] > before[name]+more {
				all = append(all, fmt.Errorf("%s is %.0f, and was %.0f", name, now[name], before[name]))
			}
		}
		slices.SortFunc(all, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
		return errors.Join(all...)
	})
}
