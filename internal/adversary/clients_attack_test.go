package adversary

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// moment is the time of the attacker's request relative to the victim's.
type moment uint8

const (
	before   moment = iota // it receives its response before
	sharing                // the same, on the connection that the victim uses then, as behind a load balancer
	together               // it is at the origin when the victim sends its request, and is answered then
	delaying               // it is at the origin, and is not answered before the victim is
	leaving                // it is at the origin when the victim sends its request, and the attacker disconnects then
	failing                // the same, and the origin resets its connection
	reading                // its response has begun, and the attacker does not read it
	quitting               // its response has begun, and the attacker disconnects when the victim sends its request
)

func (m moment) String() string {
	return [...]string{
		"before", "on the same connection", "together", "delaying", "leaving", "failing", "not reading",
		"quitting",
	}[m]
}

// attack describes what one client does so that another one may get a different or a later response.
type attack struct {
	name, section string
	site          site
	requests      []sending // of the attacker, in order
	moment        moment
	// atOnce is set if the victim need not wait for the attacker at all: the two have different collapse keys.
	atOnce bool
	// shares is set if the victim must get the response to the attacker: unkeyed fields must not make caches
	// useless.
	shares bool
	// setsCookie is set if Set-Cookie may be missing: a cache may remove it.
	setsCookie bool
	// alone is set if the attack has its own origins, because it may harm their reputation.
	alone bool
	ways  []route // nil is the site by HTTP/1.1
	asks  []shape // requests of victims; nil is a request without fields
	// course replaces all of the above unless it is nil.
	course func(ctx context.Context, d *duel) error
}

// duel is an attack by one route on one victim.
type duel struct {
	*arena
	attack
	victimRoute, attackerRoute route
	shape                      shape
	server                     int // attacked origin; the next one is its twin
}

// duels returns all combinations of routes and victims for the attacks of a family.
func (a *arena) duels(family string, attacks []attack, first int) (all []payload) {
	own := first
	for _, one := range attacks {
		server := 0
		if one.alone {
			server, own = 2*own, own+1
		}
		for _, way := range orElse(one.ways, site1) {
			if way.tls && a.secure == "" || way.absolute && a.forward == "" {
				continue // not supported by the proxy
			}
			for _, shape := range orElse(one.asks, bare) {
				d := &duel{a, one, way, way, shape, server}
				all = append(all, payload{name: d.String(), section: one.section, shows: d.shows(), play: d.run})
			}
		}
	}
	if own > pairs {
		panic(fmt.Sprintf("%s: there are only %d pairs of origins", family, pairs)) // error in a payload
	}
	return inFamily(family, all)
}

func orElse[T any](all []T, other T) []T {
	if len(all) == 0 {
		return []T{other}
	}
	return all
}

func (d *duel) String() string {
	return fmt.Sprintf("%s, %s, by %s, victim %s", d.name, d.moment, d.victimRoute.name, d.shape.name)
}

// shows returns the requests of both clients.
func (d *duel) shows() string {
	var text strings.Builder
	for i, r := range d.requests {
		const most = 3
		if i == most {
			fmt.Fprintf(&text, "and %d more; ", len(d.requests)-most)
			break
		}
		r = r.as(attackerAgent, "http", d.host(d.server, d.victimRoute), "/id", d.victimRoute.absolute)
		fmt.Fprintf(&text, "attacker: %.400s; ", r.bytes())
	}
	fmt.Fprintf(&text, "victim: %.400s", d.asked("id", d.server).bytes())
	return text.String()
}

// asked returns the victim's request for a resource of a server.
func (d *duel) asked(id string, server int) sending {
	r := sending{version: d.victimRoute.version, fields: d.shape.fields}
	return r.as(victimAgent, "http", d.host(server, d.victimRoute), "/"+id, d.victimRoute.absolute)
}

// run executes the attack.
func (d *duel) run(ctx context.Context) error {
	if d.course != nil {
		return d.course(ctx, d)
	}
	right, took, err := d.undisturbed(ctx)
	if err != nil {
		return err
	}
	id := d.id()
	r := d.origin.on(id, d.site, d.names(d.server, id))
	defer d.origin.off(id)
	got, err := d.attacked(ctx, id, r, d.bound(took))
	if err != nil {
		return err
	}
	return d.judge(got, right, id, r)
}

// bound returns the time limit of the victim, whose request takes took without an attacker.
func (d *duel) bound(took time.Duration) time.Duration {
	most := 3*took + d.slack // an attacker causes additional load
	if d.moment == delaying && !d.atOnce {
		most += d.collapse
	}
	return most
}

// judge compares the responses to the victim with the correct ones.
func (d *duel) judge(all []received, right map[string]bool, id string, r *resource) error {
	for i, got := range all {
		text := got.text(d.names(d.server, id))
		if right[text] {
			continue
		}
		_, _, lines := r.seen()
		var want string
		for one := range right {
			want = one
		}
		return fmt.Errorf(
			"response %d of the victim is not one that it would get alone:\n      %s\n      alone:\n      %s\n      "+
				"the origin saw:\n        %s",
			i+1, indented(text), indented(want), lines,
		)
	}
	if d.shares {
		if _, _, lines := r.seen(); all[0].serial() != "1" {
			return fmt.Errorf("the response to the first client is not shared with the second; the origin saw:\n    "+
				"    %s", lines)
		}
	}
	return nil
}

// indented returns the beginning of a text for a report.
func indented(text string) string {
	const most = 900
	if len(text) > most {
		text = text[:most] + fmt.Sprintf("... (%d bytes)", len(text))
	}
	return strings.ReplaceAll(text, "\n", "\n      ")
}

// undisturbed returns the possible correct responses for the victim, by requesting a resource that no other
// client requests, and the time of the slowest. The victim may also get the response for a request without the
// fields that are keyed or handled by the cache, because that is stored for all clients.
func (d *duel) undisturbed(ctx context.Context) (right map[string]bool, took time.Duration, err error) {
	right = make(map[string]bool)
	shapes := []shape{d.shape}
	if less := d.shape.safelisted(); len(less.fields) < len(d.shape.fields) {
		shapes = append(shapes, less)
	}
	for i, shape := range shapes {
		other := *d
		other.shape, other.server = shape, d.server+1
		id := d.id()
		names := d.names(other.server, id)
		d.origin.on(id, d.site, names)
		began := time.Now()
		got, err := other.victim(ctx, id, waitLimit/2)
		if i == 0 {
			took = time.Since(began)
		}
		d.origin.off(id)
		if err != nil {
			return nil, 0, fmt.Errorf("alone: %w", err)
		}
		for _, one := range got {
			if one.failure != nil {
				return nil, 0, fmt.Errorf("alone: %w", one.failure)
			}
			right[one.text(names)] = true
			if d.setsCookie {
				one.header.Del("Set-Cookie")
				right[one.text(names)] = true
			}
		}
	}
	return right, took, nil
}
