package adversary

import (
	"context"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"
)

// In a storm, several attackers request a resource continuously that a victim requests a few times, while the
// origin drops and delays some of their requests.
const (
	stormAttackers = 4
	stormRequests  = 8
)

// stormy turns an attack on a site into a storm. source provides the seeds of the attackers' requests.
func stormy(one attack, source *rand.Rand) attack {
	one.moment, one.name = before, "a storm, "+one.name
	one.site.own = drifting(one.site)
	var seeds [stormAttackers]uint64
	for i := range seeds {
		seeds[i] = source.Uint64()
	}
	one.course = func(ctx context.Context, d *duel) error { return d.storm(ctx, seeds[:]) }
	return one
}

// drifting returns the behavior of the origin in a storm: some requests of attackers are dropped, others
// delayed.
func drifting(s site) func(v *visit) bool {
	return func(v *visit) bool {
		if v.isAttacker() {
			switch v.serial % 4 {
			case 0:
				return v.drops()
			case 1:
				work := time.NewTimer(100 * time.Millisecond)
				defer work.Stop()
				select {
				case <-work.C:
				case <-v.conn.server.done:
				}
			}
		}
		status, fields := http.StatusOK, []string(nil)
		if s.reacts != nil {
			status, fields = s.reacts(v)
		}
		return v.respond(status, append(append([]string(nil), s.fields...), fields...), v.echo())
	}
}

// storm runs it, and compares each response to the victim.
func (d *duel) storm(ctx context.Context, seeds []uint64) error {
	right, took, err := d.undisturbed(ctx)
	if err != nil {
		return err
	}
	id := d.id()
	r := d.origin.on(id, d.site, d.names(d.server, id))
	defer d.origin.off(id)
	attacking, stop := context.WithCancel(ctx)
	var done sync.WaitGroup
	defer done.Wait()
	defer stop()
	for _, seed := range seeds {
		done.Go(func() { d.attackUntil(attacking, id, rand.New(rand.NewPCG(seed, 0))) })
	}
	for range stormRequests {
		got, err := d.victim(ctx, id, d.bound(took))
		if err == nil {
			err = d.judge(got, right, id, r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// attackUntil sends random requests until ctx ends, and aborts some of them.
func (d *duel) attackUntil(ctx context.Context, id string, source *rand.Rand) {
	for ctx.Err() == nil {
		other := *d
		other.requests = []sending{randomRequest(source)}
		most := 3 * time.Second
		if source.IntN(4) == 0 {
			most = time.Duration(1+source.IntN(50)) * time.Millisecond
		}
		attempt, cancel := context.WithTimeout(ctx, most)
		if c, err := other.open(attempt, attackers, 0); err == nil {
			if c, err = other.exchanges(attempt, c, id); err == nil {
				_ = c.Close()
			}
		}
		cancel()
	}
}
