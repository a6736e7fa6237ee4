package httpmessage

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"strings"
)

// RequestIDField is the field of the request identifier, between proxies and in responses.
const RequestIDField = "X-Request-Id"

// AppendRequestID appends to dst the request identifier that a request has come with, if that is valid and from a proxy which is trusted, or
// else a new one.
func AppendRequestID(dst []byte, came string, trusted bool) []byte {
	const valid = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.:"
	if trusted && came != "" && len(came) <= 64 && strings.Trim(came, valid) == "" {
		return append(dst, came...)
	}
	var id [8]byte
	binary.BigEndian.PutUint64(id[:], rand.Uint64()) //nolint:gosec // it need not be secret
	return hex.AppendEncode(dst, id[:])
}
