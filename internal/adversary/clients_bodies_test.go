package adversary

import (
	"context"
	"time"
)

// withBodies returns attacks by the speed at which the attacker reads, and at which the origin responds to it
// (RFC 9112 section 9.5): each client must proceed at its own speed.
func withBodies() (all []attack) {
	const section = "RFC 9111 section 3.1"
	// More than the cache stores, and than the kernel buffers for a client that does not read.
	const large = 12 << 20
	for name, s := range map[string]site{
		"a body larger than what is stored":                       {fields: explicit, size: large},
		"a body larger than what is stored, of an unknown length": {fields: explicit, size: large, chunked: true},
		"a body without end":                                      {fields: explicit, size: 64 << 10, endless: true},
		"a body of 900 kB":                                        {fields: explicit, size: 900 << 10},
		"a private body": {
			fields: []string{"Cache-Control: private"},
			size:   large,
		},
	} {
		for _, m := range []moment{reading, quitting} {
			all = append(all, attack{
				name: name, section: section, site: s, requests: []sending{{}}, moment: m, alone: true,
				ways: []route{site1, siteH2, forward1},
			})
		}
	}
	for name, s := range map[string]site{
		"a private body":     {fields: []string{"Cache-Control: private"}, size: large},
		"a body":             {fields: explicit, size: large, chunked: true},
		"a body without end": {fields: explicit, size: 64 << 10, endless: true},
	} {
		all = append(all, attack{
			name: name + " on a connection of both", section: "RFC 9113 section 5.2", site: s, requests: []sending{{}},
			moment: reading, alone: true, ways: []route{siteH2}, course: multiplexed,
		})
	}
	stalls := site{fields: explicit, size: 64 << 10, stalls: true}
	for _, m := range []moment{delaying, leaving, failing} {
		all = append(all, attack{
			name: "a body that stops half way for the leader", section: section, site: stalls, requests: []sending{{}},
			moment: m, alone: true,
		})
	}
	return all
}

// multiplexed runs both clients on one connection, as behind a load balancer: only the window of the attacker's
// stream is small.
func multiplexed(ctx context.Context, d *duel) error {
	right, took, err := d.undisturbed(ctx)
	if err != nil {
		return err
	}
	id := d.id()
	r := d.origin.on(id, d.site, d.names(d.server, id))
	defer d.origin.off(id)
	c, err := d.open(ctx, attackers, 4096)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	one := d.requests[0].as(attackerAgent, "https", d.host(d.server, d.victimRoute), "/"+id, false)
	if err := c.send(one); err != nil {
		return err
	}
	if err := waitFor(ctx, r.arrived, nil); err != nil {
		return err
	}
	requested, secure := d.asked(id, d.server), c.(*clientH2)
	if err := c.send(requested); err != nil {
		return err
	}
	if err := secure.WriteWindowUpdate(secure.stream, 1<<30); err != nil {
		return err
	}
	_ = secure.conn.SetReadDeadline(time.Now().Add(d.bound(took)))
	return d.judge([]received{d.receives(c, requested)}, right, id, r)
}
