package quota_test

import (
	"context"
	"errors"
	"net/netip"
	"testing"
	"testing/synctest"

	"github.com/urnd/urnd/internal/quota"
)

var (
	errClient = errors.New("the client has as much as it may")
	errFull   = errors.New("full")
)

func address(text string) netip.Addr { return netip.MustParseAddr(text) }

// TestNetwork checks that each notation of an address yields the same key.
func TestNetwork(t *testing.T) {
	for client, want := range map[string]string{
		"192.0.2.1":               "192.0.2.1",
		"::ffff:192.0.2.1":        "192.0.2.1", // RFC 4291 section 2.5.5.2
		"2001:db8:0:1:2:3:4:5":    "2001:db8:0:1::",
		"2001:db8:0:1::":          "2001:db8:0:1::",
		"fe80::1%eth0":            "fe80::",
		"::1":                     "::",
		"2001:db8:0:1:ffff::%any": "2001:db8:0:1::",
	} {
		if got := quota.Network(address(client)); got != address(want) {
			t.Errorf("%s: %s, want %s", client, got, want)
		}
	}
	if got := quota.Network(netip.Addr{}); got.IsValid() {
		t.Errorf("the zero value: %s", got)
	}
}

func TestSemaphore(t *testing.T) {
	s := make(quota.Semaphore, 2)
	for i, free := range []bool{true, true, false, false} {
		if s.TryAcquire() != free {
			t.Errorf("operation %d: %v", i, !free)
		}
	}
	s.Release()
	for i, free := range []bool{true, false} {
		if s.TryAcquire() != free {
			t.Errorf("operation %d, after another one: %v", i, !free)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errFull)
	if err := s.Acquire(ctx); !errors.Is(err, errFull) || len(s) != 2 {
		t.Errorf("the context has ended: %v, %d run", err, len(s))
	}
	var none quota.Semaphore
	if none.TryAcquire() {
		t.Error("the zero value admits an operation")
	}
	if s.Resized(2) != s || cap(s.Resized(3)) != 3 {
		t.Error("a new capacity keeps the semaphore, or the same one does not")
	}
}

func TestLimit(t *testing.T) {
	limit := quota.Limit{
		Semaphore: make(quota.Semaphore, 4), Clients: quota.NewClientLimits(2, 2, errClient),
		Busy: errFull,
	}
	a, b, c := address("192.0.2.1"), address("192.0.2.2"), address("192.0.2.3")
	var permits []quota.Permit
	acquire := func(client netip.Addr, want error) {
		t.Helper()
		p, err := limit.Acquire(client)
		if !errors.Is(err, want) || (err == nil) != (want == nil) {
			t.Errorf("%s: %v, want %v", client, err, want)
		}
		if err == nil {
			permits = append(permits, p)
		}
	}
	acquire(a, nil)
	acquire(a, nil)
	acquire(a, errClient)
	acquire(b, nil)
	acquire(b, nil)
	acquire(c, errFull)
	acquire(netip.Addr{}, errFull)
	permits[0].Release()
	acquire(b, errClient)
	acquire(netip.Addr{}, nil) // it has no quota
	acquire(a, errFull)
	for _, p := range permits[1:] {
		p.Release()
	}
	for range 2 { // failed acquisitions released nothing
		acquire(c, nil)
	}
	acquire(c, errClient)
	var none *quota.ClientLimits
	if p, err := none.Acquire(a); err != nil {
		t.Errorf("without a bound: %v", err)
	} else {
		p.Release()
	}
	var zero quota.Permit
	zero.Release()
	if _, err := (quota.Limit{}).Acquire(a); !errors.Is(err, quota.ErrBusy) {
		t.Errorf("the zero value: %v", err)
	}
}

// TestClientsOfNetworks checks the quotas of an IPv6 address and its /64 network: the quota of the network
// exceeds that of an address, so neighbors can share it, and a host with many addresses cannot exceed it. IPv4
// addresses have no network, IPv4-mapped ones included (RFC 4291 section 2.5.5.2).
func TestClientsOfNetworks(t *testing.T) {
	clients := quota.NewClientLimits(2, 3, errClient)
	var permits []quota.Permit
	for i, tt := range []struct {
		client string
		want   error
	}{
		{"2001:db8::1", nil},
		{"2001:db8::1%eth0", nil},
		{"2001:db8::1", errClient}, // quota of the address
		{"2001:db8::2", nil},       // a neighbor
		{"2001:db8::2", errClient}, // quota of the network
		{"2001:db8:0:0:ffff::9", errClient},
		{"2001:db8:0:1::1", nil}, // another network
		{"192.0.2.1", nil},
		{"::ffff:192.0.2.1", nil},
		{"192.0.2.1", errClient},
		{"::ffff:192.0.2.2", nil},
		{"::ffff:192.0.2.2", nil},
		{"::ffff:192.0.2.3", nil},
		{"::ffff:192.0.2.4", nil},
	} {
		p, err := clients.Acquire(address(tt.client))
		if !errors.Is(err, tt.want) || (err == nil) != (tt.want == nil) {
			t.Errorf("%d, %s: %v, want %v", i, tt.client, err, tt.want)
		}
		if err == nil {
			permits = append(permits, p)
		}
	}
	for _, p := range permits {
		p.Release()
	}
	for _, client := range []string{"2001:db8::3", "2001:db8::3", "2001:db8::4"} { // failures released nothing
		if _, err := clients.Acquire(address(client)); err != nil {
			t.Errorf("%s: %v", client, err)
		}
	}
	if _, err := clients.Acquire(address("2001:db8::5")); !errors.Is(err, errClient) {
		t.Errorf("beyond the bound of the network: %v", err)
	}
}

// TestLimitWait checks that a client waits for others in FIFO order, but not for its own quota.
func TestLimitWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limit := quota.Limit{
			Semaphore: make(quota.Semaphore, 1), Clients: quota.NewClientLimits(1, 1, errClient),
			Busy: errFull,
		}
		first, err := limit.Wait(t.Context(), address("192.0.2.1"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := limit.Wait(t.Context(), address("192.0.2.1")); !errors.Is(err, errClient) {
			t.Errorf("a client that has as much as it may: %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := limit.Wait(ctx, address("192.0.2.2")); !errors.Is(err, errFull) {
			t.Errorf("a client that has left: %v", err)
		}
		served := make(chan string, 2)
		for _, client := range []string{"192.0.2.2", "192.0.2.3"} {
			go func() {
				p, err := limit.Wait(t.Context(), address(client))
				if err != nil {
					t.Errorf("%s: %v", client, err)
				}
				served <- client
				p.Release()
			}()
			synctest.Wait()
		}
		first.Release()
		if a, b := <-served, <-served; a != "192.0.2.2" || b != "192.0.2.3" {
			t.Errorf("%s is served before %s", a, b)
		}
		synctest.Wait()
		if len(limit.Semaphore) != 0 {
			t.Errorf("%d are left", len(limit.Semaphore))
		}
	})
}

// TestLimitResized checks that unchanged parts of a limit keep their permits.
func TestLimitResized(t *testing.T) {
	per := quota.ClientQuota{Percent: 25, NetworkFactor: 3, Busy: errClient}
	limit := quota.Limit{Busy: errFull}.Resized(10, per)
	if address, network := limit.Clients.Bounds(); cap(limit.Semaphore) != 10 || address != 2 || network != 6 {
		t.Errorf("%d, of which an address may have %d, and a network %d", cap(limit.Semaphore), address, network)
	}
	if same := limit.Resized(10, per); same.Semaphore != limit.Semaphore || same.Clients != limit.Clients ||
		!errors.Is(same.Busy, errFull) {
		t.Error("the same limit is another one")
	}
	per.NetworkFactor = 4
	if other := limit.Resized(10, per); other.Semaphore != limit.Semaphore || other.Clients == limit.Clients {
		t.Error("another bound of a network changes more, or nothing")
	}
	for _, tt := range []struct{ n, percent, factor, address, network int }{
		{2, 1, 0, 1, 1}, // at least one
		{400, 10, 2, 40, 80},
	} {
		l := quota.Limit{}.Resized(tt.n, quota.ClientQuota{Percent: tt.percent, NetworkFactor: tt.factor})
		if address, network := l.Clients.Bounds(); address != tt.address || network != tt.network {
			t.Errorf("%+v: %d and %d", tt, address, network)
		}
	}
	if all := limit.Resized(10, quota.ClientQuota{Percent: 100}); all.Clients != nil {
		t.Error("100 percent is a bound")
	}
}

// TestLimitDoesNotAllocate is important because each forwarded request takes a permit.
func TestLimitDoesNotAllocate(t *testing.T) {
	limit := quota.Limit{}.Resized(8, quota.ClientQuota{Percent: 50, NetworkFactor: 2})
	for _, client := range []netip.Addr{address("192.0.2.1"), address("2001:db8::1")} {
		if n := testing.AllocsPerRun(100, func() {
			p, err := limit.Acquire(client)
			if err != nil {
				t.Fatal(err)
			}
			p.Release()
		}); n != 0 {
			t.Errorf("%s: %v allocations", client, n)
		}
	}
}
