package adversary

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// ownListeners make urnd connect to itself while the configuration permits all of loopback: the admin interface
// would treat it as a local client.
func (s *stage) ownListeners() []payload {
	open := s.shared("URND_ACCESS_ALLOW_DESTINATIONS=127.0.0.0/8,::1/128")
	var payloads []payload
	add := func(name, section string, target func(*daemon) string) {
		payloads = append(payloads,
			payload{name: name, section: section, shows: name, play: func(ctx context.Context) error {
				d, err := open()
				if err != nil {
					return err
				}
				got, err := get(ctx, d.service, friend, target(d))
				return notItself(got, err)
			}})
	}
	for kind, port := range map[string]func(*daemon) string{
		"admin":   func(d *daemon) string { return portOf(d.admin) },
		"service": func(d *daemon) string { return portOf(d.service) },
	} {
		path := map[string]string{"admin": "/metrics", "service": "/urn:ietf:rfc:2648"}[kind]
		for _, host := range []string{"127.0.0.1", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]"} {
			if kind == "service" && host == "127.0.0.1" {
				continue // absolute-form of its own URI, which is not forwarded: RFC 9112 section 3.2.2
			}
			add(fmt.Sprintf("the %s listener at %s", kind, host), "RFC 9110 section 7.6",
				func(d *daemon) string { return "http://" + host + ":" + port(d) + path })
		}
		host := s.id() + ".hosts.example"
		s.dns.has(host, "60 IN A 127.0.0.1")
		add(fmt.Sprintf("the %s listener by a name", kind), "RFC 9110 section 7.6",
			func(d *daemon) string { return "http://" + host + ":" + port(d) + path })
		nid := s.id()
		add(fmt.Sprintf("a name that is at the %s listener", kind), "RFC 2483 section 4.2.1", func(d *daemon) string {
			s.dns.has(nid+"."+zoneRoot, `60 IN NAPTR 1 1 "u" "http+N2L" "!^.*$!http://127.0.0.1:`+port(d)+path+`!" .`)
			return "/uri-res/N2R?urn:" + nid + ":a"
		})
		other := s.id()
		add(fmt.Sprintf("a namespace whose server is the %s listener", kind), "RFC 3404 section 4.4",
			func(d *daemon) string {
				server := other + ".servers.example."
				s.dns.has(other+"."+zoneRoot, `60 IN NAPTR 1 1 "s" "thttp+N2L" "" _thttp._tcp.`+server)
				s.dns.has("_thttp._tcp."+server, "60 IN SRV 0 0 "+port(d)+" "+server)
				s.dns.has(server, "60 IN A 127.0.0.1")
				return "/urn:" + other + ":a"
			})
	}
	add("the TLS listener", "RFC 9110 section 7.6",
		func(d *daemon) string { return "http://127.0.0.1:" + portOf(d.tls) + "/" })
	return inFamily("own listeners", payloads)
}

// notItself returns an error if urnd has connected to itself.
func notItself(got reply, err error) error {
	switch {
	case err != nil:
		return err
	case got.status < 400:
		return fmt.Errorf("it is answered %d: %.100q", got.status, got.body)
	case got.status == 508:
		return errors.New("urnd connected to itself, and noticed by Via")
	case got.status != 403:
		return fmt.Errorf("it is answered %d, not refused: %.200q", got.status, got.body)
	case strings.Contains(got.body, "administrator"):
		return fmt.Errorf("the admin interface has answered: %.200q", got.body)
	default:
		return nil
	}
}
