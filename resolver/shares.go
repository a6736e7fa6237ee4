package resolver

import (
	"cmp"
	"net/netip"
	"sync"
)

// Shares bound how much of a limit one client holds, so that none can take all of it. A nil
// *Shares bounds nothing. They are safe for concurrent use.
type Shares struct {
	most int
	busy error

	mu   sync.Mutex
	held map[netip.Addr]int
}

// NewShares returns Shares of at most a number of slots for each client. busy is the error for
// a client that has as many.
func NewShares(most int, busy error) *Shares {
	return &Shares{most: most, busy: busy, held: make(map[netip.Addr]int)}
}

// Most returns the number of slots that a client may have.
func (s *Shares) Most() int { return s.most }

// Acquire takes a slot of the share of a client, the zero value of which has no share. The
// caller must call release once, unless there is an error.
func (s *Shares) Acquire(client netip.Addr) (release func(), err error) {
	if s == nil || !client.IsValid() {
		return func() {}, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held[client] >= s.most {
		return nil, s.busy
	}
	s.held[client]++
	return func() { s.release(client) }, nil
}

func (s *Shares) release(client netip.Addr) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held[client]--; s.held[client] == 0 {
		delete(s.held, client)
	}
}

// Quota is a limit of concurrent operations, of which each client has a share.
type Quota struct {
	Slots  Slots
	Shares *Shares
	Busy   error // where no slot is free; nil is ErrBusy
}

// Acquire takes a slot without waiting. The caller must call release once, unless there is an
// error.
func (q Quota) Acquire(client netip.Addr) (release func(), err error) {
	leave, err := q.Shares.Acquire(client)
	if err != nil {
		return nil, err
	}
	if !q.Slots.TryAcquire() {
		leave()
		return nil, cmp.Or(q.Busy, ErrBusy)
	}
	return func() {
		q.Slots.Release()
		leave()
	}, nil
}
