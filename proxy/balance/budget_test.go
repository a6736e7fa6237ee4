package balance_test

import (
	"testing"
	"time"

	"github.com/urnd/urnd/proxy/balance"
)

// clocked is a pool of one server with a manual clock.
type clocked struct {
	*balance.Pool
	now time.Time
}

func newClocked(t *testing.T) *clocked {
	c := &clocked{now: time.Unix(1000, 0)}
	c.Pool = newPool(t, balance.Config{Servers: servers(t, 1), Now: func() time.Time { return c.now }})
	return c
}

// retries requests n retries, each of which picks a server, and returns the number granted.
func (c *clocked) retries(n int) (granted int) {
	for range n {
		if c.MayRetry() {
			granted++
			picks(c.Pool, 1)
		}
	}
	return granted
}

func TestBudget(t *testing.T) {
	t.Parallel()
	type step struct {
		after    time.Duration
		requests int
		want     int // of 10,000 requested retries
	}
	for _, c := range []struct {
		name  string
		steps []step
	}{
		{"the first second", []step{{0, 0, 10}, {0, 0, 0}}},
		{"the floor", []step{{0, 0, 10}, {time.Second, 0, 10}, {time.Second / 20, 0, 0}, {time.Second / 10, 0, 1}}},
		{"of requests", []step{{0, 1000, 210}, {0, 100, 20}, {time.Second, 1000, 210}}},
		{"of quiet time", []step{{0, 0, 10}, {time.Hour, 0, 100}}},
		{"of the last ten seconds", []step{{0, 0, 10}, {100 * time.Second, 5000, 200}}},
		{"retries are no requests", []step{{0, 10_000, 2010}, {time.Second, 0, 10}}},
		{"a clock that goes back", []step{{0, 0, 10}, {-time.Hour, 0, 0}, {time.Second, 0, 10}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newClocked(t)
			for i, s := range c.steps {
				p.now = p.now.Add(s.after)
				picks(p.Pool, s.requests)
				if got := p.retries(10_000); got != s.want {
					t.Errorf("step %d: %d retries, want %d", i, got, s.want)
				}
			}
		})
	}
}

// TestBudgetUnused requires that unused tokens drain: the budget holds at most what about ten seconds add.
func TestBudgetUnused(t *testing.T) {
	t.Parallel()
	p := newClocked(t)
	for range 1000 { // seconds with 100 requests and one retry each
		p.now = p.now.Add(time.Second)
		picks(p.Pool, 100)
		if p.retries(1) != 1 {
			t.Fatal("a single retry is refused")
		}
	}
	if got := p.retries(10_000); got < 200 || got > 300 { // ten seconds add 300
		t.Errorf("%d retries, want between 200 and 300", got)
	}
}

// TestBudgetUnderFailure requires that the limit holds if all requests fail for long.
func TestBudgetUnderFailure(t *testing.T) {
	t.Parallel()
	p := newClocked(t)
	granted := 0
	const requests = 100_000 // in 100 seconds
	for range requests {
		p.now = p.now.Add(time.Millisecond)
		picks(p.Pool, 1)
		granted += p.retries(1)
	}
	if want := requests/5 + 10*100 + 10; granted < want-100 || granted > want+1 {
		t.Errorf("%d retries of %d requests, want about %d", granted, requests, want)
	}
}
