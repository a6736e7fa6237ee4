package adversary

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// The leader of collapsed requests shares its response, never an error, a delay or its speed. These rules do
// not depend on how requests are collapsed.

// withLeaders returns attacks by a request that others could wait for.
func withLeaders() (all []attack) {
	const section = "RFC 9111 section 4"
	plain, cookie := []sending{{}}, []sending{{fields: []string{"Cookie: session=attacker"}}}
	credentials := []sending{{fields: []string{"Authorization: Bearer attacker"}}}
	held := site{fields: explicit, gated: true, ignores: []string{"cookie"}}
	for _, m := range []moment{together, delaying, leaving, failing} {
		for _, one := range []attack{
			{name: "the leader", requests: plain, asks: []shape{bare, logged, ranged, conditional}},
			{name: "the leader", requests: plain, ways: []route{site10, siteTLS, siteH2, forward1}},
			{name: "a leader with a Cookie", requests: cookie, atOnce: true},
			{name: "a leader with a Cookie, as the victim has one", requests: cookie, asks: []shape{logged}},
			{name: "a leader with credentials", requests: credentials, atOnce: true},
			{
				name: "a leader with an unknown field", requests: []sending{{fields: []string{"X-Anything: 1"}}},
				atOnce: true,
			},
			{name: "a leader with content", requests: []sending{{body: "evil"}}, atOnce: true},
			{name: "a leader with Range", requests: []sending{{fields: []string{"Range: bytes=0-4"}}}},
			{name: "a leader with a condition", requests: []sending{{fields: []string{`If-None-Match: "a"`}}}},
			{name: "a leader by HEAD", requests: []sending{{method: "HEAD"}}},
		} {
			one.section, one.site, one.moment, one.alone = section, held, m, true
			all = append(all, one)
		}
	}
	private := site{fields: []string{"Cache-Control: private"}, gated: true}
	all = append(all, attack{
		name: "a leader whose answer is private", section: section, site: private, requests: plain, moment: together,
	})
	// A session lock as in PHP: all requests with the same cookie wait, and no others.
	lock := site{gated: true}
	all = append(all,
		attack{
			name: "a session lock", section: section, site: lock, requests: cookie, moment: delaying, alone: true,
			atOnce: true,
			ways:   []route{site1, siteH2, forward1},
		},
		attack{
			name: "a session lock, and a victim with another session", section: section, site: lock, requests: cookie,
			moment: delaying, alone: true, asks: []shape{logged},
		},
	)
	varied := held
	varied.fields = append([]string{"Vary: Accept-Language"}, explicit...)
	all = append(all, attack{
		name: "a leader of another variant", section: "RFC 9111 section 4.1", site: varied, moment: delaying,
		alone: true, atOnce: true, asks: []shape{bare, browser},
		requests: []sending{{fields: []string{"Accept-Language: evil"}}}, course: afterOne,
	})
	return append(append(all, withStale()...), withMany()...)
}

// withStale returns attacks by leaders that validate a response which may be served stale (RFC 5861 section 3,
// RFC 9111 section 4.2.4).
func withStale() (all []attack) {
	for _, one := range []struct {
		name, control string
		fields        []string
		atOnce        bool
	}{
		{"stale-while-revalidate", "max-age=0, stale-while-revalidate=600", nil, true},
		{"max-stale", "max-age=0", []string{"Cache-Control: max-stale=600"}, true},
		{"cache.stale_for", "max-age=0", nil, true},
		{"must-revalidate", "max-age=0, must-revalidate", nil, false},
		{"no-cache", "max-age=600, no-cache", nil, false},
	} {
		asks := shape{"with " + one.name, one.fields}
		all = append(all, attack{
			name: "a leader who validates, " + one.name, section: "RFC 5861 section 3",
			site:     site{fields: []string{"Cache-Control: " + one.control}, gated: true},
			requests: []sending{{}}, moment: delaying, alone: true, atOnce: one.atOnce, asks: []shape{asks},
			course: func(ctx context.Context, d *duel) error { return d.afterPrimed(ctx, one.atOnce) },
		})
	}
	return all
}

// afterOne runs the attack when a response to another client is stored, so that Vary is known.
func afterOne(ctx context.Context, d *duel) error {
	_, err := d.primed(ctx, sending{fields: []string{"Accept-Language: first"}})
	return err
}

// afterPrimed runs the attack when the response to a victim is stored, and checks whether that is served.
func (d *duel) afterPrimed(ctx context.Context, stale bool) error {
	got, err := d.primed(ctx, sending{})
	if err != nil {
		return err
	}
	if serial := got.serial(); !stale && serial == "1" {
		return errors.New("the response that must be validated is served without that")
	}
	return nil
}

// primed sends a victim's request first, and then runs the attack. It returns the response to the second
// victim.
func (d *duel) primed(ctx context.Context, first sending) (received, error) {
	right, took, err := d.undisturbed(ctx)
	if err != nil {
		return received{}, err
	}
	id := d.id()
	r := d.origin.on(id, d.site, d.names(d.server, id))
	defer d.origin.off(id)
	c, err := d.open(ctx, victim, 0)
	if err != nil {
		return received{}, err
	}
	defer func() { _ = c.Close() }()
	first = first.as(victimAgent, "http", d.host(d.server, d.victimRoute), "/"+id, d.victimRoute.absolute)
	if err := c.send(first); err != nil {
		return received{}, err
	}
	if got := c.receive(first, d.most()); got.failure != nil {
		return received{}, got.failure
	}
	got, err := d.attacked(ctx, id, r, d.bound(took))
	if err != nil {
		return received{}, err
	}
	return got[0], d.judge(got, right, id, r)
}

// mostLeaders is the maximum number of concurrent requests for one resource at an origin after a leader has
// failed.
const mostLeaders = 16

// withMany returns attacks on several victims.
func withMany() []attack {
	slow := site{fields: explicit, gated: true, own: func(v *visit) bool {
		work := time.NewTimer(100 * time.Millisecond)
		defer work.Stop()
		select {
		case <-work.C:
		case <-v.conn.server.done:
		}
		return v.respond(http.StatusOK, v.site.fields, v.echo())
	}}
	const section = "RFC 9111 section 4"
	all := []attack{
		{
			name: "100 victims", section: section, site: slow, requests: []sending{{}}, moment: failing, alone: true,
			course: hundred,
		},
		{
			name: "100 victims", section: section, site: slow, requests: []sending{{}}, moment: leaving, alone: true,
			course: hundred,
		},
	}
	private := slow
	private.fields = []string{"Cache-Control: private"}
	all = append(all, attack{
		name: "100 victims of a private answer", section: section, site: private, requests: []sending{{}},
		moment: together, alone: true, course: hundred,
	})
	drops := site{fields: explicit, own: func(v *visit) bool {
		if v.isAttacker() {
			return v.drops()
		}
		return v.respond(http.StatusOK, v.site.fields, v.echo())
	}}
	for _, field := range []string{"Accept: */*", "X-Crash: 1"} {
		all = append(all, attack{
			name: "five victims and four attackers with " + field, section: "RFC 9110 section 15.6.3", site: drops,
			requests: []sending{{fields: []string{field}}}, alone: true, course: five,
		})
		var many []sending
		for range 60 {
			many = append(many, sending{fields: []string{field}})
		}
		all = append(all, attack{
			name: "60 requests with " + field + " that the origin drops", section: "RFC 9110 section 15.6.3",
			site: drops, requests: many, alone: true,
		})
	}
	refuses := drops
	refuses.own = func(v *visit) bool {
		status := http.StatusOK
		if v.isAttacker() {
			status = http.StatusServiceUnavailable
		}
		return v.respond(status, []string{"Cache-Control: no-store"}, v.echo())
	}
	var many []sending
	for range 60 {
		many = append(many, sending{})
	}
	return append(all, attack{
		name: "60 requests that the origin answers 503", section: "RFC 9110 section 15.6.4", site: refuses,
		requests: many,
		alone:    true,
	})
}

// hundred runs the attack with a hundred victims: each gets a response, with few concurrent requests at the
// origin.
func hundred(ctx context.Context, d *duel) error {
	id := d.id()
	r := d.origin.on(id, d.site, d.names(d.server, id))
	defer d.origin.off(id)
	c, err := d.open(ctx, attackers, 0)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	one := d.requests[0].as(attackerAgent, "http", d.host(d.server, d.victimRoute), "/"+id, d.victimRoute.absolute)
	if err := c.send(one); err != nil {
		return err
	}
	if err := waitFor(ctx, r.arrived, nil); err != nil {
		return err
	}
	const n = 100
	var count tally
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		many(n, func(int) {
			got, err := d.victim(ctx, id, d.collapse+2*d.slack)
			if err == nil {
				err = got[0].failure
			}
			if err == nil && got[0].status != http.StatusOK {
				err = fmt.Errorf("status %d", got[0].status)
			}
			count.add(fmt.Sprint(err))
		})
	}()
	d.goOn(c, r, answered)
	<-answered
	if right := count.sum("<nil>"); right < n {
		return fmt.Errorf("%d of %d victims are answered: %s", right, n, count.String())
	}
	all, atOnce, _ := r.seen()
	if d.moment != together && atOnce > mostLeaders { // a response that is not shared is requested by each
		return fmt.Errorf("the origin has %d requests at once, and %d in all", atOnce, all)
	}
	return nil
}

// five runs rounds in which four attackers and five victims request the same resource repeatedly.
func five(ctx context.Context, d *duel) error {
	const rounds = 12
	var count tally
	for range rounds {
		id := d.id()
		d.origin.on(id, d.site, d.names(d.server, id))
		attacking, stop := context.WithCancel(ctx)
		var attackersDone sync.WaitGroup
		for range 4 {
			attackersDone.Go(func() {
				for attacking.Err() == nil {
					if c, err := d.open(attacking, attackers, 0); err == nil {
						_, _ = d.exchanges(attacking, c, id)
						_ = c.Close()
					}
				}
			})
		}
		many(5, func(int) {
			got, err := d.victim(ctx, id, 2*d.slack)
			switch {
			case err != nil:
				count.add("error")
			case got[0].failure != nil:
				count.add("fault")
			default:
				count.add(fmt.Sprint(got[0].status))
			}
		})
		stop()
		attackersDone.Wait()
		d.origin.off(id)
	}
	if right := count.sum("200"); right < 5*rounds {
		return fmt.Errorf("%d of %d requests of the victims are answered: %s", right, 5*rounds, count.String())
	}
	return nil
}
