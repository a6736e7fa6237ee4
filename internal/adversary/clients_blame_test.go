package adversary

import (
	"context"
	"errors"
	"fmt"
	"net/http"
)

// A server is only marked as failing by observations of several clients, or by urnd's own probe, never by
// failures that a request of one client causes.

// withBlame returns attacks that make one of two servers fail for the attacker.
func withBlame() (all []attack) {
	const section = "RFC 9110 section 15.6.3"
	for name, fails := range map[string]func(v *visit) bool{
		"drops the connection": (*visit).drops,
		"answers no HTTP":      func(v *visit) bool { return v.writes("nonsense\r\n\r\n") && false },
		"answers half a head":  func(v *visit) bool { return v.writes("HTTP/1.1 200 OK\r\nA: ") && false },
		"answers a broken body": func(v *visit) bool {
			return v.writes("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\na") && false
		},
		"answers 502": func(v *visit) bool { return v.respond(http.StatusBadGateway, nil, "") },
		"answers 503": func(v *visit) bool {
			return v.respond(http.StatusServiceUnavailable, []string{"Retry-After: 600"}, "")
		},
	} {
		s := site{fields: []string{"Cache-Control: no-store"}, own: func(v *visit) bool {
			if v.isAttacker() && v.serverPort() == v.attackedPort {
				return fails(v)
			}
			return v.respond(http.StatusOK, append([]string{"X-Server: " + v.serverPort()}, v.site.fields...), "ok")
		}}
		for _, field := range []string{"X-Crash: 1", "Accept: */*"} {
			all = append(all,
				attack{
					name: "a server of a site that " + name + ", " + field, section: section, site: s,
					requests: []sending{{fields: []string{field}}}, alone: true, course: turns,
				},
				attack{
					name: "a location of a name that " + name + ", " + field, section: section, site: s,
					requests: []sending{{fields: []string{field}}}, alone: true, course: mirrors,
				},
			)
		}
	}
	return all
}

// serverPort returns the port of the server that received a request.
func (v *visit) serverPort() string { return portOf(v.conn.LocalAddr().String()) }

// attempts is the number of failures caused by one attacker.
const attempts = 20

// turns counts the servers of a site that the victim reaches after the attack.
func turns(ctx context.Context, d *duel) error {
	id := d.id()
	r := d.origin.on(id, d.site, d.names(d.server, id))
	r.attackedPort = portOf(d.origin.address(d.server))
	defer d.origin.off(id)
	one := d.requests[0]
	one.host = mirrorName(d.server)
	if err := d.repeats(ctx, attackers, one.as(attackerAgent, "http", one.host, "/"+id, false), nil); err != nil {
		return err
	}
	counts := make(map[string]int)
	ask := sending{host: one.host}.as(victimAgent, "http", one.host, "/"+id, false)
	err := d.repeats(ctx, victim, ask,
		func(got received) { counts[fmt.Sprint(got.status, " ", got.header.Get("X-Server"))]++ })
	if n := counts["200 "+r.attackedPort]; err == nil && n < attempts/4 {
		err = fmt.Errorf("the server that failed for one client is asked for %d of %d requests of another: %v", n,
			attempts, counts)
	}
	return err
}

// mirrors checks the target of a name before and after the attack.
func mirrors(ctx context.Context, d *duel) error {
	id := d.id()
	r := d.origin.on(id, d.site, d.names(d.server, id))
	r.attackedPort = portOf(d.origin.address(d.server))
	defer d.origin.off(id)
	leads := func() (string, error) {
		got, err := ask(ctx, d.service, victim, "GET", fmt.Sprintf("/urn:mirror%d:%s", d.server, id), "")
		return got.header.Get("Location"), err
	}
	early, err := leads()
	if err != nil {
		return err
	}
	one := d.requests[0].as(attackerAgent, "http", d.origin.address(d.server), "/"+id, true)
	if err := d.repeats(ctx, attackers, one, nil); err != nil {
		return err
	}
	late, err := leads()
	if err == nil && (early == "" || late != early) {
		err = fmt.Errorf("the name leads to %q, and to %q when its server has failed for another client", early, late)
	}
	return err
}

// repeats sends a request attempts times, each on a separate connection.
func (d *duel) repeats(ctx context.Context, from string, r sending, each func(received)) error {
	for range attempts {
		c, err := d.open(ctx, from, 0)
		if err != nil {
			return err
		}
		err = c.send(r)
		got := c.receive(r, d.most())
		if err = errors.Join(err, c.Close()); err != nil {
			return err
		}
		if each != nil {
			each(got)
		}
	}
	return nil
}
