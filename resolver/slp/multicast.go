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

// Open opens a socket that can send to a group and to nobody else.
type Open func(ctx context.Context) (net.PacketConn, net.Addr, error)

// rounds bounds how often a group is asked; each waits for its share of the time.
const rounds = 3

// discover asks a group, again as long as somebody new answers, who says in the
// request that he has (section 6.3): it finds enough, and not all.
func (a agents) discover(ctx context.Context, r request) ([]entry, error) {
	conn, group, err := a.group(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: multicast: %w", resolver.ErrUnreachable, err)
	}
	defer func() { _ = conn.Close() }()
	r.xid, r.multicast = uint16(rand.UintN(1<<16)), true //nolint:gosec // tells replies apart
	start := a.now()
	var found []entry
	for range rounds {
		answers, err := a.round(ctx, conn, group, r)
		if err != nil {
			return nil, err
		}
		before := len(r.responders)
		for _, answer := range answers {
			if !slices.Contains(r.responders, answer.from) {
				r.responders = append(r.responders, answer.from)
				found = append(found, answer.entries...)
			}
		}
		if len(r.responders) == before {
			break
		}
	}
	if t := resolver.TraceOf(ctx); t != nil {
		took := a.now().Sub(start)
		t.AddTook(took, "slp", "%s %s to %s: %d services of %d agents in %s", r.service, r.predicate, group, len(found), len(r.responders), took.Round(time.Microsecond))
	}
	return found, nil
}

// answered is what one agent answered to a group.
type answered struct {
	from    string
	entries []entry
}

// maxResponders bounds the agents that are listened to.
const maxResponders = 50

// round sends a request to a group, and returns what comes back in its time. Errors
// are not answered to groups (section 7), and a request that is too long for a
// datagram is the end of it (section 8.1).
func (a agents) round(ctx context.Context, conn net.PacketConn, group net.Addr, r request) ([]answered, error) {
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
	var answers []answered
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
			answers = append(answers, answered{host, answer.entries})
		}
	}
	if ctx.Err() != nil { // it was cut off, which says nothing of who is there
		return nil, context.Cause(ctx)
	}
	return answers, nil
}
