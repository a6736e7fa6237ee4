package testserver

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// The part of DNS needed to check whether a server responds. The DNS code of the module is under test and
// therefore not used here.
const (
	typeSOA    = 6
	classIN    = 1
	headerSize = 12
	maxLabel   = 63
	maxName    = 255
)

// packQuery creates a query with one question, without recursion. The name has no escapes; "." is the root.
func packQuery(id uint16, name string, qtype uint16) ([]byte, error) {
	message := make([]byte, headerSize, headerSize+len(name)+6)
	binary.BigEndian.PutUint16(message, id)
	message[5] = 1 // questions
	if name = strings.TrimSuffix(name, "."); name != "" {
		for label := range strings.SplitSeq(name, ".") {
			if !validLabel(label) {
				return nil, fmt.Errorf("domain name %q: bad label %q", name, label)
			}
			message = append(message, byte(len(label)))
			message = append(message, label...)
		}
	}
	message = append(message, 0)
	if len(message)-headerSize > maxName {
		return nil, fmt.Errorf("domain name %q: too long", name)
	}
	message = binary.BigEndian.AppendUint16(message, qtype)
	return binary.BigEndian.AppendUint16(message, classIN), nil
}

// validLabel also rejects labels that need an escape in named's configuration.
func validLabel(label string) bool {
	if label == "" || len(label) > maxLabel {
		return false
	}
	for _, c := range []byte(label) {
		if c <= ' ' || c >= 0x7f || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// isResponse reports whether message responds to the query with this id.
func isResponse(message []byte, id uint16) bool {
	return len(message) >= headerSize && binary.BigEndian.Uint16(message) == id && message[2]&0x80 != 0
}

// isAuthoritative reports whether a response has authoritative answers.
func isAuthoritative(response []byte) bool {
	authoritative := response[2]&0x04 != 0
	code := response[3] & 0x0f
	answers := binary.BigEndian.Uint16(response[6:])
	return authoritative && code == 0 && answers > 0
}
