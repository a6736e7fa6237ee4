package health

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	// usualRetry is the delay after an overload status (429, 503) without a valid Retry-After.
	usualRetry = time.Minute
	// maxRetry bounds the delay that a server can request.
	maxRetry = time.Hour
)

// retryAfter parses a value of Retry-After (RFC 9110 section 10.2.3) as a delay, within bounds.
func retryAfter(value string, now time.Time) time.Duration {
	value = strings.TrimSpace(value)
	if n, err := strconv.ParseUint(value, 10, 64); err == nil {
		return time.Duration(min(n, uint64(maxRetry/time.Second))) * time.Second
	}
	if strings.Trim(value, "0123456789") == "" && value != "" {
		return maxRetry // more than 64 bits
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return usualRetry
	}
	return min(max(at.Sub(now), 0), maxRetry)
}
