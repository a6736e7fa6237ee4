package adversary

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"
)

// arena contains what two clients share: a proxy, and the origins behind it. Origins come in pairs with
// identical behavior: a victim uses one of them alone, and the other one after or while an attacker uses it.
type arena struct {
	origin *siteServer
	// service and secure are the addresses of the proxy, forward that of the forward proxy; "" is none.
	service, secure, forward string
	// collapse is the time after which a collapsed request proceeds alone; slack is the tolerance for a slow
	// machine.
	collapse, slack time.Duration
	// the daemon; nil for a third-party proxy
	process *daemon
	ids     atomic.Int64
	played  atomic.Int64 // number of random attacks
}

const (
	// collapseTimeout is cache.collapse_timeout of the daemon.
	collapseTimeout = 3 * time.Second
	// slack is less than that, to detect whether a client has waited.
	slack = 2500 * time.Millisecond
	// attackers is the address of the attacker.
	attackers = "127.0.0.6"
)

// clientsConfig is the configuration of the daemon for two clients.
const clientsConfig = `
listen: {service: ['127.0.0.1:0'], tls: ['127.0.0.1:0'], admin: 127.0.0.1:0}
tls: {certificate: %[1]s/certificate.pem, key: %[1]s/key.pem}
dns: {servers: ['%[2]s'], timeout: 5s, rounds: 2}
access: {allow_destinations: [127.9.9.9/32], proxy_clients: [127.0.0.0/8]}
cache: {max_response: 1MiB%[3]s}
limits: {shutdown_timeout: 3s, drain_time: 1ms}
log: {level: DEBUG, format: json}
namespaces:
%[4]sproxy:
  sites:
%[5]s`

// pairs is the number of pairs of origins: each attack that may harm the reputation of a server has its own.
const pairs = 128

// siteName and forwardName are the hosts of an origin as a site and as the target of a forward proxy. Both have
// the same length for each origin.
func siteName(server int) string { return fmt.Sprintf("s%03d.sites.example", server) }

// mirrorName is the host of a site whose servers are a pair of origins.
func mirrorName(server int) string  { return fmt.Sprintf("m%03d.sites.example", server) }
func forwardName(server int) string { return fmt.Sprintf("s%03d.hosts.example", server) }

// newArena starts the origins.
func newArena() (*arena, error) {
	origin, err := newSiteServer(2 * pairs)
	return &arena{origin: origin, collapse: collapseTimeout, slack: slack}, err
}

// prepareClients gives the stage an arena and a configuration for it.
func prepareClients(s *stage) error { return s.prepareArena("") }

// prepareClientsOnDisk is like prepareClients with a disk cache.
func prepareClientsOnDisk(s *stage) error {
	return s.prepareArena(fmt.Sprintf(", disk: 64MiB, disk_directory: %s/disk", s.directory))
}

// prepareArena implements both, with additional settings of the cache.
func (s *stage) prepareArena(cache string) (err error) {
	if s.arena, err = newArena(); err != nil {
		return err
	}
	var names, origins strings.Builder
	for i := range 2 * pairs {
		fmt.Fprintf(&origins, "    - {hosts: [%s], servers: ['http://%s']}\n", siteName(i), s.arena.origin.address(i))
		s.dns.has(forwardName(i), "60 IN A "+originHost)
	}
	for i := 0; i < 2*pairs; i += 2 {
		first, second := s.arena.origin.address(i), s.arena.origin.address(i+1)
		fmt.Fprintf(
			&names, "  - {nid: mirror%d, targets: [{template: 'http://%s/{+nss}'}, {template: 'http://%s/{+nss}'}]}\n",
			i, first,
			second,
		)
		fmt.Fprintf(&origins, "    - {hosts: [%s], servers: ['http://%s', 'http://%s']}\n", mirrorName(i), first,
			second)
	}
	setting, err := settingOfCollapse()
	s.text = fmt.Sprintf(clientsConfig, s.directory, s.dns.address, cache+setting, names.String(), origins.String())
	return err
}

// uses makes the daemon the proxy of the arena.
func (a *arena) uses(d *daemon) {
	a.process, a.service, a.secure, a.forward = d, d.service, d.tls, d.service
}

// settingOfCollapse returns the setting of collapseTimeout if the daemon supports it; without it the tests are
// only slower, because the default is longer.
func settingOfCollapse() (string, error) {
	text, err := os.ReadFile("../../config/example.yaml")
	if err != nil || !strings.Contains(string(text), "\n  collapse_timeout:") {
		return "", err
	}
	return ", collapse_timeout: " + collapseTimeout.String(), nil
}

// host returns the name of an origin, with its port if it is part of a URL.
func (a *arena) host(server int, way route) string {
	if !way.absolute {
		return siteName(server)
	}
	return forwardName(server) + ":" + portOf(a.origin.address(server))
}

// names replaces the parts of a text that identify the resource.
func (a *arena) names(server int, id string) *strings.Replacer {
	return strings.NewReplacer(a.host(server, forward1), "SITE", forwardName(server), "SITE", siteName(server), "SITE",
		a.origin.address(server), "SITE", id, "ID")
}

// id returns a unique name of a resource; all names have the same length.
func (a *arena) id() string { return fmt.Sprintf("r%07d", a.ids.Add(1)) }
