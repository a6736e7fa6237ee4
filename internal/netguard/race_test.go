package netguard_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/netguard"
)

// listenAt opens a listener, and returns its port.
func listenAt(t *testing.T, address string) (port string) {
	t.Helper()
	listener, err := net.Listen("tcp", address+":0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	_, port, err = net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// guardOf returns a guard for hosts with the given addresses.
func guardOf(addresses ...string) *netguard.Guard {
	var addrs []netip.Addr
	for _, a := range addresses {
		addrs = append(addrs, netip.MustParseAddr(a))
	}
	return netguard.New(time.Minute, netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")).
		WithLookup(func(context.Context, string) ([]netip.Addr, error) { return addrs, nil })
}

// An address that refuses connections costs nothing, and one that is not allowed is not tried.
func TestNextAddress(t *testing.T) {
	port := listenAt(t, "127.0.0.1")
	start := time.Now()
	conn, err := guardOf("::1", "192.0.2.1", "127.0.0.2", "127.0.0.1").DialContext(t.Context(), "tcp", "host.example:"+port)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if got := conn.RemoteAddr().String(); got != "127.0.0.1:"+port {
		t.Errorf("connected to %s", got)
	}
	if took := time.Since(start); took > 200*time.Millisecond {
		t.Errorf("it took %s", took)
	}
	if _, err := guardOf("192.0.2.1", "::ffff:10.0.0.1").DialContext(t.Context(), "tcp", "host.example:80"); !errors.Is(err, netguard.ErrForbidden) {
		t.Errorf("only addresses that are not allowed: %v", err)
	}
	if _, err := guardOf("::1", "127.0.0.2").DialContext(t.Context(), "tcp", "host.example:1"); err == nil || errors.Is(err, netguard.ErrForbidden) {
		t.Errorf("only addresses that refuse: %v", err)
	}
	if _, err := guardOf().DialContext(t.Context(), "tcp", "host.example:1"); err == nil {
		t.Error("a host without addresses")
	}
}

// A silent address costs milliseconds: the next one is tried in parallel (RFC 8305 section 5).
func TestSilentAddress(t *testing.T) {
	port := listenAt(t, "127.0.0.1")
	silent := fullListener(t, port)
	start := time.Now()
	conn, err := guardOf(silent, "127.0.0.1").DialContext(t.Context(), "tcp", "host.example:"+port)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if got := conn.RemoteAddr().String(); got != "127.0.0.1:"+port {
		t.Errorf("connected to %s", got)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("it took %s", took)
	}
}

func TestNamesOfPorts(t *testing.T) {
	if _, err := guardOf("127.0.0.1").DialContext(t.Context(), "tcp", "host.example:nothing"); err == nil {
		t.Error("a port that does not exist")
	}
	if _, err := guardOf("127.0.0.1").DialContext(t.Context(), "tcp", "host.example"); err == nil {
		t.Error("an address without port")
	}
}
