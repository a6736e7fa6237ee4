package adversary

import (
	"context"
	"fmt"
	"strings"
)

// named reach destinations by DNS records: the address of a host, the location of a name, and the server of a
// namespace (RFC 3404 section 4.4, RFC 2782).
func (s *stage) named() []payload {
	var payloads []payload
	add := func(name, section, target string, d destination) {
		payloads = append(payloads,
			payload{name: name, section: section, shows: "GET " + target, play: func(ctx context.Context) error {
				return d.wantRefusal(get(ctx, s.service, friend, target))
			}})
	}
	for _, d := range destinations() {
		if !d.literal {
			continue
		}
		id := s.id()
		host := id + ".hosts.example"
		s.dns.has(host, "60 IN "+address(d.host))
		add("the address of a host is "+d.host, "RFC 1034 section 3.6", "http://"+host+":"+s.canary.port+"/"+id, d)
	}
	for _, host := range []string{
		"127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "169.254.169.254", "10.0.0.1",
		"localhost", "2130706433",
	} {
		d := destination{host, host[0] != 'l' && host != "2130706433"}
		nid := s.id()
		s.dns.has(nid+"."+zoneRoot,
			`60 IN NAPTR 1 1 "u" "http+N2L" "!^.*$!http://`+host+":"+s.canary.port+"/"+nid+`!" .`)
		add("the location of a name is at "+host, "RFC 2483 section 4.2.1", "/uri-res/N2R?urn:"+nid+":a", d)
		add("all locations of a name are at "+host, "RFC 2483 section 4.2.2", "/uri-res/N2Rs?urn:"+nid+":a", d)
	}
	for _, host := range []string{"127.0.0.1", "::1", "::ffff:127.0.0.1", "10.0.0.1", "169.254.169.254", "0.0.0.0"} {
		nid := s.id()
		server := nid + ".servers.example."
		s.dns.has(nid+"."+zoneRoot, `60 IN NAPTR 1 1 "s" "thttp+N2L" "" _thttp._tcp.`+server)
		s.dns.has("_thttp._tcp."+server, "60 IN SRV 0 0 "+s.canary.port+" "+server)
		s.dns.has(server, "60 IN "+address("["+host+"]"))
		add("the server of a namespace is "+host, "RFC 3404 section 4.4", "/urn:"+nid+":a", destination{host, true})
	}
	for _, target := range []string{"localhost.", "ip6-localhost.", "127.0.0.1."} {
		nid := s.id()
		s.dns.has(nid+"."+zoneRoot, `60 IN NAPTR 1 1 "s" "thttp+N2L" "" _thttp._tcp.`+nid+".servers.example.")
		s.dns.has("_thttp._tcp."+nid+".servers.example.", "60 IN SRV 0 0 "+s.canary.port+" "+target)
		add("the target of a server is "+target, "RFC 2782", "/urn:"+nid+":a", destination{target, false})
	}
	payloads = append(payloads, s.allowed()...)
	id := s.id()
	s.dns.has(id+".hosts.example", "60 IN CNAME localhost.")
	add("an alias of localhost", "RFC 1034 section 3.6.2", "http://"+id+".hosts.example:"+s.canary.port+"/",
		destination{})
	id = s.id()
	s.dns.has(id+".hosts.example", "60 IN A 10.0.0.1", "60 IN A 127.0.0.1", "60 IN AAAA ::1",
		"60 IN AAAA ::ffff:127.0.0.1")
	add("many addresses", "RFC 8305 section 4", "http://"+id+".hosts.example:"+s.canary.port+"/",
		destination{literal: true})
	id = s.id()
	s.dns.on(id+".hosts.example", s.rebinding())
	add("an address that changes", "RFC 6762 appendix G", "http://"+id+".hosts.example:"+s.canary.port+"/",
		destination{literal: true})
	return inFamily("names that lead inside", payloads)
}

// allowed use the same ways to the only permitted destination: they must succeed, otherwise the other results
// are meaningless.
func (s *stage) allowed() []payload {
	var payloads []payload
	add := func(name, target string) {
		payloads = append(payloads,
			payload{
				name: name, section: "RFC 9110 section 7.6", shows: "GET " + target,
				play: func(ctx context.Context) error {
					got, err := get(ctx, s.service, friend, target)
					if err == nil && got.status != 200 && got.status != 302 {
						err = fmt.Errorf("it is answered %d: %s", got.status, got.body)
					}
					return err
				},
			})
	}
	host, nid, other := s.id()+".hosts.example", s.id(), s.id()
	s.dns.has(host, "60 IN A "+originHost)
	add("the address of a host is allowed", "http://"+host+":"+portOf(s.origin.address)+"/")
	s.dns.has(nid+"."+zoneRoot, `60 IN NAPTR 1 1 "u" "http+N2L" "!^.*$!http://`+s.origin.address+`/!" .`)
	add("the location of a name is allowed", "/uri-res/N2R?urn:"+nid+":a")
	server := other + ".servers.example."
	s.dns.has(other+"."+zoneRoot, `60 IN NAPTR 1 1 "s" "thttp+N2L" "" _thttp._tcp.`+server)
	s.dns.has("_thttp._tcp."+server, "60 IN SRV 0 0 "+portOf(s.origin.address)+" "+server)
	s.dns.has(server, "60 IN A "+originHost)
	s.origin.on("/uri-res/N2L?urn:"+other+":a",
		respond("HTTP/1.1 302 Found\r\nLocation: http://a.example/\r\nContent-Length: 0\r\n\r\n"))
	add("the server of a namespace is allowed", "/urn:"+other+":a")
	return payloads
}

// address returns the type and the data of an address record for a host in a URI.
func address(host string) string {
	host = strings.Trim(host, "[]")
	if strings.Contains(host, ":") {
		return "AAAA " + host
	}
	return "A " + host
}

// rebinding first responds with an address of its own, and later with a loopback address: DNS rebinding. With a
// TTL of 0, every check causes a new query.
func (s *stage) rebinding() answering {
	first := true
	return func(q question) [][]byte {
		if first {
			first = false
			return recordsOf("0 IN A 192.0.2.1")(q)
		}
		return recordsOf("0 IN A 127.0.0.1", "0 IN AAAA ::1")(q)
	}
}
