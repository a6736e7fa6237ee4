package slp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"time"

	"github.com/urnd/urnd/resolver"
)

// agents is the client for SLP agents. It is safe for concurrent use.
type agents struct {
	addresses []string // directory agents with port, in the order of requests
	dial      func(ctx context.Context, network, address string) (net.Conn, error)
	group     OpenMulticast // used if there are no addresses; nil disables multicast
	timeout   time.Duration // for one agent, and for the group
	noneTTL   time.Duration // how long the absence of directory agents in the group is cached
	backoff   *resolver.Backoff
	now       func() time.Time

	mu         sync.Mutex
	found      []string // directory agents of the group
	foundUntil time.Time
}

// sends is how often a datagram is sent, since it may be lost (section 6.3).
const sends = 2

// maxReply limits a reply over TCP, in bytes.
const maxReply = 1 << 20

// query queries the configured agents. Without any, it queries the directory agents of the group or, if it has
// none, all of its agents (section 6).
func (a *agents) query(ctx context.Context, r request) ([]entry, error) {
	if len(a.addresses) > 0 || a.group == nil {
		return a.queryEach(ctx, a.addresses, r)
	}
	found, err := a.directory(ctx, r)
	if err != nil {
		return nil, err
	}
	if len(found) > 0 {
		if entries, err := a.queryEach(ctx, found, r); err == nil || ctx.Err() != nil {
			return entries, err
		}
		a.forget()
	}
	return a.discover(ctx, r)
}

// queryEach sends a request to agents in order until one answers. An empty reply is final, since a directory
// agent has all services of its scopes (section 6.2). The error is context.DeadlineExceeded if all agents were
// too slow, else resolver.ErrUnreachable.
func (a *agents) queryEach(ctx context.Context, addresses []string, r request) ([]entry, error) {
	var failures []error
	slow := 0
	for _, address := range addresses {
		r.xid = uint16(rand.UintN(1 << 16)) //nolint:gosec // identifies the reply, and hinders off-path spoofing
		start := a.now()
		err := a.backoff.Err(address)
		var entries []entry
		if err == nil {
			entries, err = a.attempt(ctx, address, r)
		}
		if t := resolver.TraceOf(ctx); t != nil {
			took := a.now().Sub(start)
			step := resolver.Step{Stage: "slp", Code: "services_found", Values: []any{"Number", len(entries)}}
			if err != nil {
				step = resolver.FailedStep("slp", err)
			}
			step.Took, step.Public = took,
				fmt.Sprintf("%s %s: %s", r.service, r.predicate,
					cmp.Or(resolver.PublicOutcome(err), summary(entries, err)))
			t.Add(step, "%s %s at %s: %s in %s", r.service, r.predicate, address, summary(entries, err),
				took.Round(time.Microsecond))
		}
		if err == nil {
			return entries, nil
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if isTimeout(err) {
			slow++
		}
		failures = append(failures, fmt.Errorf("directory agent %s: %w", address, err))
	}
	if slow == len(failures) {
		return nil, fmt.Errorf("%w: %w", context.DeadlineExceeded, errors.Join(failures...))
	}
	return nil, resolver.Unreachable(errors.Join(failures...))
}

// attempt queries one agent, and records in the backoff whether it is silent.
func (a *agents) attempt(ctx context.Context, address string, r request) ([]entry, error) {
	attempt := a.backoff.Begin(address)
	defer attempt.Abandon()
	entries, err := a.queryOne(ctx, address, r)
	switch {
	case err == nil:
		attempt.Answered()
	case ctx.Err() == nil && isTimeout(err) && !errors.Is(err, errOverflow):
		attempt.Unreachable(err)
	}
	return entries, err
}

func isTimeout(err error) bool {
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded)
}

// errOverflow means that an agent replied, but its complete reply could not be fetched over TCP.
var errOverflow = errors.New("reply does not fit into a datagram")

func summary(entries []entry, err error) string {
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%d services", len(entries))
}

// queryOne queries one agent: over UDP, and again over TCP if the reply did not fit into a datagram.
func (a *agents) queryOne(ctx context.Context, address string, r request) ([]entry, error) {
	message, err := r.message()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, a.timeout)
	defer cancel()
	var answer reply
	if len(message) <= maxDatagram {
		if answer, err = a.byUDP(ctx, address, r.xid, message); err != nil {
			return nil, err
		}
	}
	if len(message) > maxDatagram || answer.overflow {
		whole, err := a.byTCP(ctx, address, r.xid, message)
		if err != nil && len(answer.entries) == 0 {
			return nil, fmt.Errorf("%w: %w", errOverflow, err)
		}
		if err == nil { // otherwise the entries of the datagram are used, section 6.1
			answer = whole
		}
	}
	if answer.code != 0 && answer.code != languageNotSupported {
		return nil, codeError(answer.code)
	}
	return answer.entries, nil
}

// byUDP sends a message and waits for the reply. It sends it again if there is no reply. Malformed replies and
// replies to another request are skipped.
func (a *agents) byUDP(ctx context.Context, address string, xid uint16, message []byte) (reply, error) {
	conn, err := a.open(ctx, "udp", address)
	if err != nil {
		return reply{}, err
	}
	defer conn.Close()
	for range sends {
		answer, err := a.sendAndWait(ctx, conn, xid, message)
		if err == nil || !errors.Is(err, os.ErrDeadlineExceeded) || ctx.Err() != nil {
			return answer, err
		}
	}
	return reply{}, os.ErrDeadlineExceeded
}

func (a *agents) sendAndWait(ctx context.Context, conn net.Conn, xid uint16, message []byte) (reply, error) {
	ctx, cancel := context.WithTimeout(ctx, a.timeout/sends)
	defer cancel()
	if err := conn.SetDeadline(time.Time{}); err != nil {
		return reply{}, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if _, err := conn.Write(message); err != nil {
		return reply{}, fmt.Errorf("sending: %w", err)
	}
	buf := make([]byte, 1<<16)
	for {
		n, err := conn.Read(buf)
		if err != nil {
			return reply{}, fmt.Errorf("receiving: %w", err)
		}
		if answer, err := parseReply(buf[:n]); err == nil && answer.xid == xid {
			return answer, nil
		}
	}
}

// byTCP sends a message over TCP, where the length in the header delimits messages.
func (a *agents) byTCP(ctx context.Context, address string, xid uint16, message []byte) (reply, error) {
	conn, err := a.open(ctx, "tcp", address)
	if err != nil {
		return reply{}, err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if _, err := conn.Write(message); err != nil {
		return reply{}, fmt.Errorf("sending over TCP: %w", err)
	}
	head := make([]byte, headerSize)
	if _, err := io.ReadFull(conn, head); err != nil {
		return reply{}, fmt.Errorf("receiving over TCP: %w", err)
	}
	size := messageLength(head)
	if size < headerSize || size > maxReply {
		return reply{}, errMessage
	}
	whole := append(head, make([]byte, size-headerSize)...)
	if _, err := io.ReadFull(conn, whole[headerSize:]); err != nil {
		return reply{}, fmt.Errorf("receiving over TCP: %w", err)
	}
	answer, err := parseReply(whole)
	if err == nil && answer.xid != xid {
		err = errMessage
	}
	return answer, err
}

func (a *agents) open(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := a.dial(ctx, network, address)
	if err != nil {
		return nil, fmt.Errorf("connecting over %s: %w", network, err)
	}
	return conn, nil
}
