package valkey

import (
	"math/bits"
	"sync"
	"time"
)

// pace is how long the server takes to answer (RFC 6298 section 2), and for how many of the last questions that was
// too long. It is safe for concurrent use.
type pace struct {
	mu              sync.Mutex
	mean, deviation time.Duration
	late            uint16 // a bit for each of the last questions, set where the reply was too late
}

const (
	mostTimeouts = 4 // of Config.Timeout, how long a question may take at most
	mostLate     = 8 // of the last 16 questions, after which the server is not asked any more
)

// limit returns how long a question may take: as long as nearly all of them took, but at least a time, and at most
// mostTimeouts times that.
func (p *pace) limit(timeout time.Duration) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return min(max(timeout, p.mean+4*p.deviation), mostTimeouts*timeout)
}

// took notes how long a question took that was answered.
func (p *pace) took(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mean == 0 {
		p.mean, p.deviation = d, d/2
		return
	}
	p.deviation += ((p.mean - d).Abs() - p.deviation) / 4
	p.mean += (d - p.mean) / 8
}

// asked notes whether the reply to a question was too late, and reports whether too many were.
func (p *pace) asked(isLate bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.late <<= 1
	if isLate {
		p.late |= 1
	}
	return bits.OnesCount16(p.late) >= mostLate
}

// begin forgets replies that were too late.
func (p *pace) begin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.late = 0
}
