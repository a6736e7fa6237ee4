package ddds

import (
	"encoding/binary"

	"github.com/miekg/dns"
)

// headerSize is the size of the header of a message: RFC 1035 section 4.1.1.
const headerSize = 12

// isComplete reports whether a message holds what the counts of its header say, and nothing
// behind it: the library reads what there is.
func isComplete(message []byte) bool {
	if len(message) < headerSize {
		return false
	}
	count := func(section int) int { return int(binary.BigEndian.Uint16(message[4+2*section:])) }
	at := headerSize
	skip := func(fixed int) bool { // a name, and what follows it
		_, next, err := dns.UnpackDomainName(message, at)
		at = next + fixed
		return err == nil && at <= len(message)
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
