package adversary

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/miekg/dns"
)

// question is a query received by a DNS server.
type question struct {
	*dns.Msg
	tcp  bool
	from net.Addr
}

// name returns the queried name in lower case.
func (q question) name() string { return strings.ToLower(q.Question[0].Name) }

// answering returns the messages sent in response to a query, in order; none is no response.
type answering func(q question) [][]byte

// nameServer is a DNS server over UDP and TCP. Names without a script do not exist.
type nameServer struct {
	address string
	udp     net.PacketConn
	tcp     net.Listener
	queried atomic.Int64

	mu      sync.Mutex
	scripts map[string]answering // by name
}

// zoneRoot is the domain below which urnd looks up namespaces.
const zoneRoot = "urn.example."

func newNameServer() (*nameServer, error) {
	s := &nameServer{scripts: make(map[string]answering)}
	var err error
	if s.tcp, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	s.address = s.tcp.Addr().String()
	if s.udp, err = net.ListenPacket("udp", s.address); err != nil {
		return nil, err
	}
	go s.serveUDP()
	go s.serveTCP()
	return s, nil
}

// on sets the script of a name.
func (s *nameServer) on(name string, a answering) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scripts[strings.ToLower(dns.Fqdn(name))] = a
}

// has sets the records of a name, in master file format without the owner: "60 IN A 192.0.2.1".
func (s *nameServer) has(name string, records ...string) { s.on(name, recordsOf(records...)) }

// recordsOf returns a script that responds with the records of the queried type.
func recordsOf(records ...string) answering {
	return func(q question) [][]byte { return [][]byte{pack(answerOf(q, records...))} }
}

// answerOf returns the response to a query.
func answerOf(q question, records ...string) *dns.Msg {
	m := new(dns.Msg).SetReply(q.Msg)
	m.RecursionAvailable, m.Compress = true, true
	for _, text := range records {
		rr, err := dns.NewRR(q.name() + " " + text)
		if err != nil {
			panic(fmt.Sprintf("%s: %v", text, err)) // error in a payload
		}
		if kind := rr.Header().Rrtype; kind == q.Question[0].Qtype || kind == dns.TypeCNAME {
			m.Answer = append(m.Answer, rr)
		}
	}
	if len(m.Answer) == 0 {
		m.Ns = append(m.Ns, soa())
	}
	if !q.tcp {
		m.Truncate(1232)
	}
	return m
}

func soa() dns.RR {
	return &dns.SOA{
		Hdr: dns.RR_Header{Name: "example.", Rrtype: dns.TypeSOA, Class: dns.ClassINET, Ttl: 60},
		Ns:  "ns.example.", Mbox: "host.example.", Serial: 1, Refresh: 1, Retry: 1, Expire: 1, Minttl: 60,
	}
}

// pack returns a message in wire format.
func pack(m *dns.Msg) []byte {
	wire, err := m.Pack()
	if err != nil {
		panic(err) // error in a payload
	}
	return wire
}

// answers returns the messages for a query.
func (s *nameServer) answers(wire []byte, tcp bool, from net.Addr) [][]byte {
	m := new(dns.Msg)
	if m.Unpack(wire) != nil || len(m.Question) != 1 {
		return nil
	}
	s.queried.Add(1)
	q := question{m, tcp, from}
	s.mu.Lock()
	script := s.scripts[q.name()]
	s.mu.Unlock()
	if script != nil {
		return script(q)
	}
	none := new(dns.Msg).SetRcode(m, dns.RcodeNameError)
	none.Ns = []dns.RR{soa()}
	return [][]byte{pack(none)}
}

func (s *nameServer) serveUDP() {
	for {
		buffer := make([]byte, 4096)
		n, from, err := s.udp.ReadFrom(buffer)
		if err != nil {
			return
		}
		go func() {
			for _, wire := range s.answers(buffer[:n], false, from) {
				_, _ = s.udp.WriteTo(wire, from)
			}
		}()
	}
}

func (s *nameServer) serveTCP() {
	for {
		conn, err := s.tcp.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			var length [2]byte
			for {
				if _, err := io.ReadFull(conn, length[:]); err != nil {
					return
				}
				wire := make([]byte, binary.BigEndian.Uint16(length[:]))
				if _, err := io.ReadFull(conn, wire); err != nil {
					return
				}
				for _, answer := range s.answers(wire, true, conn.RemoteAddr()) {
					answer = append(binary.BigEndian.AppendUint16(nil, uint16(len(answer))), answer...)
					if _, err := conn.Write(answer); err != nil {
						return
					}
				}
			}
		}()
	}
}

func (s *nameServer) close() {
	s.udp.Close()
	s.tcp.Close()
}
