package main

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/bench/zipf"
)

const forever = 1000 * time.Hour

func small(change func(*plan)) *plan {
	p := &plan{
		names: 2_000, requests: 200_000, rate: 100, exponent: 0.9, memory: 20_000, shared: 20_000, zones: 10,
		ttls: []part{{forever, 1}}, recordTTL: forever, negativeTTL: time.Minute, instances: 1, seed: 1,
	}
	change(p)
	return p
}

func (p *plan) played(t *testing.T) outcome {
	t.Helper()
	o, err := p.play()
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func near(t *testing.T, what string, got, want, by float64) {
	t.Helper()
	if math.Abs(got-want) > by {
		t.Errorf("%s: %.4f, want %.4f", what, got, want)
	}
}

// TestByTTL: if all names fit into memory, a name is loaded once in the time from a load to the first request
// after its expiry. For Poisson requests the hit ratio of a name is rate*TTL/(1+rate*TTL) (Jung, Berger,
// Balakrishnan 2003).
func TestByTTL(t *testing.T) {
	for _, ttl := range []time.Duration{time.Second, 10 * time.Second, time.Minute} {
		p := small(func(p *plan) { p.ttls = []part{{ttl, 1}} })
		law, want := zipf.New(p.names, p.exponent), 0.0
		for rank := range p.names {
			per := law.Share(rank) * p.rate * ttl.Seconds()
			want += law.Share(rank) * per / (1 + per)
		}
		o := p.played(t)
		near(t, ttl.String(), o.memory, want, 0.005)
		near(t, "loads", o.loads, p.rate*(1-want), 0.5)
	}
}

// che returns the hit ratio of an LRU cache with room for that many names by the approximation of Che, Tung and Wang
// (2002): a name is cached if it was requested within a time that is the same for all.
func che(law zipf.Law, room int) (ratio float64) {
	held := func(within float64) (names, hits float64) {
		for rank := range law {
			there := 1 - math.Exp(-law.Share(rank)*within)
			names, hits = names+there, hits+law.Share(rank)*there
		}
		return names, hits
	}
	low, high := 0.0, 1e12
	for range 100 {
		middle := (low + high) / 2
		if names, _ := held(middle); names < float64(room) {
			low = middle
		} else {
			high = middle
		}
	}
	_, ratio = held(low)
	return ratio
}

// TestLevelByChe checks that the second level is LRU.
func TestLevelByChe(t *testing.T) {
	for _, exponent := range []float64{0.8, 1, 1.1} {
		const names, room, requests = 20_000, 1_000, 300_000
		law := zipf.New(names, exponent)
		random := rand.New(rand.NewPCG(1, 1))
		l := newLevel(room, func() time.Time { return time.Time{} })
		hits := 0.0
		for n := range requests {
			key := strconv.Itoa(law.Rank(random.Float64()))
			if _, ok := l.get(key); !ok {
				l.set(&stored{key: key, expires: time.Time{}.Add(1)})
			} else if n >= requests/2 {
				hits++
			}
		}
		if len(l.entries) != room || l.order.Len() != room {
			t.Errorf("it has %d entries", len(l.entries))
		}
		near(t, strconv.FormatFloat(exponent, 'f', 1, 64), hits/(requests/2), che(law, room), 0.01)
	}
}

// TestMemoryByChe checks that full memory has about as many hits as LRU, or more.
func TestMemoryByChe(t *testing.T) {
	p := small(func(p *plan) { p.names, p.memory = 20_000, 2_000 })
	if got, want := p.played(t).memory, che(zipf.New(p.names, p.exponent), 1_400); got < want {
		t.Errorf("%.3f, and of an LRU cache %.3f", got, want)
	}
}

// TestInstances checks that instances with a shared level load as often as one; without it each loads for
// itself with any balancing, and with sharding all load as one.
func TestInstances(t *testing.T) {
	ttl := []part{{time.Minute, 1}}
	of := func(instances int, second, sharded bool) outcome {
		return small(func(p *plan) {
			p.ttls, p.recordTTL, p.instances, p.second, p.sharded = ttl, 10*time.Second, instances, second, sharded
		}).played(t)
	}
	one, alone, shared, sharded := of(1, false, false), of(3, false, false), of(3, true, false), of(3, false, true)
	near(t, "shared", shared.loads/one.loads, 1, 0.02)
	near(t, "sharded", sharded.loads/one.loads, 1, 0.02)
	near(t, "queries, shared", shared.queries/one.queries, 1, 0.05)
	near(t, "queries, each for itself", alone.queries/one.queries, 2.9, 0.4)
	if alone.loads < 1.3*one.loads || alone.shared != 0 || shared.shared == 0 {
		t.Errorf("one: %+v, three: %+v, with a second level: %+v", one, alone, shared)
	}
	near(t, "all is a hit or a load", shared.memory+shared.shared+shared.loads/100, 1, 0.01)
}

// TestShard checks that an additional instance takes its fraction of names from each of the others, and moves
// no other names.
func TestShard(t *testing.T) {
	const names = 10_000
	moved := 0.0
	counts := make([]float64, 4)
	for name := range names {
		before, after := shard(name, 3), shard(name, 4)
		counts[after]++
		if before != after {
			moved++
			if after != 3 {
				t.Fatalf("%d goes from %d to %d", name, before, after)
			}
		}
	}
	for i, n := range counts {
		near(t, "instance "+strconv.Itoa(i), n/names, 0.25, 0.02)
	}
	near(t, "moved", moved/names, 0.25, 0.02)
}

// TestRun checks that runs are identical, and that the table has a row for each simulation.
func TestRun(t *testing.T) {
	p := small(func(p *plan) {
		p.requests, p.negative, p.ttls = 20_000, 0.1, []part{{time.Minute, 0.5}, {time.Hour, 0.5}}
	})
	var first, second strings.Builder
	for _, out := range []*strings.Builder{&first, &second} {
		if err := run(*p, "0.8,1.1", "1,3", out); err != nil {
			t.Fatal(err)
		}
	}
	if first.String() != second.String() || strings.Count(first.String(), "\n") != 2+2*(2+4) {
		t.Errorf("%s\n%s", &first, &second)
	}
	if all, err := parseTTLs("10m:0.5,1h:0.5"); err != nil || len(all) != 2 || all[1] != (part{time.Hour, 0.5}) {
		t.Errorf("%v, %v", all, err)
	}
	for _, wrong := range []string{"", "10m", "x:1", "10m:y"} {
		if _, err := parseTTLs(wrong); err == nil {
			t.Errorf("%q is accepted", wrong)
		}
	}
}
