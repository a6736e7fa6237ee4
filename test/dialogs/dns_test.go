//go:build e2e

package dialogs

import (
	"errors"
	"net"
	"strings"

	"github.com/miekg/dns"
)

// nameServer serves a zone over UDP and TCP. Some names have a behavior instead of records, selected by the
// prefix of their first label.
type nameServer struct {
	records  []dns.RR
	udp, tcp *dns.Server
}

// newNameServer serves the zone, which has one record per line, on an address.
func newNameServer(address, zone string) (*nameServer, error) {
	s := &nameServer{}
	parser := dns.NewZoneParser(strings.NewReader(zone), ".", "")
	for rr, ok := parser.Next(); ok; rr, ok = parser.Next() {
		s.records = append(s.records, rr)
	}
	if err := parser.Err(); err != nil {
		return nil, err
	}
	udp, err := net.ListenPacket("udp", address)
	if err != nil {
		return nil, err
	}
	tcp, err := net.Listen("tcp", address)
	if err != nil {
		return nil, errors.Join(err, udp.Close())
	}
	s.udp = &dns.Server{PacketConn: udp, Handler: s}
	s.tcp = &dns.Server{Listener: tcp, Handler: s}
	go s.udp.ActivateAndServe()
	go s.tcp.ActivateAndServe()
	return s, nil
}

func (s *nameServer) Close() error { return errors.Join(s.udp.Shutdown(), s.tcp.Shutdown()) }

// ServeDNS responds to a query: SERVFAIL for names that begin with "failing", REFUSED for "refusing", no
// response for "silent", and NXDOMAIN for names that are not in the zone.
func (s *nameServer) ServeDNS(out dns.ResponseWriter, query *dns.Msg) {
	question := query.Question[0]
	reply := new(dns.Msg).SetReply(query)
	reply.RecursionAvailable = true
	owner := strings.ToLower(question.Name)
	switch label, _, _ := strings.Cut(owner, "."); {
	case strings.HasPrefix(label, "silent"):
		return
	case strings.HasPrefix(label, "failing"):
		reply.Rcode = dns.RcodeServerFailure
	case strings.HasPrefix(label, "refusing"):
		reply.Rcode = dns.RcodeRefused
	default:
		known := false
		if strings.HasSuffix(owner, "origin.example.") { // a separate host, and therefore connection pool, for a script
			owner = "origin.example."
		}
		for _, rr := range s.records {
			if header := rr.Header(); header.Name == owner {
				known = true
				if header.Rrtype == question.Qtype {
					answer := dns.Copy(rr)
					answer.Header().Name = question.Name
					reply.Answer = append(reply.Answer, answer)
				}
			}
		}
		if !known {
			reply.Rcode = dns.RcodeNameError
		}
		if len(reply.Answer) == 0 {
			reply.Ns = append(reply.Ns, &dns.SOA{
				Hdr: dns.RR_Header{Name: "example.", Rrtype: dns.TypeSOA, Class: dns.ClassINET, Ttl: 3600},
				Ns:  "ns.example.", Mbox: "host.example.", Serial: 1, Refresh: 3600, Retry: 3600, Expire: 3600,
				Minttl: 3600,
			})
		}
	}
	_ = out.WriteMsg(reply)
}
