package main

import (
	"context"
	"errors"
	"hash/fnv"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/cache/memory"
	"github.com/urnd/urnd/internal/bench/zipf"
)

// plan is a simulation.
type plan struct {
	names, requests, zones, memory, shared int
	rate, exponent, negative               float64
	ttls                                   []part
	recordTTL, negativeTTL                 time.Duration
	instances                              int
	second, sharded                        bool
	seed                                   uint64
}

// part is the TTL of a fraction of the names.
type part struct {
	ttl time.Duration
	of  float64
}

// outcome contains the counters: fractions of the requests, and loads and queries per second.
type outcome struct{ memory, shared, loads, queries float64 }

// answer is a value of the caches without content.
type answer struct{}

var errNone = errors.New("there is no such name")

// instance is one urnd with its caches of answers and record sets.
type instance struct{ answers, records *cache.Cache[answer] }

// newCache returns a cache of urnd for about entries entries in memory, and a function to close it.
func newCache(entries int, now func() time.Time, second *level) (*cache.Cache[answer], func(), error) {
	// Refreshing ahead of expiry is disabled: it runs concurrently and would differ in each run.
	const usual, value = 374, 200 // bytes: docs/benchmarks.md
	store, err := memory.New(memory.Config[answer]{
		MaxBytes: int64(entries) * usual, TypicalSize: usual,
		Size: func(answer) int { return value },
	})
	if err != nil {
		return nil, nil, err
	}
	settings := cache.Config[answer]{Store: store, Now: now}
	if second != nil {
		settings.Second = second
	}
	c := cache.New(settings)
	return c, func() { c.Close(); store.Close() }, nil
}

// play simulates the requests and counts the second half.
func (p *plan) play() (o outcome, err error) {
	random := rand.New(rand.NewPCG(p.seed, 0)) //nolint:gosec // the same numbers in each run
	law, place := zipf.New(p.names, p.exponent), random.Perm(p.names)
	clock := time.Unix(0, 0)
	now := func() time.Time { return clock }
	var answers, records *level
	if p.second {
		answers, records = newLevel(p.shared, now), newLevel(p.shared, now)
	}
	all := make([]instance, p.instances)
	for i := range all {
		for _, of := range []struct {
			cache  **cache.Cache[answer]
			second *level
		}{{&all[i].answers, answers}, {&all[i].records, records}} {
			made, end, err := newCache(p.memory, now, of.second)
			if err != nil {
				return o, err
			}
			defer end()
			*of.cache = made
		}
	}
	var started time.Time
	for n := range p.requests {
		if n == p.requests/2 {
			o, started = outcome{}, clock
		}
		clock = clock.Add(time.Duration(random.ExpFloat64() / p.rate * float64(time.Second)))
		name := place[law.Rank(random.Float64())]
		at := random.IntN(p.instances)
		if p.sharded {
			at = shard(name, p.instances)
		}
		if err := p.ask(all[at], name, &o); err != nil {
			return o, err
		}
	}
	counted := float64(p.requests - p.requests/2)
	o.memory, o.shared = o.memory/counted, o.shared/counted
	seconds := clock.Sub(started).Seconds()
	o.loads, o.queries = o.loads/seconds, o.queries/seconds
	return o, nil
}

// ask requests a name from an instance and counts the work.
func (p *plan) ask(i instance, name int, o *outcome) error {
	loaded := false
	result, err := i.answers.Get(context.Background(), "urn:example:"+strconv.Itoa(name),
		func(ctx context.Context) (answer, time.Duration, error) {
			loaded = true
			o.loads++
			_, err := i.records.Get(ctx, strconv.Itoa(name%p.zones),
				func(context.Context) (answer, time.Duration, error) {
					o.queries++
					return answer{}, p.recordTTL, nil
				})
			if err != nil {
				return answer{}, 0, err
			}
			ttl, err := p.answer(name)
			return answer{}, ttl, err
		})
	if err != nil && !errors.Is(err, errNone) {
		return err
	}
	switch {
	case result.Status == cache.Hit:
		o.memory++
	case !loaded:
		o.shared++
	}
	return nil
}

// answer returns the TTL of a name, and an error if it does not exist. The result only depends on the name.
func (p *plan) answer(name int) (time.Duration, error) {
	of := rand.New(rand.NewPCG(p.seed, uint64(name)+1)) //nolint:gosec // as above
	if of.Float64() < p.negative {
		return p.negativeTTL, errNone
	}
	at := of.Float64()
	for _, part := range p.ttls {
		if at -= part.of; at < 0 {
			return part.ttl, nil
		}
	}
	return p.ttls[len(p.ttls)-1].ttl, nil
}

// shard returns the instance of a name by rendezvous hashing: adding one instance to n moves a fraction 1/(n+1)
// of the names of each.
func shard(name, instances int) (best int) {
	most := uint64(0)
	for i := range instances {
		h := fnv.New64a()
		_, _ = h.Write([]byte(strconv.Itoa(name) + "/" + strconv.Itoa(i))) // does not fail
		if sum := mix(h.Sum64()); sum >= most {
			best, most = i, sum
		}
	}
	return best
}

// mix distributes a hash over all bits, because the first bits decide (MurmurHash3's finalizer).
func mix(x uint64) uint64 {
	x = (x ^ x>>33) * 0xff51afd7ed558ccd
	x = (x ^ x>>33) * 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}
