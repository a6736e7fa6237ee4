package helper

import (
	"context"
	"errors"
	"time"
)

// errReserved is the error of a message in a conversation whose process has ended, or whose reservation has.
var errReserved = errors.New("the conversation with the helper has ended")

// reservation is the reservation of a process for the conversation with a client. nil is none.
type reservation struct {
	process  *process
	deadline time.Time // guarded by Pool.mu
	over     bool      // guarded by Pool.mu
	leave    func()    // called at its end; it may have been called before
}

// reserve is Query that also reserves the process, until the caller releases it or the reservation times out:
// then leave is called at least once. Without a reservation, leave is called when the process is free of the
// question: otherwise a client could occupy all processes by disconnecting.
func (p *Pool) reserve(ctx context.Context, line string, leave func()) (string, *reservation, error) {
	q := &query{line: line, hold: true, leave: leave}
	text, s, err := p.query(ctx, q, p.enqueue)
	if s != nil {
		return text, s, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !q.placed {
		leave()
	}
	return text, nil, err
}

// query asks the reserved process.
func (s *reservation) query(ctx context.Context, line string) (string, error) {
	text, _, err := s.process.pool.query(ctx, &query{line: line, hold: true}, func(q *query) error {
		if s.over || s.process.queries[0] != nil {
			return errReserved
		}
		s.process.place(q, 0)
		return nil
	})
	return text, err
}

// release ends the reservation. If an answer is outstanding, the process is freed when it arrives.
func (s *reservation) release() {
	if s == nil {
		return
	}
	one := s.process
	one.pool.mu.Lock()
	defer one.pool.mu.Unlock()
	if s.over || one.queries[0] != nil {
		return
	}
	one.unseat()
	one.free = append(one.free, 0)
	one.pool.dispatch()
}

// unseat ends the reservation of a process; Pool.mu is held.
func (one *process) unseat() {
	if one.reservation != nil {
		one.reservation.over = true
		one.reservation.leave()
		one.reservation = nil
	}
}
