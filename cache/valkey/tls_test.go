package valkey_test

import (
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/cache/valkey"
	"github.com/urnd/urnd/internal/testserver"
)

// secured sets the URL of an instance to a TLS URL, with certificate authorities.
func secured(addr string, ca []byte) func(*valkey.Config) {
	return func(c *valkey.Config) { c.URL, c.CA = "rediss://"+addr, ca }
}

// The level works over TLS, and continues after a change of the server's certificate.
func TestTLS(t *testing.T) {
	ca := testserver.NewAuthority(t)
	server := testserver.StartRedisTLS(t, ca)
	relay := testserver.StartRelay(t, server.TLSAddr())
	a := used(t, "", secured(server.TLSAddr(), ca.PEM))
	b := used(t, "", secured(relay.Addr(), ca.PEM))
	a.put("key", "of a")
	if got := b.get("key", "of b"); got.Value != "of a" {
		t.Errorf("b got %+v", got)
	}
	server.Certify(ca.Issue(time.Hour, "127.0.0.1", "localhost"))
	relay.Cut()
	b.await(func(s valkey.Stats) bool { return !s.Used })
	relay.Restore()
	b.await(func(s valkey.Stats) bool { return s.Used })
	a.put("then", "of a")
	if got := b.get("then", "of b"); got.Value != "of a" {
		t.Errorf("b got %+v", got)
	}
	server.Certify(ca.Issue(-time.Hour, "127.0.0.1"))
	relay.Cut()
	relay.Restore()
	b.await(func(s valkey.Stats) bool { return !s.Used })
	awaitStatus(t, b, "has expired")
}

// awaitStatus waits until an instance has reported a reason.
func awaitStatus(t *testing.T, i *instance, what string) {
	t.Helper()
	until(t, func() bool {
		select {
		case err := <-i.reports:
			return err != nil && strings.Contains(err.Error(), what)
		default:
			return false
		}
	})
}
