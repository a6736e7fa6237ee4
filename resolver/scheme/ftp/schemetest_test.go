package ftp

import (
	"net"
	"testing"

	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/resolver/schemetest"
)

func TestScheme(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	schemetest.Run(t, schemetest.Suite{
		New: func(_ testing.TB, dial scheme.Dial, limits scheme.Limits) scheme.Handler {
			config := settings()
			config.Dial, config.Limits = dial, limits
			return New(config)
		},
		Peer: func(conn net.Conn, s *schemetest.Server) {
			(&fake{listen: s.Listen, requested: s.Requested, body: s.Body, names: s.Names}).serve(conn)
		},
		Resource: func(address string) string { return "ftp://" + address + "/plain.txt" },
		Listing:  func(address string) string { return "ftp://" + address + "/" },
	})
}
