package adversary

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// wholeBody is more than any body that ends; someOfIt is of one that does not, and more than the kernel and a
// cache hold for who does not read.
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

// open connects a client by the way of the duel.
func (d *duel) open(ctx context.Context, from string, buffer int) (client, error) {
	way, service := d.way, d.service
	if from == attackers {
		way = d.attackersWay
	}
	if way.absolute {
		service = d.forward
	}
	return way.open(ctx, service, d.secure, from, buffer)
}

// victim asks twice, on one connection where the version has such, and returns the responses. While the attacker
// delays what it asks for, it asks once: the bound is that of one request.
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

// victimOn is victim on a connection that there is.
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

// receives reads a response, and says where it did not come in time.
func (d *duel) receives(c client, r sending) received {
	got := c.receive(r, d.most())
	if errors.Is(got.fault, os.ErrDeadlineExceeded) {
		got.fault = fmt.Errorf("nothing whole in time: status %d and %d octets: %w", got.status, len(got.body), got.fault)
	}
	return got
}

// attacked plays the attack, and returns what the victim got.
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
			} // else the connection has ended with what the attacker sent
		}
		return d.victim(ctx, id, bound)
	default:
		return d.meet(ctx, c, id, r, bound)
	}
}

// exchanges plays all requests of the attacker, and returns the connection that is open then.
func (d *duel) exchanges(ctx context.Context, c client, id string) (client, error) {
	for i, one := range d.requests {
		one.version = d.attackersWay.version
		one = one.as(attackerAgent, "http", d.host(d.server, d.way), "/"+id, d.way.absolute)
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
			fresh = false // what an old connection cost is tried once more
		}
	}
	return c, nil
}

// meet plays the attacker's first request and the victim's at the same time.
func (d *duel) meet(ctx context.Context, c client, id string, r *resource, bound time.Duration) ([]received, error) {
	one := d.requests[0]
	one.version = d.attackersWay.version
	one = one.as(attackerAgent, "http", d.host(d.server, d.way), "/"+id, d.way.absolute)
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

// goOn ends the attacker's exchange as the moment says, once the victim waits: the origin has its request, or
// it is taken to wait for that of the attacker.
func (d *duel) goOn(c client, r *resource, answered <-chan struct{}) {
	const waits = 200 * time.Millisecond
	late := time.NewTimer(waits)
	defer late.Stop()
	select {
	case <-r.asked:
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
	default: // nothing changes before the victim is answered
	}
}

// waitFor waits until one of two things has happened.
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
