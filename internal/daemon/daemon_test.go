package daemon

import (
	"context"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/urnd/urnd/proxy/listen"
)

// serving returns a running daemon with one endpoint.
func serving(t *testing.T) *Daemon {
	t.Helper()
	d := New(Config{
		Load: func(*Generation) (*Generation, error) {
			return &Generation{
				Endpoints: []Endpoint{{
					Name: "http", Address: "127.0.0.1:0", Handler: http.NotFoundHandler(),
					Server: listen.ServerConfig{MaxHeader: 4096, MaxTarget: 4096, ShutdownTimeout: time.Second},
				}},
				Log: slog.New(slog.DiscardHandler), Connections: listen.ConnectionLimits{Connections: 10}, WriteTimeout: time.Minute,
				Close: func() {}, Reopen: func() error { return nil },
			}, nil
		},
		Now: time.Now, Health: NewHealth(time.Now, func(s string) string { return s }), Loaded: func(bool, error) {},
		Deadline: func(after time.Duration) time.Time { return time.Now().Add(after) },
		Status:   func() string { return "" },
	})
	if err := d.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.close)
	return d
}

// The watchdog is fed where requests are answered, not by a timer.
func TestProbe(t *testing.T) {
	d := serving(t)
	if err := d.probe(t.Context(), 10*time.Second); err != nil {
		t.Error(err)
	}
	d.current.mu.Lock() // no request gets any further
	err := d.probe(t.Context(), 50*time.Millisecond)
	d.current.mu.Unlock()
	if err == nil {
		t.Error("a service that is stuck answers")
	}
	if err := d.probe(t.Context(), 10*time.Second); err != nil {
		t.Error(err)
	}
}

// A purge ends restoring, whether it has begun or not.
func TestSnapshotStop(t *testing.T) {
	var s Snapshot
	begun := make(chan struct{})
	go func() {
		ctx, done := s.begin()
		defer done()
		close(begun)
		<-ctx.Done()
	}()
	<-begun
	s.Stop()
	if ctx, done := s.begin(); ctx.Err() != context.Canceled {
		t.Error("restoring begins after a purge")
	} else {
		done()
	}
	s.Stop()
}
