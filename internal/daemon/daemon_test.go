package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/listen"
)

// answering is a protocol that responds to any input and closes the connection.
type answering struct{}

func (answering) Serve(c *listen.Conn) {
	defer c.Close()
	if _, err := c.Read(make([]byte, 4096)); err == nil && c.SetServing() {
		_, _ = io.WriteString(c, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
	}
}

func (answering) Close() {}

// serving returns a running daemon with one endpoint.
func serving(t *testing.T) *Daemon {
	t.Helper()
	d := New(Config{
		Load: func(*Generation) (*Generation, error) {
			return &Generation{
				Endpoints: []Endpoint{{
					Name: "http", Address: "127.0.0.1:0",
					Protocol: func(CurrentHandlers) Protocol { return answering{} },
					Server: listen.ServerConfig{
						Now: time.Now, ReadHeaderTimeout: time.Minute,
						ShutdownTimeout: time.Second, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
					},
				}},
				Log:         slog.New(slog.NewTextHandler(t.Output(), nil)),
				Connections: listen.ConnectionLimits{Connections: 10}, WriteTimeout: time.Minute, Close: func() {},
				Reopen: func() error { return nil },
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

// TestProbe checks that the watchdog is notified because requests are served, not by a timer.
func TestProbe(t *testing.T) {
	d := serving(t)
	if err := d.probe(t.Context(), 10*time.Second); err != nil {
		t.Error(err)
	}
	d.endpoints[0].stop() // no further requests are served
	<-d.endpoints[0].ended
	if err := d.probe(t.Context(), 50*time.Millisecond); err == nil {
		t.Error("a service that is stuck answers")
	}
}

// TestUses checks that a generation is closed after its last request, and not used by later requests.
func TestUses(t *testing.T) {
	var c current
	closed := make([]chan struct{}, 100)
	generation := func(i int) *Generation {
		closed[i] = make(chan struct{})
		return &Generation{Close: func() { close(closed[i]) }, Parts: i}
	}
	c.replace(generation(0))
	var all sync.WaitGroup
	var end atomic.Bool
	for range 8 {
		all.Go(func() {
			for !end.Load() {
				g := c.acquire()
				i, _ := g.Parts.(int)
				select {
				case <-closed[i]:
					t.Error("a generation was closed while it was used")
				default:
				}
				g.done()
			}
		})
	}
	for i := 1; i < len(closed); i++ {
		c.replace(generation(i)).retire()
	}
	end.Store(true)
	all.Wait()
	c.acquire().done()
	c.replace(nil).retire()
	<-closed[len(closed)-1]
}

// TestSnapshotStop checks that a purge stops Restore, before and after it has begun.
func TestSnapshotStop(t *testing.T) {
	var s Snapshot
	started := make(chan struct{})
	go func() {
		ctx, done := s.begin(t.Context())
		defer done()
		close(started)
		<-ctx.Done()
	}()
	<-started
	s.Stop()
	if ctx, done := s.begin(t.Context()); ctx.Err() != context.Canceled {
		t.Error("restoring begins after a purge")
	} else {
		done()
	}
	s.Stop()
}

// TestSnapshotAtStop checks that shutdown stops Restore and keeps the file, unless a purge has invalidated it.
func TestSnapshotAtStop(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	for name, tt := range map[string]struct {
		purges bool
		want   string
	}{"stop": {false, "all"}, "stop after a purge": {true, "some"}} {
		path := filepath.Join(t.TempDir(), "answers")
		if err := os.WriteFile(path, []byte("all"), 0o600); err != nil {
			t.Fatal(err)
		}
		var s Snapshot
		ctx, stop := context.WithCancel(t.Context())
		s.Restore(ctx, path, log, func(ctx context.Context, _ io.ReadSeeker) (int, error) {
			stop()
			<-ctx.Done()
			return 0, nil
		}, func(error) bool { return false })
		if tt.purges {
			s.Stop()
		}
		s.Save(path, log, func(w io.Writer) (int, error) { return fmt.Fprint(w, "some") })
		if text, err := os.ReadFile(path); err != nil || string(text) != tt.want {
			t.Errorf("%s: %q is saved, %v", name, text, err)
		}
	}
}

// beginner implements httpmessage.Handler by a function.
type beginner func() httpmessage.Continuation

func (f beginner) Begin(*httpmessage.Incoming, httpmessage.ResponseWriter) httpmessage.Continuation {
	return f()
}

// ending implements httpmessage.Continuation by a function.
type ending func()

func (f ending) Continue() { f() }

// TestUseOfRequest checks that every request releases its generation, however it ends.
func TestUseOfRequest(t *testing.T) {
	panics := func() { panic("a test") }
	for name, begin := range map[string]beginner{
		"answered":  func() httpmessage.Continuation { return nil },
		"continued": func() httpmessage.Continuation { return ending(func() {}) },
		"panics":    func() httpmessage.Continuation { panics(); return nil },
		"panics on": func() httpmessage.Continuation { return ending(panics) },
	} {
		t.Run(name, func(t *testing.T) {
			var c current
			g := &Generation{Endpoints: []Endpoint{{Name: "a", Handler: begin}}}
			c.replace(g)
			func() {
				defer func() { _ = recover() }()
				if rest := (endpointHandler{&c, "a"}).Begin(nil, nil); rest != nil {
					rest.Continue()
				}
			}()
			if uses := g.running.Load(); uses != 0 {
				t.Errorf("%d uses", uses)
			}
		})
	}
}

// A reload with an empty file, as after writing it to a full disk, keeps the configuration in force.
func TestReloadOfEmptyFile(t *testing.T) {
	d := serving(t)
	d.file.path = filepath.Join(t.TempDir(), "urnd.yaml")
	inForce := d.current.generation.Load()
	for _, tt := range []struct {
		content string
		want    error
	}{{"", errEmptyFile}, {"{}\n", nil}} {
		if err := os.WriteFile(d.file.path, []byte(tt.content), 0o600); err != nil {
			t.Fatal(err)
		}
		err := d.replace(t.Context())
		if !errors.Is(err, tt.want) || (d.current.generation.Load() == inForce) != (tt.want != nil) {
			t.Errorf("%q: %v", tt.content, err)
		}
	}
}
