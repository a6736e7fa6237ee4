package ftp

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/urnd/urnd/resolver/scheme"
)

// leastDataPort is the lowest allowed port of a data connection: lower ports belong to services of the server's
// host, which a reply of the server must not reach.
const leastDataPort = 1024

// extendedPort parses the port in the reply to EPSV: RFC 2428 section 3.
func extendedPort(text string) (uint16, error) {
	_, text, _ = strings.Cut(text, "(")
	text, _, closed := strings.Cut(text, ")")
	if !closed || len(text) < len("|||1|") || text[0] < '!' || text[0] > '~' {
		return 0, errPort
	}
	fields := strings.Split(text, text[:1])
	const count = 5 // empty, protocol, address, port, empty
	if len(fields) != count || fields[0] != "" || fields[count-1] != "" {
		return 0, errPort
	}
	return dataPort(strconv.ParseUint(fields[3], 10, 16))
}

// passivePort parses the port in the reply to PASV, which has six numbers: RFC 959 section 4.1.2. The address
// in it is ignored: it may be any, and is wrong behind NAT. Not all servers write parentheses: RFC 1123 section
// 4.1.2.6.
func passivePort(text string) (uint16, error) {
	numbers := text
	if _, after, found := strings.Cut(text, "("); found {
		numbers, _, _ = strings.Cut(after, ")")
	} else if i := strings.IndexAny(text, "0123456789"); i >= 0 {
		numbers = text[i:]
	}
	fields := strings.Split(strings.TrimRight(numbers, ". "), ",")
	const count = 6
	if len(fields) != count {
		return 0, errPort
	}
	var port uint64
	for i, field := range fields {
		n, err := strconv.ParseUint(strings.TrimSpace(field), 10, 8)
		if err != nil {
			return 0, errPort
		}
		if i >= count-2 {
			port = port<<8 | n
		}
	}
	return dataPort(port, nil)
}

func dataPort(port uint64, err error) (uint16, error) {
	if err != nil || port > 65535 {
		return 0, errPort
	}
	if port < leastDataPort {
		return 0, errReserved
	}
	return uint16(port), nil
}

// The errors of replies to EPSV and PASV.
var (
	errPort     = fmt.Errorf("%w: no data port in the reply", scheme.ErrInvalidResponse)
	errReserved = fmt.Errorf("%w: data port below %d", scheme.ErrInvalidResponse, leastDataPort)
)
