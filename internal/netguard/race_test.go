package netguard_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/netguard"
)

// listenAt opens a listener and returns its port.
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

// timeout is the time limit to connect.
const timeout = time.Minute

// guardOf returns a guard that resolves every host to these addresses.
func guardOf(addresses ...string) *netguard.Guard {
	var addrs []netip.Addr
	for _, a := range addresses {
		addrs = append(addrs, netip.MustParseAddr(a))
	}
	return netguard.New(timeout, netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")).
		WithLookup(func(context.Context, string) ([]netip.Addr, error) { return addrs, nil })
}

// TestNextAddress checks that an address that refuses connections causes no delay, and that a forbidden address
// is not tried.
func TestNextAddress(t *testing.T) {
	port := listenAt(t, "127.0.0.1")
	addresses := []string{"::1", "192.0.2.1"}
	for i := range 13 { // together the maximum number of attempts
		addresses = append(addresses, fmt.Sprintf("127.0.0.%d", i+2))
	}
	start := time.Now()
	for _, address := range addresses[2:] {
		if conn, err := net.Dial("tcp", net.JoinHostPort(address, port)); err == nil {
			conn.Close()
			t.Fatalf("%s does not refuse", address)
		}
	}
	alone := time.Since(start)
	start = time.Now()
	conn, err := guardOf(append(addresses, "127.0.0.1")...).DialContext(t.Context(), "tcp", "host.example:"+port)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if got := conn.RemoteAddr().String(); got != "127.0.0.1:"+port {
		t.Errorf("connected to %s", got)
	}
	const delay = 250 * time.Millisecond // Connection Attempt Delay: RFC 8305 section 5
	if took := time.Since(start); took > 10*alone+13*delay/2 {
		t.Errorf("it took %s, without the guard %s", took, alone)
	}
	if _, err := guardOf("192.0.2.1", "::ffff:10.0.0.1").DialContext(t.Context(), "tcp",
		"host.example:80"); !errors.Is(err, netguard.ErrForbidden) {
		t.Errorf("only addresses that are not allowed: %v", err)
	}
	if _, err := guardOf("::1", "127.0.0.2").DialContext(t.Context(), "tcp", "host.example:1"); err == nil ||
		errors.Is(err, netguard.ErrForbidden) {
		t.Errorf("only addresses that refuse: %v", err)
	}
	if _, err := guardOf().DialContext(t.Context(), "tcp", "host.example:1"); err == nil {
		t.Error("a host without addresses")
	}
}

// TestSilentAddress checks that an unresponsive address only delays by milliseconds, because the next one is
// tried in parallel (RFC 8305 section 5).
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
	if took := time.Since(start); took > timeout/2 {
		t.Errorf("it took %s, as if it had waited for the silent one", took)
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
