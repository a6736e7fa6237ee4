package balance_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/urnd/urnd/proxy/balance"
	"github.com/urnd/urnd/uri"
)

// probed is a pool whose server a is probed by the clock of a synctest bubble.
type probed struct {
	*balance.Pool
	probes atomic.Int64
	at     atomic.Int64                                       // time of the last probe
	result atomic.Pointer[func(context.Context) (int, error)] // result of probes of a
	log    bytes.Buffer                                       // to be read after synctest.Wait
	stop   func()                                             // ends Run, and waits for it
}

// interval is the interval of probes in tests; jitter varies it by a tenth.
const interval = 10 * time.Second

func newProbed(t *testing.T, config balance.Config) *probed {
	p := &probed{}
	p.status(200)
	config.HealthCheck.Interval = interval
	config.Now = time.Now
	withoutTime := func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}
	config.Log = slog.New(slog.NewTextHandler(&p.log, &slog.HandlerOptions{ReplaceAttr: withoutTime}))
	probe := func(ctx context.Context, server uri.URI, path string) (int, error) {
		if path != "/health?deep" {
			t.Errorf("a probe is for %q", path)
		}
		if server.Hostname() != "a" {
			return 200, nil
		}
		p.at.Store(time.Now().UnixNano())
		p.probes.Add(1)
		return (*p.result.Load())(ctx)
	}
	config.HealthCheck.Path = "/health?deep"
	p.Pool = newPool(t, config)
	p.SetProbe(probe)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { p.Run(ctx) })
	p.stop = func() { cancel(); running.Wait() }
	return p
}

func (p *probed) answer(f func(context.Context) (int, error)) { p.result.Store(&f) }
func (p *probed) status(status int) {
	p.answer(func(context.Context) (int, error) { return status, nil })
}

// until waits until a was probed n times since the start.
func (p *probed) until(n int64) {
	for p.probes.Load() < n {
		time.Sleep(time.Millisecond) // bubble time
	}
	synctest.Wait()
}

func (p *probed) last() time.Time { return time.Unix(0, p.at.Load()) }

func (p *probed) state() balance.ServerStatus { return p.Status()[0] }

// A pool begins with the states of the one that it replaces, if that has probed its servers in the same way.
func TestPreviousPool(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newProbed(t, balance.Config{Servers: servers(t, 1, 1)})
		defer p.stop()
		p.status(503)
		p.until(2)
		check := balance.HealthCheck{Path: "/health?deep", Interval: 2 * interval}
		other, drained := check, servers(t, 1, 1, 1)
		other.Path, drained[0].Drained = "/", true
		for _, tt := range []struct {
			check   balance.HealthCheck
			servers []balance.Server
			want    string
		}{
			{check, servers(t, 1, 1, 1), "bcbc"},
			{other, servers(t, 1, 1), "abab"},
			{balance.HealthCheck{}, servers(t, 1, 1), "abab"},
			{check, drained, "bcbc"},
		} {
			next := newPool(t, balance.Config{Servers: tt.servers, HealthCheck: tt.check, Previous: p.Pool})
			if got := picks(next, 4); got != tt.want {
				t.Errorf("%+v: picked %s, want %s", tt.check, got, tt.want)
			}
		}
		next := newPool(t, balance.Config{Servers: drained, HealthCheck: check, Previous: p.Pool})
		again := newPool(t, balance.Config{Servers: servers(t, 1, 1), HealthCheck: check, Previous: next})
		if got := picks(again, 4); got != "abab" {
			t.Errorf("picked %s after a was drained, and not probed", got)
		}
	})
}

func TestDownAndUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newProbed(t, balance.Config{Servers: servers(t, 1, 1)})
		defer p.stop()
		started := time.Now()
		p.status(503)
		p.until(1)
		const reason = "unexpected status 503, not from 200 to 399"
		if s := p.state(); s.State != balance.Up || s.Reason != reason || !s.Since.Equal(started) {
			t.Errorf("after a failed probe: %+v", s)
		}
		if got := picks(p.Pool, 4); got != "abab" {
			t.Errorf("picked %s after a failed probe", got)
		}
		p.until(2)
		down := p.last()
		if s := p.state(); s.State != balance.Down || !s.Since.Equal(down) {
			t.Errorf("after two: %+v", s)
		}
		if got := picks(p.Pool, 4); got != "bbbb" {
			t.Errorf("picked %s while a is down", got)
		}
		p.until(4)
		if s := p.state(); s.State != balance.Down || !s.Since.Equal(down) {
			t.Errorf("after four: %+v", s)
		}
		p.status(204)
		p.until(5)
		if s := p.state(); s.State != balance.Up || !s.Since.Equal(p.last()) || s.Reason == "" {
			t.Errorf("after a probe: %+v", s)
		}
		if got := picks(p.Pool, 4); strings.Count(got, "a") != 2 {
			t.Errorf("picked %s after a is up again", got)
		}
		p.status(500)
		p.until(6)
		p.status(200)
		p.until(7)
		p.status(500)
		p.until(8)
		if s := p.state(); s.State != balance.Up {
			t.Errorf("two failed probes that are not in a row: %+v", s)
		}
		const want = "level=WARN msg=\"site server down, used only if all others are down or fail\" " +
			"server=http://a reason=\"" + reason +
			"\"\nlevel=INFO msg=\"site server up again\" server=http://a down_for="
		if got := p.log.String(); !strings.HasPrefix(got, want) || strings.Count(got, "\n") != 2 {
			t.Errorf("the log is %s", got)
		}
	})
}

// TestInterval requires that probes start early, and are an interval apart, except for the jitter.
func TestInterval(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newProbed(t, balance.Config{Servers: servers(t, 1)})
		defer p.stop()
		started := time.Now()
		p.until(1)
		if after := time.Since(started); after > time.Second+time.Millisecond {
			t.Errorf("the first probe is after %v", after)
		}
		for n := range int64(20) {
			before := time.Now()
			p.until(n + 2)
			if d := time.Since(before); d < interval*9/10-time.Millisecond || d > interval*11/10+time.Millisecond {
				t.Errorf("a probe is after %v", d)
			}
		}
	})
}

func TestProbeResults(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 200) // 300 bytes end within a character
	for _, c := range []struct {
		name   string
		expect int
		result func(context.Context) (int, error)
		reason string
	}{
		{"199", 0, status(199), "unexpected status 199, not from 200 to 399"},
		{"200", 0, status(200), ""},
		{"399", 0, status(399), ""},
		{"400", 0, status(400), "unexpected status 400, not from 200 to 399"},
		{"as expected", 404, status(404), ""},
		{"not as expected", 404, status(200), "unexpected status 200, not 404"},
		{"error", 0, fails("connection refused"), "no response: connection refused"},
		{"long error", 0, fails(long), "no response: " + long[:299-len("no response: ")]},
		{"timeout", 0, hang, "no response: context deadline exceeded"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := newProbed(t, balance.Config{
					Servers:     servers(t, 1),
					HealthCheck: balance.HealthCheck{Status: c.expect},
				})
				defer p.stop()
				p.answer(c.result)
				p.until(2)
				time.Sleep(5 * time.Second) // the maximum timeout, in bubble time
				synctest.Wait()
				if s := p.state(); s.Reason != c.reason || (s.State == balance.Down) != (c.reason != "") {
					t.Errorf("is %s for %q, want %q", s.State, s.Reason, c.reason)
				}
				if got := picks(p.Pool, 2); got != "aa" {
					t.Errorf("picked %s of a pool of one", got)
				}
			})
		})
	}
}

func status(status int) func(context.Context) (int, error) {
	return func(context.Context) (int, error) { return status, nil }
}

func fails(text string) func(context.Context) (int, error) {
	return func(context.Context) (int, error) { return 0, errors.New(text) }
}

// hang is a probe without a response.
func hang(ctx context.Context) (int, error) { <-ctx.Done(); return 0, ctx.Err() }

func TestAllDown(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		failing string
		want    string
	}{
		{"the other one fails", "b", "ab"},
		{"the other one is up", "", "b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := newProbed(t, balance.Config{Servers: servers(t, 1, 1, -1), Failing: failing(c.failing)})
				defer p.stop()
				p.status(500)
				p.until(2)
				got := picks(p.Pool, 100)
				for _, host := range []string{"a", "b", "c", "-"} {
					if strings.Contains(got, host) != strings.Contains(c.want, host) {
						t.Errorf("picked %s, want servers of %s", got, c.want)
					}
				}
			})
		})
	}
}

func TestSlowStart(t *testing.T) {
	t.Parallel()
	for _, method := range []balance.Method{balance.RoundRobin, balance.LeastRequests, balance.Hash} {
		t.Run(fmt.Sprint(method), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				const slowStart = 50 * time.Second
				p := newProbed(t, balance.Config{
					Servers: servers(t, 1, 1), Method: method, HealthCheck: balance.HealthCheck{SlowStart: slowStart},
				})
				defer p.stop()
				share := func() int { // of 1100 requests
					count := 0
					for i := range 1100 {
						count += strings.Count(pick(p.Pool, fmt.Sprint(i), nil), "a")
					}
					return count
				}
				check := func(when string, state balance.State, want int) {
					tolerance := 2
					if method == balance.Hash {
						tolerance = 60
					}
					if got := share(); got < want-tolerance || got > want+tolerance {
						t.Errorf("%s: picked %d times, want %d", when, got, want)
					}
					if s := p.state(); s.State != state {
						t.Errorf("%s: is %s, want %s", when, s.State, state)
					}
				}
				check("at the start", balance.Up, 550)
				p.status(500)
				p.until(2)
				check("down", balance.Down, 0)
				p.status(200)
				p.until(3)
				since := p.state().Since
				check("up again", balance.Starting, 100) // 10 of 110
				time.Sleep(time.Until(since.Add(slowStart / 2)))
				check("half of the time later", balance.Starting, 390) // 55 of 155
				time.Sleep(time.Until(since.Add(slowStart)))
				check("at the end", balance.Up, 550)
				time.Sleep(2 * interval)
				check("later", balance.Up, 550)
				if got := p.state().Since; !got.Equal(since.Add(slowStart)) {
					t.Errorf("is up since %v, want the end of the slow start", got)
				}
				p.status(500)
				p.until(p.probes.Load() + 2)
				check("down again", balance.Down, 0)
			})
		})
	}
}

// TestStop requires that Run ends with ctx, and that a canceled probe does not count.
func TestStop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newProbed(t, balance.Config{Servers: servers(t, 1)})
		p.answer(hang)
		p.until(1)
		p.stop()
		if s := p.state(); s.Reason != "" || p.probes.Load() != 1 {
			t.Errorf("after %d probes: %+v", p.probes.Load(), s)
		}
	})
}

func TestNoProbes(t *testing.T) {
	t.Parallel()
	probe := func(context.Context, uri.URI, string) (int, error) { t.Error("a server is probed"); return 0, nil }
	check := balance.HealthCheck{Interval: time.Second}
	for _, config := range []balance.Config{{Servers: servers(t, 1)}, {Servers: servers(t, -1), HealthCheck: check}} {
		p := newPool(t, config)
		p.SetProbe(probe)
		p.Run(t.Context())
	}
}
