package quota_test

import (
	"context"
	"errors"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/urnd/urnd/internal/quota"
)

func TestMemory(t *testing.T) {
	const unit = quota.MemoryUnit
	a, b, c := address("192.0.2.1"), address("192.0.2.2"), address("192.0.2.3")
	limit := quota.Limit{
		Semaphore: make(quota.Semaphore, 10), Clients: quota.NewClientLimits(6, 6, errClient),
		Busy: errFull,
	}
	memory := quota.NewMemory(limit)
	reserve := func(client netip.Addr, bytes int64, want error, used int) *quota.Reservation {
		t.Helper()
		r, err := memory.Reserve(client, bytes)
		if got := len(limit.Semaphore); !errors.Is(err, want) || (err == nil) != (want == nil) || got != used {
			t.Errorf("%d bytes of %s: %v, want %v; %d units are used, want %d", bytes, client, err, want, got, used)
		}
		return &r
	}
	small := reserve(a, 4<<10, nil, 0)
	for _, bytes := range []int64{4<<10 + 1, 60 << 10, unit} { // small sizes are rounded up to a unit
		reserve(a, bytes, nil, 1).Release()
	}
	first := reserve(a, 4*unit, nil, 4)
	reserve(a, 3*unit, errClient, 4)
	second := reserve(b, 100*unit, nil, 10)
	reserve(c, unit, errFull, 10)
	if err := second.Resize(unit + 5); err != nil || len(limit.Semaphore) != 6 {
		t.Errorf("fewer: %v, %d units", err, len(limit.Semaphore))
	}
	if err := first.Resize(6 * unit); err != nil || len(limit.Semaphore) != 8 {
		t.Errorf("more: %v, %d units", err, len(limit.Semaphore))
	}
	if err := second.Resize(6 * unit); !errors.Is(err, errFull) || len(limit.Semaphore) != 6 {
		t.Errorf("too many: %v, %d units", err, len(limit.Semaphore))
	}
	for range 2 {
		first.Release()
		second.Release()
		small.Release()
	}
	if len(limit.Semaphore) != 0 {
		t.Errorf("%d units are left", len(limit.Semaphore))
	}
	for range 2 { // failed reservations released nothing
		reserve(a, 3*unit, nil, 3).Release()
	}
	var none *quota.Memory
	for _, unbounded := range []*quota.Memory{none, quota.NewMemory(quota.Limit{})} {
		if r, err := unbounded.Reserve(a, 1<<60); err != nil {
			t.Error(err)
		} else {
			r.Release()
		}
	}
	limit.Clients = nil
	memory = quota.NewMemory(limit)
	reserve(c, 100*unit, nil, 10)
}

// TestMemoryWait checks that a waiter gets memory as soon as enough is available, all or nothing, even if the
// client itself held it.
func TestMemoryWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const unit = quota.MemoryUnit
		limit := quota.Limit{
			Semaphore: make(quota.Semaphore, 4), Clients: quota.NewClientLimits(3, 3, errClient),
			Busy: errFull,
		}
		memory := quota.NewMemory(limit)
		a, b := address("192.0.2.1"), address("192.0.2.2")
		first, err := memory.Wait(t.Context(), a, 2*unit)
		if err != nil {
			t.Fatal(err)
		}
		for client, want := range map[netip.Addr]error{a: errClient, b: errFull} {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			started := time.Now()
			if _, err := memory.Wait(ctx, client, 3*unit); !errors.Is(err, want) ||
				time.Since(started) != 5*time.Second {
				t.Errorf("%s: %v after %s", client, err, time.Since(started))
			}
			cancel()
		}
		var got []netip.Addr
		for _, client := range []netip.Addr{a, b} {
			go func() {
				r, err := memory.Wait(t.Context(), client, 3*unit)
				if err != nil {
					t.Errorf("%s: %v", client, err)
				}
				got = append(got, client)
				time.Sleep(time.Minute)
				r.Release()
			}()
		}
		synctest.Wait()
		if err := first.Resize(unit); err != nil { // now enough for b, but not for a
			t.Error(err)
		}
		synctest.Wait()
		if len(got) != 1 || got[0] != b || len(limit.Semaphore) != 4 {
			t.Errorf("%v have memory, %d units are used", got, len(limit.Semaphore))
		}
		first.Release()
		time.Sleep(3 * time.Minute)
		synctest.Wait()
		if len(got) != 2 || len(limit.Semaphore) != 0 {
			t.Errorf("%v had memory, %d units are used", got, len(limit.Semaphore))
		}
	})
}

func TestMemoryResized(t *testing.T) {
	per := quota.ClientQuota{Percent: 25, NetworkFactor: 2, Busy: errClient}
	var none *quota.Memory
	memory := none.Resized(100*quota.MemoryUnit, per)
	if none.WithBusy(errFull) != nil {
		t.Error("nil has a bound")
	}
	limit := memory.WithBusy(errFull).Limit()
	if cap(limit.Semaphore) != 100 || !errors.Is(limit.Busy, errFull) || limit.Semaphore != memory.Limit().Semaphore {
		t.Errorf("%d units, %v", cap(limit.Semaphore), limit.Busy)
	}
	if memory.Resized(100*quota.MemoryUnit, per) != memory {
		t.Error("the same memory is another one")
	}
	per.Percent = 30
	if other := memory.Resized(100*quota.MemoryUnit, per); other == memory ||
		other.Limit().Semaphore != memory.Limit().Semaphore {
		t.Error("another bound of a client changes more, or nothing")
	}
	if other := memory.Resized(99*quota.MemoryUnit, per); cap(other.Limit().Semaphore) != 99 {
		t.Error("the size is unchanged")
	}
}
