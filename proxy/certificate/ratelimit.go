package certificate

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	// rateLimit is the minimum pause after the authority has reported that its rate limit was exceeded (RFC
	// 8555 section 6.6).
	rateLimit = time.Hour
	// maxRateLimit is the maximum pause for a Retry-After: the longest rate limit period of Let's Encrypt.
	maxRateLimit = 7 * 24 * time.Hour
)

// limit is a pause of all requests to the authority. It is safe for concurrent use.
type limit struct {
	now func() time.Time

	mu     sync.Mutex
	resume time.Time // the zero value is no pause
}

// extend pauses all requests for d, unless they are already paused for longer.
func (l *limit) extend(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if until := l.now().Add(d); until.After(l.resume) {
		l.resume = until
	}
}

// pause returns the remaining time of the pause, 0 for none.
func (l *limit) pause() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return max(0, l.resume.Sub(l.now()))
}

// limitTransport extends a limit for each response 429 Too Many Requests (RFC 6585 section 4). Errors of the
// library have no header fields, and so no Retry-After.
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

// retryAfter returns the duration of a Retry-After field value (RFC 9110 section 10.2.3), at most maxRateLimit,
// and 0 for a missing or invalid one.
func retryAfter(value string, now time.Time) time.Duration {
	value = strings.TrimSpace(value)
	if value != "" && strings.Trim(value, "0123456789") == "" {
		seconds, err := strconv.ParseInt(value, 10, 64)
		if err != nil || seconds > int64(maxRateLimit/time.Second) { // an error means more than 64 bits
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
