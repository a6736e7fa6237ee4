package slp

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"time"

	"github.com/urnd/urnd/resolver"
)

// Open opens a socket that can send only to a multicast group, and returns the address of
// the group.
type Open func(ctx context.Context) (net.PacketConn, net.Addr, error)

// rounds bounds how often a group is asked; each round has an equal share of the timeout.
const rounds = 3

// discover asks a group, and again as long as new agents answer, with the agents that have
// answered listed in the request (section 6.3). It need not find all agents.
func (a agents) discover(ctx context.Context, r request) ([]entry, error) {
	conn, group, err := a.group(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: multicast: %w", resolver.ErrUnreachable, err)
	}
	defer func() { _ = conn.Close() }()
	r.xid, r.multicast = uint16(rand.UintN(1<<16)), true //nolint:gosec // identifies the replies
	start := a.now()
	var entries []entry
	for range rounds {
		answers, err := a.round(ctx, conn, group, r)
		if err != nil {
			return nil, err
		}
		before := len(r.responders)
		for _, answer := range answers {
			if !slices.Contains(r.responders, answer.from) {
				r.responders = append(r.responders, answer.from)
				entries = append(entries, answer.entries...)
			}
		}
		if len(r.responders) == before {
			break
		}
	}
	if t := resolver.TraceOf(ctx); t != nil {
		took := a.now().Sub(start)
		t.AddTook(took, "slp", "%s %s to %s: %d services of %d agents in %s", r.service, r.predicate, group, len(entries), len(r.responders), took.Round(time.Microsecond))
	}
	return entries, nil
}

// agentReply is the reply of one agent to a multicast request.
type agentReply struct {
	from    string
	entries []entry
}

// maxResponders bounds the replies that are read in a round.
const maxResponders = 50

// round sends a request to a group, and returns the replies that arrive in its share of
// the timeout. Agents do not send errors to multicast requests (section 7). A request too
// long for a datagram ends the discovery (section 8.1).
func (a agents) round(ctx context.Context, conn net.PacketConn, group net.Addr, r request) ([]agentReply, error) {
	message, err := r.message()
	if err != nil || len(message) > maxDatagram {
		return nil, err
	}
	share, cancel := context.WithTimeout(ctx, a.timeout/rounds)
	defer cancel()
	if err := conn.SetDeadline(time.Time{}); err != nil {
		return nil, err
	}
	stop := context.AfterFunc(share, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if _, err := conn.WriteTo(message, group); err != nil {
		return nil, fmt.Errorf("%w: sending to %s: %w", resolver.ErrUnreachable, group, err)
	}
	var answers []agentReply
	buf := make([]byte, 1<<16)
	for len(answers) < maxResponders {
		n, from, err := conn.ReadFrom(buf)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%w: receiving: %w", resolver.ErrUnreachable, err)
		}
		if answer, err := parseReply(buf[:n]); err == nil && answer.xid == r.xid && answer.code == 0 {
			host, _, _ := net.SplitHostPort(from.String())
			answers = append(answers, agentReply{host, answer.entries})
		}
	}
	if ctx.Err() != nil { // a cancelled round must not look like one without replies
		return nil, context.Cause(ctx)
	}
	return answers, nil
}
