package main

import (
	"fmt"
	"net/http"
	"net/netip"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/internal/observe/requests"
	"github.com/urnd/urnd/internal/telemetry"
	"github.com/urnd/urnd/proxy"
)

// tracing are the functions that begin spans and count requests without one: nil where telemetry is turned off.
type tracing struct {
	begin    func(string, http.Header, time.Time, bool) proxy.Span
	untraced func() bool
}

// wireTelemetry returns the functions for spans.
func wireTelemetry(s *service, c config.Config, d dependencies) (tracing, error) {
	if c.Telemetry.Endpoint == "" {
		return tracing{}, nil
	}
	// The host is configured; no client can choose it.
	everywhere := netguard.New(c.Limits.ConnectTimeout, netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0"))
	tracer, err := telemetry.New(telemetry.Config{
		Endpoint: c.Telemetry.Endpoint, Sample: uint64(c.Telemetry.Sample), //nolint:gosec // it is not negative
		Version: versionText(), Dial: everywhere.DialContext,
		Failed: func(err error) { d.log.Warn("spans were lost", "error", err) },
	})
	if err != nil {
		return tracing{}, fmt.Errorf("telemetry.endpoint: %w", err)
	}
	s.closers = append(s.closers, tracer.Close)
	return tracing{requests.Spans(tracer), tracer.Untraced}, nil
}
