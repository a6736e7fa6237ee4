package ddds

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/miekg/dns"
)

// isReply reports whether a message is the reply to a question. A server that cannot parse the question need
// not repeat it (RFC 1035 section 4.1.1, RFC 6891 section 7).
func isReply(reply, question *dns.Msg) bool {
	if !reply.Response || reply.Id != question.Id || reply.Opcode != question.Opcode {
		return false
	}
	if len(reply.Question) == 0 {
		return rejectsEDNS(reply)
	}
	return len(reply.Question) == 1 &&
		reply.Question[0].Qtype == question.Question[0].Qtype &&
		reply.Question[0].Qclass == question.Question[0].Qclass &&
		strings.EqualFold(reply.Question[0].Name, question.Question[0].Name)
}

// rejectsEDNS reports whether a reply may come from a server without EDNS, or with another version of it.
func rejectsEDNS(reply *dns.Msg) bool {
	return reply.Rcode == dns.RcodeFormatError || reply.Rcode == dns.RcodeNotImplemented ||
		reply.Rcode == dns.RcodeBadVers
}

// checkReply rejects replies that are not answers: error codes, and referrals. A referral has NS records and no
// SOA record. It may follow aliases, and the server may be authoritative for the aliases alone (RFC 2308
// section 2).
func checkReply(reply *dns.Msg) error {
	if reply.Rcode != dns.RcodeSuccess && reply.Rcode != dns.RcodeNameError {
		return fmt.Errorf("response code %s%s", rcodeText(reply.Rcode), extendedError(reply))
	}
	requested := reply.Question[0]
	owner, _, loop := followAliases(reply, requested.Name)
	if loop { // RFC 1034 section 3.6.2: an error
		return errors.New("CNAME loop")
	}
	if reply.Rcode == dns.RcodeSuccess && !strings.EqualFold(owner, requested.Name) &&
		!has(reply.Answer, requested.Qtype) &&
		!has(reply.Ns,
			dns.TypeSOA) && !has(reply.Ns, dns.TypeNS) {
		return errors.New("CNAME record without an answer for its target")
	}
	if reply.Rcode == dns.RcodeNameError || reply.Authoritative && len(reply.Answer) == 0 ||
		has(reply.Answer, reply.Question[0].Qtype) || has(reply.Ns, dns.TypeSOA) || !has(reply.Ns, dns.TypeNS) {
		return nil
	}
	return errors.New("referral: the server does not offer recursion")
}

func has(records []dns.RR, rrtype uint16) bool {
	return slices.ContainsFunc(records, func(rr dns.RR) bool {
		return rr.Header().Rrtype == rrtype && rr.Header().Class == dns.ClassINET
	})
}

// publicFailure returns the public text of a failure without a reply, or "" if the text of describe is public.
func publicFailure(reply *dns.Msg, err error) string {
	if err == nil || reply != nil || isTimeout(err) {
		return ""
	}
	return "no usable reply"
}

// codeOfReply returns the code of the trace step of a query.
func codeOfReply(ctx context.Context, reply *dns.Msg, err error) string {
	switch {
	case err != nil && errors.Is(ctx.Err(), context.Canceled):
		return "dns_overtaken"
	case err != nil && isTimeout(err):
		return "dns_late"
	case err != nil:
		return "dns_unusable"
	case reply.Rcode == dns.RcodeNameError:
		return "dns_no_domain"
	case !has(reply.Answer, reply.Question[0].Qtype):
		return "dns_no_such_records"
	default:
		return "dns_answered"
	}
}

// describe describes the outcome of a query for a trace.
func describe(ctx context.Context, reply *dns.Msg, err error) string {
	switch {
	case err != nil && errors.Is(ctx.Err(), context.Canceled):
		return "cancelled, another reply was faster"
	case err != nil && isTimeout(err):
		return "timed out"
	case err != nil:
		return err.Error()
	}
	records, ttl := 0, maxTTL
	for _, rr := range reply.Answer {
		if rr.Header().Rrtype == dns.TypeRRSIG { // a signature of another record set
			continue
		}
		records++
		ttl = min(ttl, seconds(rr.Header().Ttl))
	}
	if !has(reply.Answer, reply.Question[0].Qtype) {
		ttl = min(ttl, negativeTTL(reply))
	}
	return fmt.Sprintf("%s, %s, ttl %s, %s%s", rcodeText(reply.Rcode), countRecords(records), ttl,
		dnssec(reply.AuthenticatedData), extendedError(reply))
}

// rcodeText returns the name of an RCODE. 16 is BADVERS in replies to questions with EDNS (RFC 6891 section 9),
// and BADSIG in replies with a TSIG signature, which urnd does not use.
func rcodeText(code int) string {
	if code == dns.RcodeBadVers {
		return "BADVERS"
	}
	return dns.RcodeToString[code]
}

// extendedError describes the extended DNS errors of a reply: RFC 8914.
func extendedError(reply *dns.Msg) string {
	opt := reply.IsEdns0()
	if opt == nil {
		return ""
	}
	var text strings.Builder
	for _, option := range opt.Option {
		e, ok := option.(*dns.EDNS0_EDE)
		if !ok {
			continue
		}
		fmt.Fprintf(&text, " (extended error %d", e.InfoCode)
		if name, ok := dns.ExtendedErrorCodeToString[e.InfoCode]; ok {
			text.WriteString(" " + name)
		}
		if e.ExtraText != "" {
			fmt.Fprintf(&text, ": %q", e.ExtraText)
		}
		text.WriteString(")")
	}
	return text.String()
}

// followAliases returns the name at the end of the chain of CNAME records in reply that starts at name, the
// least of their TTLs, and whether they form a loop.
func followAliases(reply *dns.Msg, name string) (owner string, ttl time.Duration, loop bool) {
	ttl = maxTTL
	for range len(reply.Answer) + 1 {
		next := ""
		for _, rr := range reply.Answer {
			if alias, ok := rr.(*dns.CNAME); ok && alias.Hdr.Class == dns.ClassINET &&
				strings.EqualFold(alias.Hdr.Name, name) {
				next = alias.Target
				ttl = min(ttl, seconds(alias.Hdr.Ttl))
				break
			}
		}
		if next == "" {
			return name, ttl, false
		}
		name = next
	}
	return name, ttl, true
}
