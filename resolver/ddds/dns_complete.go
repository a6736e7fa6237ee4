package ddds

import "encoding/binary"

// headerSize is the size of the header of a message: RFC 1035 section 4.1.1.
const headerSize = 12

// isComplete reports whether a message has exactly the records that its header counts, and nothing after them.
// The library accepts fewer.
func isComplete(message []byte) bool {
	if len(message) < headerSize {
		return false
	}
	count := func(section int) int { return int(binary.BigEndian.Uint16(message[4+2*section:])) }
	at := headerSize
	skip := func(fixed int) bool { // a name, and the fixed-size fields after it
		at = skipName(message, at) + fixed
		return at <= len(message)
	}
	for range count(0) {
		if !skip(4) {
			return false
		}
	}
	for range count(1) + count(2) + count(3) {
		if !skip(10) {
			return false
		}
		if at += int(binary.BigEndian.Uint16(message[at-2:])); at > len(message) {
			return false
		}
	}
	return at == len(message)
}

// skipName returns the offset after the name at an offset, or an offset beyond the message if the name is
// incomplete: RFC 1035 section 4.1.4.
func skipName(message []byte, at int) int {
	const pointer = 0xC0 // followed by one more byte
	for at < len(message) {
		switch length := int(message[at]); {
		case length == 0:
			return at + 1
		case length >= pointer:
			return at + 2
		default:
			at += 1 + length
		}
	}
	return len(message) + 1
}
