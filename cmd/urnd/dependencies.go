package main

import (
	"log/slog"
	"time"

	"github.com/urnd/urnd/internal/accesslog"
	"github.com/urnd/urnd/internal/metrics"
	"github.com/urnd/urnd/resolver"
)

// surroundings are what a configuration is wired into.
type surroundings struct {
	log       *slog.Logger
	access    *accesslog.Log // nil: off
	now       func() time.Time
	metrics   *metrics.Metrics
	health    *health
	hop       resolver.Hop  // the name of this urnd, which a reload does not change
	questions chan struct{} // one for each question to a DNS server; nil is no bound
	restoring *restoring    // of saved answers; nil where there is none
	before    *parts        // those of the configuration that this one follows; nil
}

// alone are the surroundings of a command that answers by itself and ends.
func alone() surroundings {
	return surroundings{log: slog.New(slog.DiscardHandler), now: time.Now, metrics: metrics.New(versionText()), health: &health{now: time.Now}, hop: resolver.NewHop()}
}
