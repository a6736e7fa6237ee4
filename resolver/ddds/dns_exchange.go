package ddds

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/miekg/dns"

	"github.com/urnd/urnd/resolver"
)

// udpSize is what fits a path without fragments (DNS flag day 2020).
const udpSize = 1232

// ask puts one question to one server after another until one answers: to the next
// when one fails, and beside one that is slow. Its errors are
// context.DeadlineExceeded where all were too slow, else resolver.ErrUnreachable.
func (c *Client) ask(ctx context.Context, name string, rrtype uint16) (*dns.Msg, error) {
	servers := c.config.Servers
	if len(servers) == 0 {
		return nil, fmt.Errorf("%w: %w", resolver.ErrUnreachable, errNoServers)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	attempts := max(c.config.Rounds, 1) * len(servers)
	outcomes := make(chan outcome)
	begun, ended := 0, 0
	hedge := newHedge(c.config.HedgeAfter)
	defer hedge.stop()
	begin := func() {
		server := servers[begun%len(servers)]
		begun++
		hedge.reset()
		go func() { outcomes <- c.guarded(ctx, server, name, rrtype) }()
	}
	defer func() {
		cancel()
		for ; ended < begun; ended++ {
			<-outcomes
		}
	}()
	var f failures
	for begin(); ended < begun; {
		select {
		case o := <-outcomes:
			ended++
			if o.err == nil {
				return o.reply, nil
			}
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			f.add(o)
			if begun < attempts && begun == ended {
				begin()
			}
		case <-hedge.due():
			if begun < attempts {
				begin()
			}
		}
	}
	return nil, f.err(len(servers))
}

// outcome is what one server said.
type outcome struct {
	reply  *dns.Msg
	server Server
	err    error
}

// guarded asks one server; a panic over what it said is an error of this question.
func (c *Client) guarded(ctx context.Context, server Server, name string, rrtype uint16) (o outcome) {
	defer func() {
		if p := recover(); p != nil {
			o = outcome{server: server, err: fmt.Errorf("reading its reply panicked: %v", p)}
		}
	}()
	reply, err := c.askServer(ctx, server, name, rrtype)
	return outcome{reply, server, err}
}

// failures are the outcomes without reply.
type failures struct {
	faults []error
	slow   int
}

func (f *failures) add(o outcome) {
	if isTimeout(o.err) {
		f.slow++
	}
	f.faults = append(f.faults, fmt.Errorf("server %s: %w", o.server, o.err))
}

// err says why none of so many servers answered; later rounds say no more.
func (f *failures) err(servers int) error {
	if f.slow == len(f.faults) {
		return fmt.Errorf("%w: %w", context.DeadlineExceeded, f.faults[0])
	}
	// Some failed otherwise: that one of them was too slow is not what is wrong.
	var said []error
	for _, fault := range f.faults[:min(servers, len(f.faults))] {
		if isTimeout(fault) {
			fault = errors.New(fault.Error())
		}
		said = append(said, fault)
	}
	return fmt.Errorf("%w: %w", resolver.ErrUnreachable, errors.Join(said...))
}

// hedge says when another server is to be asked beside the slow ones.
type hedge struct {
	after  time.Duration
	ticker *time.Ticker // nil: never
}

func newHedge(after time.Duration) hedge {
	if after <= 0 {
		return hedge{}
	}
	return hedge{after, time.NewTicker(after)}
}

func (h hedge) reset() {
	if h.ticker != nil {
		h.ticker.Reset(h.after)
	}
}

func (h hedge) due() <-chan time.Time {
	if h.ticker == nil {
		return nil
	}
	return h.ticker.C
}

func (h hedge) stop() {
	if h.ticker != nil {
		h.ticker.Stop()
	}
}

func isTimeout(err error) bool {
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded)
}

// askServer asks one server: by UDP, and again by TCP if the answer did not fit.
func (c *Client) askServer(ctx context.Context, server Server, name string, rrtype uint16) (*dns.Msg, error) {
	if c.config.Slots != nil {
		select {
		case c.config.Slots <- struct{}{}:
			defer func() { <-c.config.Slots }()
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	whole := ctx
	ctx, cancel := context.WithTimeout(ctx, c.config.Timeout)
	defer cancel()
	question := new(dns.Msg)
	question.SetQuestion(name, rrtype)
	question.SetEdns0(udpSize, true)
	question.AuthenticatedData = true // RFC 6840 section 5.7: the bit is understood
	start := c.config.Now()
	network := "udp"
	if server.TLS {
		network = "tcp"
	}
	reply, err := c.exchange(ctx, network, server, question)
	if err == nil && reply.Truncated && network == "udp" {
		reply, err = c.exchange(ctx, "tcp", server, question)
	}
	if c.config.Observe != nil {
		c.config.Observe(Exchange{server.String(), dns.TypeToString[rrtype], rcode(whole, reply, err), c.config.Now().Sub(start)})
	}
	if err == nil {
		err = judge(reply)
	}
	if err == nil && c.config.RequireAD && !reply.AuthenticatedData {
		err = errNotAuthentic
	}
	if t := resolver.TraceOf(ctx); t != nil {
		took := c.config.Now().Sub(start)
		t.AddTook(took, "dns", "%s %s at %s: %s in %s", name, dns.TypeToString[rrtype], server, describe(reply, err), took.Round(time.Microsecond))
	}
	return reply, err
}

// rcode says in one word what came of a question.
func rcode(ctx context.Context, reply *dns.Msg, err error) string {
	switch {
	case err == nil:
		return dns.RcodeToString[reply.Rcode]
	case errors.Is(ctx.Err(), context.Canceled): // another server was faster
		return "canceled"
	case isTimeout(err):
		return "timeout"
	default:
		return "error"
	}
}

// exchange sends question and waits for its reply; messages that answer
// another question, or cannot be read, are skipped (RFC 5452 section 4).
func (c *Client) exchange(ctx context.Context, network string, server Server, question *dns.Msg) (*dns.Msg, error) {
	socket, err := c.dial(ctx, network, server)
	if err != nil {
		return nil, err
	}
	conn := &dns.Conn{Conn: socket, UDPSize: udpSize}
	defer conn.Close()
	// A context that ends early must end a read that waits.
	stop := context.AfterFunc(ctx, func() { _ = socket.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if err := conn.WriteMsg(question); err != nil {
		return nil, fmt.Errorf("sending by %s: %w", network, err)
	}
	for {
		message, err := conn.ReadMsgHeader(nil)
		if err != nil && !errors.Is(err, dns.ErrShortRead) {
			return nil, fmt.Errorf("receiving by %s: %w", network, err)
		}
		reply := new(dns.Msg)
		if reply.Unpack(message) == nil && isReply(reply, question) {
			return reply, nil
		}
	}
}

// errNotAuthentic is that a reply lacks the AD bit where it must have it.
var errNotAuthentic = errors.New("its answer is not authenticated by DNSSEC (require_dnssec)")

// dial connects to a server, over TLS where that is spoken with it.
func (c *Client) dial(ctx context.Context, network string, server Server) (net.Conn, error) {
	socket, err := c.config.Dial(ctx, network, server.Address)
	if err != nil || !server.TLS {
		return socket, err
	}
	name := server.Name
	if name == "" {
		name, _, _ = net.SplitHostPort(server.Address)
	}
	over := tls.Client(socket, &tls.Config{ServerName: name, RootCAs: c.config.RootCAs, MinVersion: tls.VersionTLS12})
	if err := over.HandshakeContext(ctx); err != nil {
		_ = socket.Close()
		return nil, fmt.Errorf("handshake: %w", err)
	}
	return over, nil
}

func isReply(reply, question *dns.Msg) bool {
	return reply.Response && reply.Id == question.Id && len(reply.Question) == 1 &&
		reply.Question[0].Qtype == question.Question[0].Qtype &&
		reply.Question[0].Qclass == question.Question[0].Qclass &&
		dns.CanonicalName(reply.Question[0].Name) == question.Question[0].Name
}

// judge refuses what is no answer: an error of the server, and a referral by
// one that does no recursion. A referral names servers and no SOA, and may come
// behind aliases, of which alone it is then authoritative (RFC 2308 section 2).
func judge(reply *dns.Msg) error {
	if reply.Rcode != dns.RcodeSuccess && reply.Rcode != dns.RcodeNameError {
		return fmt.Errorf("it answered %s", dns.RcodeToString[reply.Rcode])
	}
	asked := reply.Question[0]
	owner, _, circle := followAliases(reply, asked.Name)
	if circle { // RFC 1034 section 3.6.2: an error
		return errors.New("its aliases lead in a circle")
	}
	if reply.Rcode == dns.RcodeSuccess && !strings.EqualFold(owner, asked.Name) && !has(reply.Answer, asked.Qtype) && !has(reply.Ns, dns.TypeSOA) && !has(reply.Ns, dns.TypeNS) {
		return errors.New("its answer ends in an alias")
	}
	if reply.Rcode == dns.RcodeNameError || reply.Authoritative && len(reply.Answer) == 0 ||
		has(reply.Answer, reply.Question[0].Qtype) || has(reply.Ns, dns.TypeSOA) || !has(reply.Ns, dns.TypeNS) {
		return nil
	}
	return errors.New("it refers to other servers and does no recursion")
}

func has(records []dns.RR, rrtype uint16) bool {
	return slices.ContainsFunc(records, func(rr dns.RR) bool { return rr.Header().Rrtype == rrtype })
}

func describe(reply *dns.Msg, err error) string {
	if err != nil {
		return err.Error()
	}
	said := fmt.Sprintf("%s, %d records", dns.RcodeToString[reply.Rcode], len(reply.Answer))
	if reply.AuthenticatedData {
		said += ", authenticated"
	}
	return said
}
