package httpmessage

import (
	"math/rand/v2"
	"strings"
)

// RequestIDField is the field of the request identifier, between proxies and in responses.
const RequestIDField = "X-Request-Id"

// RequestID returns the request identifier that a request has come with if that is from a proxy which is trusted, or else a new
// one.
func RequestID(came string, trusted bool) string {
	if trusted && ValidRequestID(came) {
		return came
	}
	return string(AppendRequestID(nil))
}

// AppendRequestID appends a new request identifier to dst.
func AppendRequestID(dst []byte) []byte {
	const digits = "0123456789abcdef"
	id := rand.Uint64() //nolint:gosec // it need not be secret
	for shift := 60; shift >= 0; shift -= 4 {
		dst = append(dst, digits[id>>shift&15])
	}
	return dst
}

// ValidRequestID reports whether a value may be used as a request identifier.
func ValidRequestID(id string) bool {
	const octets = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.:"
	return id != "" && len(id) <= 64 && strings.Trim(id, octets) == ""
}
