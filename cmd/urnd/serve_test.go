package main

import (
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/urnd/urnd/config"
	cliconfig "github.com/urnd/urnd/internal/cli/config"
)

// Warnings consider the sockets that systemd has opened, if there are any.
func TestWarningsOfSockets(t *testing.T) {
	everywhere, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	defer everywhere.Close()
	c := config.Default()
	c.Listen.Names = []string{"urn.example.org"}
	c.TLS = config.TLS{Certificate: "credential:certificate", Key: "credential:key"}
	c.Access.ProxyClients = []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}
	for name, want := range map[string]string{
		"":        "tls.certificate: is not used: listen.tls is empty",
		nameHTTPS: "access.proxy_clients.0: 0.0.0.0/0 covers all clients of " + everywhere.Addr().String(),
	} {
		got := cliconfig.Warnings(withSockets(c, map[string][]net.Listener{name: {everywhere}}), config.Origins{}, 0)
		if len(got) != 1 || !strings.Contains(got.Error(), want) {
			t.Errorf("%q: %v, want %q", name, got, want)
		}
	}
}
