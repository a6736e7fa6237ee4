package ddds

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/miekg/dns"

	"github.com/urnd/urnd/resolver"
)

// udpSize is a message size that needs no fragmentation (DNS flag day 2020).
const udpSize = 1232

// queryServer queries one server, with an observation and a trace step. why is the reason for the query, for the
// trace.
func (c *Client) queryServer(ctx context.Context, s *server, name string, rrtype uint16, why string) (*dns.Msg, error) {
	if c.config.Concurrency != nil {
		if err := c.config.Concurrency.Acquire(ctx); err != nil {
			return nil, err
		}
		defer c.config.Concurrency.Release()
	}
	parent := ctx
	ctx, cancel := context.WithTimeout(ctx, c.config.Timeout)
	defer cancel()
	suspicion := time.AfterFunc(c.probeAfter(), func() { c.probe(parent, s) })
	defer suspicion.Stop()
	start := c.config.Now()
	reply, repeats, err := c.exchanges(ctx, s, name, rrtype)
	if c.config.Observe != nil {
		c.config.Observe(Exchange{
			s.String(), dns.TypeToString[rrtype], rcode(parent, reply, err),
			c.config.Now().Sub(start),
		})
	}
	if err == nil {
		err = checkReply(reply)
	}
	if err == nil && c.config.RequireAD && !reply.AuthenticatedData {
		err = errNotAuthentic
	}
	if t := resolver.TraceOf(ctx); t != nil {
		took := c.config.Now().Sub(start)
		outcome := describe(parent, reply, err)
		public := fmt.Sprintf("%s %s%s: %s%s", name, dns.TypeToString[rrtype], why, repeats,
			cmp.Or(publicFailure(reply, err), outcome))
		t.Add(resolver.Step{
			Stage: "dns", Code: codeOfReply(parent, reply, err),
			Values: []any{"Domain", name, "Type", dns.TypeToString[rrtype]}, Public: public, Took: took,
		}, "%s %s at %s%s: %s%s in %s", name, dns.TypeToString[rrtype], s, why, repeats, outcome,
			took.Round(time.Microsecond))
	}
	return reply, err
}

// exchanges queries one server, over UDP unless it uses TLS. It repeats the query without EDNS if the server
// rejects that (RFC 6891 section 7), and over TCP if the reply was truncated. repeats describes the additional
// exchanges for the trace.
func (c *Client) exchanges(
	ctx context.Context, s *server, name string, rrtype uint16,
) (reply *dns.Msg, repeats string, err error) {
	network := "udp"
	if s.TLS {
		network = "tcp"
	}
	plain := s.plain(c.config.Now())
	ask := func(network string) (*dns.Msg, error) {
		reply, again, err := c.exchangeCase(ctx, network, s, question(name, rrtype, plain))
		repeats += again
		return reply, err
	}
	reply, err = ask(network)
	if err == nil && !plain && rejectsEDNS(reply) {
		repeats += rcodeText(reply.Rcode) + ", again without EDNS: "
		plain = true
		reply, err = ask(network)
		if err == nil && !rejectsEDNS(reply) {
			s.setPlain(c.config.Now())
		}
	}
	if err == nil && reply.Truncated && network == "udp" {
		repeats += "truncated, again over TCP: "
		reply, err = ask("tcp")
	}
	return reply, repeats, err
}

// question returns a query message. A plain one has no EDNS.
func question(name string, rrtype uint16, plain bool) *dns.Msg {
	q := new(dns.Msg)
	q.SetQuestion(name, rrtype)
	if !plain {
		q.SetEdns0(udpSize, true)
	}
	q.AuthenticatedData = true // RFC 6840 section 5.7: requests the AD bit in the reply
	return q
}

// rcode returns the value of Exchange.Rcode.
func rcode(ctx context.Context, reply *dns.Msg, err error) string {
	switch {
	case err == nil:
		return rcodeText(reply.Rcode)
	case errors.Is(ctx.Err(), context.Canceled): // another server was faster
		return "canceled"
	case isTimeout(err):
		return "timeout"
	default:
		return "error"
	}
}

// exchange sends question and waits for its reply. Malformed and incomplete messages, and replies to another
// question, are skipped (RFC 5452 section 4). The error for a reply in another case is errCase.
func (c *Client) exchange(ctx context.Context, network string, s *server, question *dns.Msg) (*dns.Msg, error) {
	if c.mixesCase(s) {
		question = mixCase(question)
	}
	socket, err := c.dial(ctx, network, s.Server)
	if err != nil {
		return nil, err
	}
	conn := &dns.Conn{Conn: socket, UDPSize: udpSize}
	defer conn.Close()
	// The end of the context must unblock a read.
	stop := context.AfterFunc(ctx, func() { _ = socket.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if err := conn.WriteMsg(question); err != nil {
		return nil, fmt.Errorf("sending over %s: %w", network, err)
	}
	buffer, _ := c.buffers.Get().(*[udpSize]byte)
	defer c.buffers.Put(buffer) // the reply retains no part of it
	for {
		message, err := receive(conn, network, buffer[:])
		if err != nil {
			return nil, fmt.Errorf("receiving over %s: %w", network, err)
		}
		reply := new(dns.Msg)
		if reply.Unpack(message) != nil || !isReply(reply, question) || !reply.Truncated && !isComplete(message) {
			continue
		}
		s.replied(c.config.Now())
		if len(reply.Question) > 0 && reply.Question[0].Name != question.Question[0].Name && c.mixesCase(s) {
			return nil, errCase
		}
		return reply, nil
	}
}

// receive reads a message; over UDP it reads into the buffer.
func receive(conn *dns.Conn, network string, buffer []byte) ([]byte, error) {
	if network == "udp" {
		n, err := conn.Read(buffer)
		return buffer[:n], err
	}
	message, err := conn.ReadMsgHeader(nil)
	if errors.Is(err, dns.ErrShortRead) {
		return nil, nil
	}
	return message, err
}

// errNotAuthentic means that a reply lacks the required AD bit.
var errNotAuthentic = errors.New("reply not authenticated by DNSSEC (require_dnssec)")

// dial connects to a server, over TLS if configured.
func (c *Client) dial(ctx context.Context, network string, server Server) (net.Conn, error) {
	socket, err := c.config.Dial(ctx, network, server.Address)
	if err != nil || !server.TLS {
		return socket, err
	}
	name := server.Name
	if name == "" {
		name, _, _ = net.SplitHostPort(server.Address)
	}
	conn := tls.Client(socket, &tls.Config{ServerName: name, RootCAs: c.config.RootCAs, MinVersion: tls.VersionTLS12})
	if err := conn.HandshakeContext(ctx); err != nil {
		_ = socket.Close()
		return nil, fmt.Errorf("TLS handshake: %w", err)
	}
	return conn, nil
}
