package certificate

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	// rateLimit is the least time that the authority is not asked after it answered that it was asked too often
	// (RFC 8555 section 6.6).
	rateLimit = time.Hour
	// maxRateLimit bounds what a Retry-After may demand: the longest period of limits of Let's Encrypt.
	maxRateLimit = 7 * 24 * time.Hour
)

// limit is until when the authority is not asked. It is safe for concurrent use.
type limit struct {
	now func() time.Time

	mu     sync.Mutex
	resume time.Time // the zero value: it may be asked
}

// extend pauses all requests for a duration, unless they are paused for longer already.
func (l *limit) extend(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if until := l.now().Add(d); until.After(l.resume) {
		l.resume = until
	}
}

// pause returns for how long the authority is not asked.
func (l *limit) pause() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return max(0, l.resume.Sub(l.now()))
}

// limitTransport extends a limit by each response 429 Too Many Requests (RFC 6585 section 4): errors of the library
// have no header fields, thus no Retry-After.
type limitTransport struct {
	http.RoundTripper
	limit *limit
}

// RoundTrip implements http.RoundTripper.
func (t *limitTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := t.RoundTripper.RoundTrip(r)
	if err == nil && response.StatusCode == http.StatusTooManyRequests {
		t.limit.extend(max(rateLimit, retryAfter(response.Header.Get("Retry-After"), t.limit.now())))
	}
	return response, err
}

// retryAfter returns the duration of a Retry-After field (RFC 9110 section 10.2.3), at most maxRateLimit, and 0 for one
// that is missing or invalid.
func retryAfter(value string, now time.Time) time.Duration {
	value = strings.TrimSpace(value)
	if value != "" && strings.Trim(value, "0123456789") == "" {
		seconds, err := strconv.ParseInt(value, 10, 64)
		if err != nil || seconds > int64(maxRateLimit/time.Second) { // err: more than 64 bits
			return maxRateLimit
		}
		return time.Duration(seconds) * time.Second
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	return min(max(at.Sub(now), 0), maxRateLimit)
}
