package scheme

import "strconv"

// MaxSize is the maximum of a size that a server states, in bytes: no real size exceeds it, and the sum of two
// does not overflow.
const MaxSize = 1<<62 - 1

// ParseSize parses a number of bytes, or another count, that a server states in decimal digits. ok is false for
// any other text, and for a number above MaxSize.
func ParseSize(text string) (size int64, ok bool) {
	if text == "" || text[0] < '0' || text[0] > '9' { // the common case in a listing; avoids the allocation of an error
		return 0, false
	}
	n, err := strconv.ParseUint(text, 10, 62)
	return int64(n), err == nil
}
