package health

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	// usualRetry is how long a server is left alone that does not say for how long it wants to be.
	usualRetry = time.Minute
	// maxRetry bounds how long a server may want to be left alone.
	maxRetry = time.Hour
)

// retryAfter returns how long a server wants to be left alone (RFC 9110 section 10.2.3), within bounds.
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
