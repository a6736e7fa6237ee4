package netguard_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/internal/quota"
)

func TestCheck(t *testing.T) {
	guard := netguard.New(time.Second, netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("fd00::/8"))
	for addr, allowed := range map[string]bool{
		"93.184.215.14": true, "2606:2800:21f:cb07:6820:80da:af6b:8b2c": true, "10.1.2.3": true,
		"::ffff:10.1.2.3": true, "fd00::1": true, "127.0.0.1": false, "127.255.255.254": false, "0.0.0.0": false,
		"10.0.0.1": false, "172.31.0.1": false, "192.168.1.1": false, "169.254.169.254": false, "100.64.0.1": false,
		"224.0.0.1": false, "255.255.255.255": false, "::": false, "::1": false, "::ffff:127.0.0.1": false,
		"::ffff:169.254.169.254": false, "::127.0.0.1": false, "fe80::1": false, "fe80::1%lo": false, "fc00::1": false,
		"ff02::1": false, "64:ff9b::7f00:1": false, "2002:7f00:1::": false, "168.63.129.16": false,
		"::ffff:0:127.0.0.1": false,
	} {
		err := guard.Check(netip.AddrPortFrom(netip.MustParseAddr(addr), 80))
		if (err == nil) != allowed || err != nil && !errors.Is(err, netguard.ErrForbidden) {
			t.Errorf("%s: %v", addr, err)
		}
	}
}

// TestPorts checks that a record cannot refer to a mail server; allowed networks have no port restriction.
func TestPorts(t *testing.T) {
	guard := netguard.New(time.Second, netip.MustParsePrefix("10.0.0.0/8"))
	for address, allowed := range map[string]bool{
		"93.184.215.14:80": true, "93.184.215.14:443": true, "93.184.215.14:8080": true, "93.184.215.14:1024": true,
		"[2606:2800:21f::1]:70": true, "93.184.215.14:25": false, "93.184.215.14:22": false, "93.184.215.14:0": false,
		"[2606:2800:21f::1]:587": false,
		"10.0.0.1:25":            true,
	} {
		if err := guard.Check(netip.MustParseAddrPort(address)); (err == nil) != allowed ||
			err != nil && !errors.Is(err, netguard.ErrForbidden) {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestOnly(t *testing.T) {
	guard := netguard.NewAllowlist(time.Second, netip.MustParseAddr("127.0.0.53"))
	if err := guard.Check(netip.MustParseAddrPort("127.0.0.53:53")); err != nil {
		t.Error(err)
	}
	for _, addr := range []string{"127.0.0.1", "93.184.215.14"} {
		if err := guard.Check(netip.AddrPortFrom(netip.MustParseAddr(addr), 80)); !errors.Is(err,
			netguard.ErrForbidden) {
			t.Errorf("%s: %v", addr, err)
		}
	}
}

// TestDialContext checks that the dialed address is checked, not the name.
func TestDialContext(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	address := listener.Addr().String()
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{address, "localhost:" + port} {
		conn, err := netguard.New(time.Second).DialContext(t.Context(), "tcp", address)
		if err == nil {
			conn.Close()
		}
		if !errors.Is(err, netguard.ErrForbidden) {
			t.Errorf("%s: %v", address, err)
		}
		conn, err = netguard.New(time.Second, netip.MustParsePrefix("127.0.0.0/8"),
			netip.MustParsePrefix("::1/128")).DialContext(t.Context(), "tcp", address)
		if err != nil {
			t.Errorf("%s: %v", address, err)
			continue
		}
		conn.Close()
	}
}

// TestIdleTimeout checks that reading from a silent server ends at the idle timeout.
func TestIdleTimeout(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	guard := netguard.New(time.Second, netip.MustParsePrefix("127.0.0.0/8"))
	conn, err := guard.WithIdleTimeout(time.Millisecond)(t.Context(), "tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var timeout net.Error
	if _, err := conn.Read(make([]byte, 1)); !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Errorf("reading: %v", err)
	}
}

// TestIdleTimeoutKeepsDeadlines checks that an earlier deadline takes precedence over the idle timeout.
func TestIdleTimeoutKeepsDeadlines(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	guard := netguard.New(time.Second, netip.MustParsePrefix("127.0.0.0/8"))
	conn, err := guard.WithIdleTimeout(time.Hour)(t.Context(), "tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for name, set := range map[string]func(time.Time) error{
		"SetDeadline":     conn.SetDeadline,
		"SetReadDeadline": conn.SetReadDeadline,
	} {
		if err := set(time.Unix(1, 0)); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestIdleTimeoutWhileWriting checks that a connection with writes is not idle. It increases the timeout on a
// loaded machine, where some writes are late.
func TestIdleTimeoutWhileWriting(t *testing.T) {
	for timeout := 200 * time.Millisecond; ; timeout *= 2 {
		late, err := readWhileWriting(t, timeout)
		if err == nil {
			return
		}
		if late < timeout/2 || timeout > time.Minute {
			t.Fatalf("reading, while writing every %s at least: %v", late, err)
		}
	}
}

// readWhileWriting reads from a connection with an idle timeout while writing for three times as long. It
// returns the longest time between two writes, and the error of reading if it fails before the writing ends.
func readWhileWriting(t *testing.T, timeout time.Duration) (late time.Duration, err error) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	guard := netguard.New(time.Second, netip.MustParsePrefix("127.0.0.0/8"))
	conn, err := guard.WithIdleTimeout(timeout)(t.Context(), "tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	written := time.NewTimer(3 * timeout)
	defer written.Stop()
	tick := time.NewTicker(timeout / 20)
	defer tick.Stop()
	failed := make(chan error, 1)
	last := time.Now()
	go func() {
		_, err := conn.Read(make([]byte, 1))
		failed <- err
	}()
	for {
		select {
		case <-tick.C:
			late, last = max(late, time.Since(last)), time.Now()
			if _, err := conn.Write([]byte("a")); err != nil {
				t.Fatal(err)
			}
			continue
		case err := <-failed:
			return max(late, time.Since(last)), err
		case <-written.C:
		}
		break
	}
	if err := <-failed; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("reading: %v", err)
	}
	return late, nil
}

// TestBounded checks that the number of open connections does not exceed that of the slots.
func TestBounded(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	guard := netguard.New(time.Second, netip.MustParsePrefix("127.0.0.0/8")).WithLimiter(make(quota.Semaphore, 1))
	first, err := guard.DialContext(t.Context(), "tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := guard.DialContext(ctx, "tcp", listener.Addr().String()); !errors.Is(err, context.DeadlineExceeded) ||
		!strings.HasPrefix(err.Error(),
			"waiting ") {
		t.Errorf("a second one: %v", err)
	}
	first.Close()
	first.Close()
	if _, err := guard.DialContext(t.Context(), "tcp", "127.0.0.1:1"); err == nil {
		t.Error("port 1 answers")
	}
	second, err := guard.DialContext(t.Context(), "tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	second.Close()
}

// TestWithLookup checks that a host is looked up by the given function, and that its error is reported with the
// host.
func TestWithLookup(t *testing.T) {
	failed := errors.New("server 192.0.2.53: refused")
	guard := netguard.New(time.Second).WithLookup(func(context.Context, string) ([]netip.Addr, error) {
		return nil, failed
	})
	if _, err := guard.DialContext(t.Context(), "tcp", "www.example.org:80"); !errors.Is(err,
		failed) || err.Error() != "connecting to www.example.org:80: looking up the host: server 192.0.2.53: refused" {
		t.Errorf("%v", err)
	}
}

// TestAddressesAreHidden checks that an error for a name omits addresses except in the log, and that one for an
// address contains it.
func TestAddressesAreHidden(t *testing.T) {
	for _, tt := range []struct {
		address  string
		addrs    []string
		allow    string
		text     string
		detailed string
	}{
		{"intranet.example:80", []string{"10.1.2.3"}, "", "its address is private", "10.1.2.3 is private"},
		{"intranet.example:80", []string{"fd00::77", "10.1.2.3"}, "", "its address is private", "10.1.2.3 is private"},
		{"here.example:1", []string{"127.0.0.9"}, "127.0.0.0/8", "connection refused", "127.0.0.9:1"},
		{"here.example:1", []string{"127.0.0.9", "127.0.0.8"}, "127.0.0.0/8", "connection refused", "127.0.0.8:1"},
		{"127.0.0.9:1", nil, "127.0.0.0/8", "127.0.0.9:1: connect: connection refused", ""},
		{"10.1.2.3:80", nil, "", "10.1.2.3 is private", ""},
	} {
		var allow []netip.Prefix
		if tt.allow != "" {
			allow = append(allow, netip.MustParsePrefix(tt.allow))
		}
		guard := netguard.New(time.Second,
			allow...).WithLookup(func(context.Context, string) (found []netip.Addr, err error) {
			for _, addr := range tt.addrs {
				found = append(found, netip.MustParseAddr(addr))
			}
			return found, nil
		})
		_, err := guard.DialContext(t.Context(), "tcp", tt.address)
		if err == nil || !strings.Contains(err.Error(), tt.text) || !strings.Contains(netguard.Detail(err),
			tt.detailed) || (netguard.Detail(err) == "") != (tt.detailed == "") {
			t.Errorf("%s: %v, and %q in the log", tt.address, err, netguard.Detail(err))
		}
		for _, addr := range tt.addrs {
			if strings.Contains(err.Error(), addr) {
				t.Errorf("%s: %v", tt.address, err)
			}
		}
	}
}

// TestErrorsOfConnectionsHideAddresses checks that errors of an established connection to a name omit
// addresses, too.
func TestErrorsOfConnectionsHideAddresses(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	guard := netguard.New(time.Second,
		netip.MustParsePrefix("127.0.0.0/8")).WithLookup(func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
	})
	conn, err := guard.DialContext(t.Context(), "tcp", "here.example:"+port)
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.SetDeadline(time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	_, reading := conn.Read(make([]byte, 1))
	_, writing := conn.Write([]byte("a"))
	for _, err := range []error{reading, writing} {
		if err == nil || strings.Contains(err.Error(), "127.0.0.1") || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	}
	conn.Close()
}
