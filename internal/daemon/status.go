package main

import (
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/metrics"
	"github.com/urnd/urnd/internal/redact"
)

// tell hears what came of telling systemd: it is no reason to stop.
func (d *daemon) tell(err error) {
	if err != nil {
		d.log().Debug("systemd does not listen", "error", err)
	}
}

// status says in words how the daemon does.
func (d *daemon) status() string {
	var hits, all uint64
	var entries int64
	for _, c := range d.current.caches() {
		if c.Name != "answers" {
			continue
		}
		entries = c.Entries
		for outcome, n := range c.Lookups {
			all += n
			if outcome == "hit" || outcome == "negative" {
				hits += n
			}
		}
	}
	figures := fmt.Sprintf("%d answers kept, %d of %d lookups hit, %d connections", entries, hits, all, d.gate.Open())
	if refused := d.surroundings.health.refusal(); refused != nil {
		return "Reload refused: " + redact.URLs(firstLine(refused)) + "; " + figures
	}
	return figures
}

// limits returns how much goes on of what has a bound.
func (d *daemon) limits() []metrics.Limit {
	g := d.current.take()
	defer g.running.Done()
	return append([]metrics.Limit{{Name: "connections", Used: d.gate.Open(), Max: g.config.Limits.Connections}}, g.parts.bounds.limits()...)
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// limitMemory tells Go what to stay below; 0 is what it would do by itself, which
// GOMEMLIMIT may say.
func (d *daemon) limitMemory(limit config.Size) {
	if limit == 0 {
		limit = config.Size(d.memory)
	}
	debug.SetMemoryLimit(int64(limit))
}
