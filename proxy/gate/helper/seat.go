package helper

import (
	"context"
	"errors"
	"time"
)

// errSeat is the error of a message in a conversation whose process is gone, or is another client's by now.
var errSeat = errors.New("the conversation with the helper is over")

// seat is a process, reserved for the client with whom it is in a conversation. nil is none.
type seat struct {
	process  *process
	deadline time.Time // guarded by Pool.mu
	over     bool      // guarded by Pool.mu
	leave    func()    // is called at its end; it may have been called before
}

// reserve asks like Ask, and reserves the process that has answered, until the caller releases it or its time is over: then leave is called,
// once at least. Where there is no reservation, it is called once the process is free of the question: or else a client could take all of them
// by leaving.
func (p *Pool) reserve(ctx context.Context, line string, leave func()) (string, *seat, error) {
	q := &question{line: line, hold: true, leave: leave}
	text, s, err := p.ask(ctx, q, p.enqueue)
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

// ask asks the reserved process.
func (s *seat) ask(ctx context.Context, line string) (string, error) {
	text, _, err := s.process.pool.ask(ctx, &question{line: line, hold: true}, func(q *question) error {
		if s.over || s.process.questions[0] != nil {
			return errSeat
		}
		s.process.place(q, 0)
		return nil
	})
	return text, err
}

// release ends the reservation. Where an answer is still to come, its process is free once that has come.
func (s *seat) release() {
	if s == nil {
		return
	}
	one := s.process
	one.pool.mu.Lock()
	defer one.pool.mu.Unlock()
	if s.over || one.questions[0] != nil {
		return
	}
	one.unseat()
	one.free = append(one.free, 0)
	one.pool.dispatch()
}

// unseat ends the reservation of a process; Pool.mu is held.
func (one *process) unseat() {
	if one.seat != nil {
		one.seat.over = true
		one.seat.leave()
		one.seat = nil
	}
}
