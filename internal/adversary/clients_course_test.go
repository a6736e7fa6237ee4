package adversary

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// wholeBody exceeds every finite body; someOfIt is a part of an endless one that exceeds the buffers of the
// kernel and the cache for a client that does not read.
const (
	wholeBody = 64 << 20
	someOfIt  = 12 << 20
)

func (d *duel) most() int64 {
	if d.site.endless {
		return someOfIt
	}
	return wholeBody
}

// open connects a client by the route of the duel.
func (d *duel) open(ctx context.Context, from string, buffer int) (client, error) {
	way, service := d.victimRoute, d.service
	if from == attackers {
		way = d.attackerRoute
	}
	if way.absolute {
		service = d.forward
	}
	return way.open(ctx, service, d.secure, from, buffer)
}

// victim sends two requests, on one connection if the version supports it, and returns the responses. While the
// attacker delays its request it sends one, because the time limit is for one request.
func (d *duel) victim(ctx context.Context, id string, bound time.Duration) ([]received, error) {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	c, err := d.open(ctx, victim, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.Close() }()
	return d.victimOn(c, id)
}

// victimOn is like victim on an existing connection.
func (d *duel) victimOn(c client, id string) ([]received, error) {
	var all []received
	r := d.asked(id, d.server)
	times := 2
	if d.moment == delaying || r.version == "HTTP/1.0" || d.site.endless {
		times = 1
	}
	for range times {
		err := c.send(r)
		if err != nil {
			return all, err
		}
		got := d.receives(c, r)
		all = append(all, got)
		if got.isLast() {
			break
		}
	}
	return all, nil
}

// receives reads a response, and reports a timeout in it.
func (d *duel) receives(c client, r sending) received {
	got := c.receive(r, d.most())
	if errors.Is(got.failure, os.ErrDeadlineExceeded) {
		got.failure = fmt.Errorf("nothing whole in time: status %d and %d bytes: %w", got.status, len(got.body),
			got.failure)
	}
	return got
}

// attacked runs the attack and returns the responses to the victim.
func (d *duel) attacked(ctx context.Context, id string, r *resource, bound time.Duration) ([]received, error) {
	buffer := 0
	if d.moment == reading || d.moment == quitting {
		buffer = 4096
	}
	c, err := d.open(ctx, attackers, buffer)
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.Close() }()
	switch d.moment {
	case before, sharing:
		if c, err = d.exchanges(ctx, c, id); err != nil {
			return nil, err
		}
		if d.moment == sharing {
			if got, err := d.victimOn(c, id); err == nil && got[0].status != 0 {
				return got, nil
			} // otherwise the connection has ended with the attacker's request
		}
		return d.victim(ctx, id, bound)
	default:
		return d.meet(ctx, c, id, r, bound)
	}
}

// exchanges sends all requests of the attacker and returns the connection that remains open.
func (d *duel) exchanges(ctx context.Context, c client, id string) (client, error) {
	for i, one := range d.requests {
		one.version = d.attackerRoute.version
		one = one.as(attackerAgent, "http", d.host(d.server, d.victimRoute), "/"+id, d.victimRoute.absolute)
		fresh := i > 0
		for {
			err := c.send(one)
			var got received
			if err == nil {
				got = c.receive(one, d.most())
			}
			if err == nil && !got.isLast() && one.version != "HTTP/1.0" {
				break
			}
			_ = c.Close()
			if c, err = d.open(ctx, attackers, 0); err != nil {
				return nil, err
			}
			if !fresh || got.status != 0 {
				break
			}
			fresh = false // retried once, because the old connection was closed
		}
	}
	return c, nil
}

// meet sends the attacker's first request and the victim's concurrently.
func (d *duel) meet(ctx context.Context, c client, id string, r *resource, bound time.Duration) ([]received, error) {
	one := d.requests[0]
	one.version = d.attackerRoute.version
	one = one.as(attackerAgent, "http", d.host(d.server, d.victimRoute), "/"+id, d.victimRoute.absolute)
	if err := c.send(one); err != nil {
		return nil, err
	}
	refused, most := make(chan struct{}), d.most()
	if d.moment == reading || d.moment == quitting {
		most = 1
	}
	go func() { defer close(refused); c.receive(one, most) }()
	defer func() { r.let(r.release); _ = c.Close(); <-refused }()
	if err := waitFor(ctx, r.arrived, refused); err != nil {
		return nil, fmt.Errorf("the request of the attacker does not arrive: %w", err)
	}
	answered := make(chan struct{})
	var got []received
	var err error
	go func() { defer close(answered); got, err = d.victim(ctx, id, bound) }()
	d.goOn(c, r, answered)
	<-answered
	return got, err
}

// goOn ends the attacker's exchange according to the moment, once the victim waits: the origin has received its
// request, or it is assumed to wait for the attacker's.
func (d *duel) goOn(c client, r *resource, answered <-chan struct{}) {
	const waits = 200 * time.Millisecond
	late := time.NewTimer(waits)
	defer late.Stop()
	select {
	case <-r.requested:
	case <-answered:
	case <-late.C:
	}
	switch d.moment {
	case together:
		r.let(r.release)
	case leaving, quitting:
		_ = c.Close()
	case failing:
		r.let(r.failing)
	default: // nothing changes before the victim has a response
	}
}

// waitFor waits until one of two channels is closed.
func waitFor(ctx context.Context, one, other <-chan struct{}) error {
	select {
	case <-one:
		return nil
	case <-other:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
