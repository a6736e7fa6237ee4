package main

import (
	"log/slog"
	"time"

	"github.com/urnd/urnd/internal/metrics"
)

// surroundings are what outlives a configuration.
type surroundings struct {
	log     *slog.Logger
	now     func() time.Time
	metrics *metrics.Metrics
}

// alone are the surroundings of a command that answers by itself and ends.
func alone() surroundings {
	return surroundings{log: slog.New(slog.DiscardHandler), now: time.Now, metrics: metrics.New(versionText())}
}
