package helper

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// query is a line that waits for its answer. Its fields are guarded by Pool.mu.
type query struct {
	line  string
	hold  bool       // the process stays reserved after the answer
	leave func()     // called at the end of its reservation; nil if it starts none
	reply chan reply // buffered, for the one reply

	placed   bool // assigned to a process
	settled  bool // has its reply, or is abandoned by its caller
	expired  bool // its deadline has passed, and its answer may still arrive
	deadline time.Time
}

// reply is the answer to a question, with the reservation of its process if the question has hold.
type reply struct {
	text        string
	reservation *reservation
	err         error
}

// settle sends a question its reply, unless it is settled; Pool.mu is held.
func (q *query) settle(r reply) bool {
	if q.settled {
		return false
	}
	q.settled = true
	q.reply <- r
	return true
}

// end calls leave for a question that starts no reservation; Pool.mu is held.
func (q *query) end() {
	if q.leave != nil {
		q.leave()
	}
}

// Query sends a line, without newline, and returns the answer. An answer BH is an error; all errors but ErrLine and the
// cause of the end of ctx wrap ErrUnavailable. The end of ctx abandons the question, whose late answer is dropped.
func (p *Pool) Query(ctx context.Context, line string) (Answer, error) {
	text, _, err := p.query(ctx, &query{line: line}, p.enqueue)
	if err != nil {
		return Answer{}, err
	}
	return p.parse(text)
}

// parse parses an answer. An invalid one is an error, which does not quote the answer: programs may repeat passwords.
func (p *Pool) parse(text string) (Answer, error) {
	a := parseAnswer(text)
	switch a.Result {
	case BH:
		if a.Message() == errSuccess.message {
			return Answer{}, fmt.Errorf("helper %s: %w", p.config.Name, errSuccess)
		}
		return Answer{}, fmt.Errorf("helper %s: %w: %q", p.config.Name, ErrBroken, a.Message())
	case unknown:
		return Answer{},
			fmt.Errorf("helper %s: %w: its response of %d bytes does not begin with a result such as OK or ERR",
				p.config.Name, ErrBroken, len(text))
	}
	return a, nil
}

// query starts a question by begin, with Pool.mu held, and waits for its reply.
func (p *Pool) query(ctx context.Context, q *query, begin func(*query) error) (string, *reservation, error) {
	if len(q.line)+maxChannel+2 > MaxLine || strings.ContainsAny(q.line, "\n\r\x00") {
		return "", nil, ErrLine
	}
	if ctx.Err() != nil {
		return "", nil, context.Cause(ctx)
	}
	q.reply = make(chan reply, 1)
	p.mu.Lock()
	p.counts.Queries++
	err := begin(q)
	if err != nil {
		p.counts.Failed++
	}
	p.mu.Unlock()
	if err != nil {
		return "", nil, fmt.Errorf("helper %s: %w", p.config.Name, err)
	}
	return p.wait(ctx, q)
}

// wait waits for the reply to a question.
func (p *Pool) wait(ctx context.Context, q *query) (string, *reservation, error) {
	// Until a process is assigned: then the watch of the process enforces the deadline.
	timer := time.NewTimer(p.config.Timeout)
	defer timer.Stop()
	for {
		select {
		case r := <-q.reply:
			if r.err != nil {
				return "", nil, fmt.Errorf("helper %s: %w", p.config.Name, r.err)
			}
			return r.text, r.reservation, nil
		case <-timer.C:
			p.mu.Lock()
			if p.dequeue(q) {
				p.fail(q, ErrBusy)
			}
			p.mu.Unlock()
		case <-ctx.Done():
			p.mu.Lock()
			p.dequeue(q)
			q.settled = true
			p.mu.Unlock()
			select {
			case r := <-q.reply: // arrived at the same time
				r.reservation.release()
			default:
			}
			return "", nil, context.Cause(ctx)
		}
	}
}

// enqueue assigns a question to a process, or queues it; p.mu is held.
func (p *Pool) enqueue(q *query) error {
	if p.closed {
		return ErrClosed
	}
	if len(p.queue) == 0 {
		if one := p.idlest(); one != nil {
			one.place(q, one.take())
			p.grow()
			return nil
		}
	}
	p.queue = append(p.queue, q)
	p.grow()
	switch {
	case len(p.processes)+p.starting == 0:
		p.dequeue(q)
		return fmt.Errorf("%w: %s", ErrUnavailable, p.outageText())
	case len(p.queue) > p.config.Backlog+p.starting*p.config.channels():
		p.dequeue(q)
		return ErrBusy
	}
	return nil
}

// dequeue removes a question from the queue, and reports whether it was queued; p.mu is held.
func (p *Pool) dequeue(q *query) bool {
	at := slices.Index(p.queue, q)
	if at >= 0 {
		p.queue = slices.Delete(p.queue, at, at+1)
	}
	return at >= 0
}

// dispatch assigns queued questions to processes, and starts more processes if needed; p.mu is held.
func (p *Pool) dispatch() {
	for len(p.queue) > 0 {
		one := p.idlest()
		if one == nil {
			break
		}
		q := p.queue[0]
		p.queue = slices.Delete(p.queue, 0, 1)
		one.place(q, one.take())
	}
	p.grow()
	if len(p.processes)+p.starting == 0 && len(p.queue) > 0 {
		p.failQueue(fmt.Errorf("%w: %s", ErrUnavailable, p.outageText()))
	}
}

// idlest returns the process with the most free channels, nil if none has one; p.mu is held.
func (p *Pool) idlest() (best *process) {
	for _, one := range p.processes {
		if len(one.free) > 0 && (best == nil || len(one.free) > len(best.free)) {
			best = one
		}
	}
	return best
}

// fail settles a question with an error, unless it is settled; p.mu is held.
func (p *Pool) fail(q *query, err error) {
	if q.settle(reply{err: err}) {
		p.counts.Failed++
	}
}

// failQueue fails all queued questions; p.mu is held.
func (p *Pool) failQueue(err error) {
	for _, q := range p.queue {
		p.fail(q, err)
	}
	p.queue = nil
}

// failAll fails the questions of a process, and ends its reservation; p.mu is held.
func (p *Pool) failAll(one *process, err error) {
	for channel, q := range one.queries {
		if q != nil {
			p.fail(q, err)
			one.lift(channel)
			q.end()
		}
	}
	one.free = nil
	one.unseat()
}
