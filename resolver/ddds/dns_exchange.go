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

// udpSize is a message size that needs no fragmentation (DNS flag day 2020).
const udpSize = 1232

// ask sends a query to the servers in order until one answers: to the next one when one
// fails, and in parallel when one is slow. The error is context.DeadlineExceeded if all
// were too slow, else resolver.ErrUnreachable.
func (c *Client) ask(ctx context.Context, name string, rrtype uint16) (*dns.Msg, error) {
	servers := c.config.Servers
	if len(servers) == 0 {
		return nil, fmt.Errorf("%w: %w", resolver.ErrUnreachable, errNoServers)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	attempts := max(c.config.Rounds, 1) * len(servers)
	outcomes := make(chan outcome)
	started, ended := 0, 0
	hedge := newHedge(c.config.HedgeAfter)
	defer hedge.stop()
	start := func() {
		server := servers[started%len(servers)]
		started++
		hedge.reset()
		go func() { outcomes <- c.askRecovered(ctx, server, name, rrtype) }()
	}
	defer func() {
		cancel()
		for ; ended < started; ended++ {
			<-outcomes
		}
	}()
	var f failures
	for start(); ended < started; {
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
			if started < attempts && started == ended {
				start()
			}
		case <-hedge.due():
			if started < attempts {
				start()
			}
		}
	}
	return nil, f.err(len(servers))
}

// outcome is the outcome of a query to one server.
type outcome struct {
	reply  *dns.Msg
	server Server
	err    error
}

// askRecovered asks one server, and returns a panic over its reply as an error.
func (c *Client) askRecovered(ctx context.Context, server Server, name string, rrtype uint16) (o outcome) {
	defer func() {
		if p := recover(); p != nil {
			o = outcome{server: server, err: fmt.Errorf("reading its reply panicked: %v", p)}
		}
	}()
	reply, err := c.askServer(ctx, server, name, rrtype)
	return outcome{reply, server, err}
}

// failures are the outcomes without a reply.
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

// err returns why none of the servers answered, with the faults of the first round.
func (f *failures) err(servers int) error {
	if f.slow == len(f.faults) {
		return fmt.Errorf("%w: %w", context.DeadlineExceeded, f.faults[0])
	}
	// Some servers failed otherwise, so the joined error must not be a timeout.
	var errs []error
	for _, fault := range f.faults[:min(servers, len(f.faults))] {
		if isTimeout(fault) {
			fault = errors.New(fault.Error())
		}
		errs = append(errs, fault)
	}
	return fmt.Errorf("%w: %w", resolver.ErrUnreachable, errors.Join(errs...))
}

// hedge is the timer after which another server is asked in parallel with slow ones.
type hedge struct {
	after  time.Duration
	ticker *time.Ticker // nil if disabled
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

// askServer asks one server: over UDP, and again over TCP if the reply was truncated.
func (c *Client) askServer(ctx context.Context, server Server, name string, rrtype uint16) (*dns.Msg, error) {
	if c.config.Slots != nil {
		select {
		case c.config.Slots <- struct{}{}:
			defer func() { <-c.config.Slots }()
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	parent := ctx
	ctx, cancel := context.WithTimeout(ctx, c.config.Timeout)
	defer cancel()
	question := new(dns.Msg)
	question.SetQuestion(name, rrtype)
	question.SetEdns0(udpSize, true)
	question.AuthenticatedData = true // RFC 6840 section 5.7: requests the AD bit in the reply
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
		c.config.Observe(Exchange{server.String(), dns.TypeToString[rrtype], rcode(parent, reply, err), c.config.Now().Sub(start)})
	}
	if err == nil {
		err = checkReply(reply)
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

// rcode returns Exchange.Rcode.
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

// exchange sends question and waits for its reply; malformed messages and replies to
// another question are skipped (RFC 5452 section 4).
func (c *Client) exchange(ctx context.Context, network string, server Server, question *dns.Msg) (*dns.Msg, error) {
	socket, err := c.dial(ctx, network, server)
	if err != nil {
		return nil, err
	}
	conn := &dns.Conn{Conn: socket, UDPSize: udpSize}
	defer conn.Close()
	// The end of the context must end a blocked read.
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

// errNotAuthentic means that a reply lacks the required AD bit.
var errNotAuthentic = errors.New("its answer is not authenticated by DNSSEC (require_dnssec)")

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

func isReply(reply, question *dns.Msg) bool {
	return reply.Response && reply.Id == question.Id && len(reply.Question) == 1 &&
		reply.Question[0].Qtype == question.Question[0].Qtype &&
		reply.Question[0].Qclass == question.Question[0].Qclass &&
		dns.CanonicalName(reply.Question[0].Name) == question.Question[0].Name
}

// checkReply rejects replies that are not answers: error codes, and referrals. A referral
// has NS records and no SOA; it may follow aliases, for which alone the server is then
// authoritative (RFC 2308 section 2).
func checkReply(reply *dns.Msg) error {
	if reply.Rcode != dns.RcodeSuccess && reply.Rcode != dns.RcodeNameError {
		return fmt.Errorf("it answered %s", dns.RcodeToString[reply.Rcode])
	}
	asked := reply.Question[0]
	owner, _, loop := followAliases(reply, asked.Name)
	if loop { // RFC 1034 section 3.6.2: an error
		return errors.New("its CNAME records form a loop")
	}
	if reply.Rcode == dns.RcodeSuccess && !strings.EqualFold(owner, asked.Name) && !has(reply.Answer, asked.Qtype) && !has(reply.Ns, dns.TypeSOA) && !has(reply.Ns, dns.TypeNS) {
		return errors.New("its answer ends with a CNAME record")
	}
	if reply.Rcode == dns.RcodeNameError || reply.Authoritative && len(reply.Answer) == 0 ||
		has(reply.Answer, reply.Question[0].Qtype) || has(reply.Ns, dns.TypeSOA) || !has(reply.Ns, dns.TypeNS) {
		return nil
	}
	return errors.New("it refers to other servers and does not do recursion")
}

func has(records []dns.RR, rrtype uint16) bool {
	return slices.ContainsFunc(records, func(rr dns.RR) bool { return rr.Header().Rrtype == rrtype })
}

func describe(reply *dns.Msg, err error) string {
	if err != nil {
		return err.Error()
	}
	summary := fmt.Sprintf("%s, %d records", dns.RcodeToString[reply.Rcode], len(reply.Answer))
	if reply.AuthenticatedData {
		summary += ", authenticated"
	}
	return summary
}
