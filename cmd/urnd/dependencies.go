package main

import (
	"log/slog"
	"os"
	"time"

	"github.com/urnd/urnd/internal/accesslog"
	"github.com/urnd/urnd/internal/daemon"
	"github.com/urnd/urnd/internal/metrics"
	"github.com/urnd/urnd/internal/redact"
	"github.com/urnd/urnd/proxy/message"
)

// dependencies are what a configuration is wired to. All but the logs outlive it.
type dependencies struct {
	log      *slog.Logger
	access   *accesslog.Log // nil: off
	stderr   *os.File       // for logs that have no file
	now      func() time.Time
	metrics  *metrics.Metrics
	health   *daemon.Health
	via      message.ViaName  // the name of this urnd, which a reload does not change
	snapshot *daemon.Snapshot // of answers
	previous *resolution      // that of the configuration in force before a reload; nil at the start
}

// newDependencies returns those of a command without a daemon.
func newDependencies() dependencies {
	return dependencies{
		log: slog.New(slog.DiscardHandler), stderr: os.Stderr, now: time.Now, metrics: metrics.New(versionText()),
		health: daemon.NewHealth(time.Now, redact.URLs), via: message.NewViaName(), snapshot: new(daemon.Snapshot),
	}
}
