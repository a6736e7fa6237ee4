package ddds

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/miekg/dns"

	"github.com/urnd/urnd/resolver"
)

// udpSize is what fits a path without fragments (DNS flag day 2020).
const udpSize = 1232

// ask puts one question to one server after another until one answers. Its
// errors are context.DeadlineExceeded where all were too slow, else
// resolver.ErrUnreachable.
func (c *Client) ask(ctx context.Context, name string, rrtype uint16) (*dns.Msg, error) {
	if len(c.config.Servers) == 0 {
		return nil, fmt.Errorf("%w: %w", resolver.ErrUnreachable, errNoServers)
	}
	var faults []error
	slow := 0
	for range max(c.config.Rounds, 1) {
		for _, server := range c.config.Servers {
			reply, err := c.askServer(ctx, server, name, rrtype)
			if err == nil {
				return reply, nil
			}
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			if isTimeout(err) {
				slow++
			}
			faults = append(faults, fmt.Errorf("server %s: %w", server, err))
		}
	}
	if slow == len(faults) {
		return nil, fmt.Errorf("%w: %w", context.DeadlineExceeded, faults[0])
	}
	return nil, fmt.Errorf("%w: %w", resolver.ErrUnreachable, errors.Join(faults[:len(c.config.Servers)]...))
}

func isTimeout(err error) bool {
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded)
}

// askServer asks one server: by UDP, and again by TCP if the answer did not fit.
func (c *Client) askServer(ctx context.Context, server, name string, rrtype uint16) (*dns.Msg, error) {
	ctx, cancel := context.WithTimeout(ctx, c.config.Timeout)
	defer cancel()
	question := new(dns.Msg)
	question.SetQuestion(name, rrtype)
	question.SetEdns0(udpSize, false)
	start := c.config.Now()
	reply, err := c.exchange(ctx, "udp", server, question)
	if err == nil && reply.Truncated {
		reply, err = c.exchange(ctx, "tcp", server, question)
	}
	if err == nil {
		err = judge(reply)
	}
	if t := resolver.TraceOf(ctx); t != nil {
		t.Add("dns", "%s %s at %s: %s in %s", name, dns.TypeToString[rrtype], server, describe(reply, err), c.config.Now().Sub(start).Round(time.Microsecond))
	}
	return reply, err
}

// exchange sends question and waits for its reply; messages that answer
// another question, or cannot be read, are passed over (RFC 5452 section 4).
func (c *Client) exchange(ctx context.Context, network, server string, question *dns.Msg) (*dns.Msg, error) {
	socket, err := c.config.Dial(ctx, network, server)
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
	return fmt.Sprintf("%s, %d records", dns.RcodeToString[reply.Rcode], len(reply.Answer))
}
