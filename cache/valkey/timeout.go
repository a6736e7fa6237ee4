package valkey

import (
	"math/bits"
	"sync"
	"time"
)

// timeoutEstimator estimates the response time of the server (RFC 6298 section 2), and counts the timeouts among the
// last queries. It is safe for concurrent use.
type timeoutEstimator struct {
	mu              sync.Mutex
	mean, deviation time.Duration
	late            uint16 // one bit for each of the last queries, set after a timeout
}

const (
	mostTimeouts = 4 // maximum time of a query, in multiples of Config.Timeout
	mostLate     = 8 // timeouts among the last 16 queries that open the circuit breaker
)

// limit returns the time limit of a query: long enough for nearly all queries, at least timeout, and at most
// mostTimeouts times that.
func (p *timeoutEstimator) limit(timeout time.Duration) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return min(max(timeout, p.mean+4*p.deviation), mostTimeouts*timeout)
}

// observe records the duration of an answered query.
func (p *timeoutEstimator) observe(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mean == 0 {
		p.mean, p.deviation = d, d/2
		return
	}
	p.deviation += ((p.mean - d).Abs() - p.deviation) / 4
	p.mean += (d - p.mean) / 8
}

// timedOut records whether a query timed out, and reports whether too many did.
func (p *timeoutEstimator) timedOut(late bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.late <<= 1
	if late {
		p.late |= 1
	}
	return bits.OnesCount16(p.late) >= mostLate
}

// begin clears the recorded timeouts.
func (p *timeoutEstimator) begin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.late = 0
}
