package scheme

import "strconv"

// MaxSize bounds what a server says of a size, in octets: no real one is greater, and the sum of two does not
// overflow.
const MaxSize = 1<<62 - 1

// ParseSize returns the number of octets, or of other things, that a server states in decimal digits. ok is false
// for any other text, and for a number above MaxSize.
func ParseSize(text string) (size int64, ok bool) {
	if text == "" || text[0] < '0' || text[0] > '9' { // most words of a listing are none, and need no error
		return 0, false
	}
	n, err := strconv.ParseUint(text, 10, 62)
	return int64(n), err == nil
}
