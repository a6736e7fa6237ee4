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

// OpenMulticast opens a socket that can only send to a multicast group. It also returns the address of the group.
type OpenMulticast func(ctx context.Context) (net.PacketConn, net.Addr, error)

// rounds limits the requests to a group; each round has an equal share of the timeout.
const rounds = 3

// maxResponders limits the replies that are read.
const maxResponders = 50

// discover queries all agents of the group for services, until one lists any.
func (a *agents) discover(ctx context.Context, r request) ([]entry, error) {
	start := a.now()
	var entries []entry
	responders, group, err := a.queryGroup(ctx, r, a.timeout,
		func(_ net.Addr, message []byte, xid uint16) (bool, bool) {
			answer, err := parseReply(message)
			if err != nil || answer.xid != xid || answer.code != 0 {
				return false, false
			}
			entries = append(entries, answer.entries...)
			return true, len(entries) > 0
		})
	if err != nil {
		return nil, err
	}
	if t := resolver.TraceOf(ctx); t != nil {
		took := a.now().Sub(start)
		public := fmt.Sprintf("%s %s: %d services from %d agents", r.service, r.predicate, len(entries), responders)
		t.Add(resolver.Step{
			Stage: "slp", Code: "services_found", Values: []any{"Number", len(entries)}, Public: public,
			Took: took,
		}, "%s %s to %s: %d services from %d agents in %s", r.service, r.predicate, group, len(entries),
			responders,
			took.Round(time.Microsecond))
	}
	return entries, nil
}

// directory returns the directory agents of the group: RFC 2608 sections 6 and 12.1. They are cached.
func (a *agents) directory(ctx context.Context, r request) ([]string, error) {
	a.mu.Lock()
	defer a.mu.Unlock() // concurrent callers wait instead of sending requests too
	start := a.now()
	if start.Before(a.foundUntil) {
		return a.found, nil
	}
	r.service, r.predicate = directoryType, ""
	var found []string
	var hosts []string
	_, group, err := a.queryGroup(ctx, r, a.timeout/rounds,
		func(from net.Addr, message []byte, xid uint16) (bool, bool) {
			if advert, err := parseAdvert(message); err != nil || advert != xid {
				return false, false
			}
			host, _, _ := net.SplitHostPort(from.String())
			hosts = append(hosts, host)
			return true, true
		})
	if err != nil {
		return nil, err
	}
	// An agent may reply from any port, but receives requests at that of the protocol (section 6.1).
	_, port, _ := net.SplitHostPort(group.String())
	for _, host := range hosts {
		found = append(found, net.JoinHostPort(host, port))
	}
	a.found, a.foundUntil = found, a.now().Add(a.noneTTL)
	if len(found) > 0 {
		a.foundUntil = a.now().Add(directoryTTL)
	}
	if t := resolver.TraceOf(ctx); t != nil {
		took := a.now().Sub(start)
		public := fmt.Sprintf("%s: %d directory agents", r.service, len(found))
		t.Add(resolver.Step{
			Stage: "slp", Code: "directories_found", Values: []any{"Number", len(found)},
			Public: public, Took: took,
		}, "%s to %s: %d directory agents %v in %s", r.service, group, len(found), found,
			took.Round(time.Microsecond))
	}
	return found, nil
}

// directoryTTL is how long a directory agent is cached: CONFIG_DA_FIND of RFC 2608 section 13.
const directoryTTL = 900 * time.Second

// forget makes the next call of directory discover agents again.
func (a *agents) forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.foundUntil = time.Time{}
}

// queryGroup sends a request to the group. It repeats it with a list of the agents that have already answered,
// since datagrams may be lost (section 6.3). take is called with each message, and returns whether it is a
// reply, and whether no more are needed. Not all agents are necessarily reached.
func (a *agents) queryGroup(
	ctx context.Context, r request, timeout time.Duration,
	take func(from net.Addr, message []byte, xid uint16) (reply, enough bool),
) (responders int, group net.Addr, err error) {
	conn, group, err := a.group(ctx)
	if err != nil {
		return 0, nil, fmt.Errorf("multicast: %w", resolver.Unreachable(err))
	}
	defer func() { _ = conn.Close() }()
	r.xid, r.multicast = uint16(rand.UintN(1<<16)), true //nolint:gosec // identifies the replies
	for range rounds {
		message, err := r.message()
		if err != nil {
			return 0, group, err
		}
		if len(message) > maxDatagram { // section 8.1: a longer list of responders ends the discovery
			break
		}
		enough, err := a.round(ctx, conn, group, message, timeout/rounds, func(from net.Addr, message []byte) bool {
			host, _, _ := net.SplitHostPort(from.String())
			if slices.Contains(r.responders, host) {
				return false
			}
			reply, enough := take(from, message, r.xid)
			if reply {
				r.responders = append(r.responders, host)
			}
			return enough || len(r.responders) == maxResponders
		})
		if err != nil {
			return 0, group, err
		}
		if enough {
			break
		}
	}
	return len(r.responders), group, nil
}

// round sends a message to a group, and calls take with the replies that arrive within share, until it returns
// true. Agents do not send errors to multicast requests (section 7).
func (a *agents) round(
	ctx context.Context, conn net.PacketConn, group net.Addr, message []byte, share time.Duration,
	take func(from net.Addr, message []byte) bool,
) (enough bool, err error) {
	limited, cancel := context.WithTimeout(ctx, share)
	defer cancel()
	if err := conn.SetDeadline(time.Time{}); err != nil {
		return false, err
	}
	stop := context.AfterFunc(limited, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if _, err := conn.WriteTo(message, group); err != nil {
		return false, fmt.Errorf("sending to %s: %w", group, resolver.Unreachable(err))
	}
	buf := make([]byte, 1<<16)
	for {
		n, from, err := conn.ReadFrom(buf)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			break
		}
		if err != nil {
			return false, fmt.Errorf("receiving: %w", resolver.Unreachable(err))
		}
		if take(from, buf[:n]) {
			return true, nil
		}
	}
	if ctx.Err() != nil { // a cancelled round must not look like one without replies
		return false, context.Cause(ctx)
	}
	return false, nil
}
