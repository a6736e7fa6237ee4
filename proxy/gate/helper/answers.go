package helper

import (
	"strconv"
	"strings"
	"time"
)

// maxChannel is the most digits of a channel-ID.
const maxChannel = 10

// answer delivers an answer of a process. more is whether further output follows already. An error means that
// the process must be stopped: without channel-IDs, an unrequested line could be taken for the next answer.
func (p *Pool) answer(one *process, text string, more bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.config.Concurrency == 0 {
		if one.queries[0] == nil {
			return errStray
		}
		p.deliver(one, 0, text, more)
		if more {
			return errStray
		}
		p.dispatch()
		return nil
	}
	number, text, _ := strings.Cut(text, " ")
	channel, ok := parseChannel(number, len(one.queries))
	if !ok || one.queries[channel] == nil {
		if one.strays++; one.strays > maxStrays {
			return errStray
		}
		if log, ok := p.lines.allow("pid", one.cmd.Process.Pid); ok {
			log.Warn("unexpected helper response dropped")
		}
		return nil
	}
	p.deliver(one, channel, text, false)
	p.dispatch()
	return nil
}

// parseChannel parses a channel-ID below n.
func parseChannel(text string, n int) (channel int, ok bool) {
	channel, err := strconv.Atoi(text)
	return channel, err == nil && len(text) <= maxChannel && text[0] != '+' && text[0] != '-' && channel < n
}

// deliver settles a question with its answer, and frees its channel, unless the question reserves the
// process; p.mu is held. If the process gets no more questions (last), the channel is not freed.
func (p *Pool) deliver(one *process, channel int, text string, last bool) {
	q := one.lift(channel)
	one.answers++
	p.recovered(one)
	r := reply{text: text}
	if q.hold && !q.settled && !last {
		if one.reservation == nil {
			one.reservation = &reservation{process: one, leave: q.leave}
		}
		one.reservation.deadline = p.config.Now().Add(p.config.ReservationTimeout)
		r.reservation = one.reservation
		one.wakeUp()
	}
	q.settle(r)
	if r.reservation == nil {
		one.unseat()
		q.end()
		if !last {
			one.free = append(one.free, channel)
		}
	}
}

// expire ends the questions and the reservation of a process whose deadline has passed, and returns the time
// until the next deadline; ok is false if there is none. A channel whose answer is late stays occupied until
// the answer arrives; if all channels are, the process is killed.
func (p *Pool) expire(one *process) (next time.Duration, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now, expired := p.config.Now(), 0
	for _, q := range one.queries {
		if q == nil {
			continue
		}
		left := q.deadline.Sub(now)
		if left > 0 {
			if !ok || left < next {
				next, ok = left, true
			}
			continue
		}
		if !q.expired {
			q.expired = true
			p.counts.TimedOut++
			p.fail(q, ErrTimeout)
		}
		expired++
	}
	if expired == len(one.queries) {
		p.remove(one)
		one.stop(ErrTimeout)
		return 0, false
	}
	if s := one.reservation; s != nil && one.queries[0] == nil {
		left := s.deadline.Sub(now)
		if left <= 0 {
			one.unseat()
			one.free = append(one.free, 0)
			p.dispatch()
			return next, ok
		}
		next, ok = left, true
	}
	return next, ok
}
