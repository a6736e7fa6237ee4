package testserver

import (
	"encoding/binary"
	"encoding/hex"
	"regexp"
	"strings"
)

// The messages of RFC 2608 section 8; all sections here are of that RFC. Where it does not specify whether to
// accept a request that violates the grammar, the agent rejects it, so that a test fails.
const (
	slpVersion    = 2
	slpHeaderSize = 14 // including the length of the language tag, without the tag

	// Function IDs.
	srvRqst  = 1
	srvRply  = 2
	daAdvert = 8

	// Flags as 16 bits; the section specifies the bits of the first byte.
	slpOverflow      = 0x80 << 8
	slpMulticast     = 0x20 << 8
	slpReservedFlags = 0x1fff // "MUST be 0"

	slpReserved   = `(),\!<=>~`         // and control characters, section 5
	scopeReserved = slpReserved + ";*+" // section 6.4.1
)

// SLPRequest is a received message, with its strings as on the wire. Fields that
// could not be parsed are empty, as are all but those of the header if it is not a
// SrvRqst.
type SLPRequest struct {
	Network     string // "udp" or "tcp"
	XID         uint16
	Lang        string
	PRList      string
	ServiceType string
	Scopes      string
	Predicate   string
	SPI         string
	Flags       uint16 // OVERFLOW is 0x8000, REQUEST MCAST 0x2000
	Raw         []byte
}

// parseSLPRequest parses the header and the fields of a SrvRqst (section 8.1). The
// code is that of the first error, or 0.
func parseSLPRequest(network string, raw []byte) (r SLPRequest, code uint16) {
	r = SLPRequest{Network: network, Raw: raw}
	if len(raw) < slpHeaderSize {
		return r, parseError
	}
	r.Flags, r.XID = binary.BigEndian.Uint16(raw[5:]), binary.BigEndian.Uint16(raw[10:])
	rest, ok := cutSLP(raw[slpHeaderSize-2:], &r.Lang)
	if raw[0] != slpVersion {
		return r, versionNotSupported
	}
	if raw[1] == srvRqst {
		for _, field := range []*string{&r.PRList, &r.ServiceType, &r.Scopes, &r.Predicate, &r.SPI} {
			if ok {
				rest, ok = cutSLP(rest, field)
			}
		}
	}
	// Extensions follow the fields and begin with five bytes (section 9.1). All are skipped, as if their IDs
	// were in the optional range.
	end, extension := len(raw)-len(rest), slpUint24(raw[7:])
	if extension == 0 {
		ok = ok && len(rest) == 0
	} else {
		ok = ok && end <= extension && extension+5 <= len(raw)
	}
	if !ok || slpLength(raw) != len(raw) || r.Flags&slpReservedFlags != 0 || !isSLPLanguage(r.Lang) {
		return r, parseError
	}
	return r, 0
}

// cutSLP parses a length-prefixed string and returns the rest.
func cutSLP(from []byte, to *string) (rest []byte, ok bool) {
	if len(from) < 2 {
		return nil, false
	}
	size, from := int(binary.BigEndian.Uint16(from)), from[2:]
	if len(from) < size {
		return nil, false
	}
	*to = string(from[:size])
	return from[size:], true
}

// slpLength returns the length of a message by its header.
func slpLength(header []byte) int { return slpUint24(header[2:]) }

func slpUint24(b []byte) int { return int(b[0])<<16 | int(binary.BigEndian.Uint16(b[1:])) }

// isSLPLanguage checks the grammar of a language tag in section 8.
func isSLPLanguage(tag string) bool {
	return regexp.MustCompile(`^[A-Za-z]{1,8}(-[A-Za-z]{1,8})*$`).MatchString(tag)
}

// parseSLPScopes parses a scope list (section 6.4.1), which may be empty.
func parseSLPScopes(list string) (scopes []string, ok bool) {
	if list == "" {
		return nil, true
	}
	for item := range strings.SplitSeq(list, ",") {
		scope, ok := unescapeSLP(item, scopeReserved)
		if !ok || foldSLP(scope) == "" {
			return nil, false
		}
		scopes = append(scopes, scope)
	}
	return scopes, true
}

// packSrvRply returns the response of section 8.2 with as many entries as fit.
func packSrvRply(r SLPRequest, code uint16, entries [][]byte, longest int) []byte {
	reply := packSLPHeader(srvRply, r)
	reply = binary.BigEndian.AppendUint16(reply, code)
	if code != 0 {
		return finishSLP(reply, 0) // as section 7 allows
	}
	size, count := len(reply)+2, 0
	for _, entry := range entries {
		if size += len(entry); size > longest {
			break
		}
		count++
	}
	reply = binary.BigEndian.AppendUint16(reply, uint16(count))
	for _, entry := range entries[:count] {
		reply = append(reply, entry...)
	}
	if count < len(entries) {
		return finishSLP(reply, slpOverflow)
	}
	return finishSLP(reply, 0)
}

// packURLEntry returns the entry of section 4.3.
func packURLEntry(s SLPService) []byte {
	entry := binary.BigEndian.AppendUint16([]byte{0}, s.Lifetime)
	return append(appendSLP(entry, s.URL), 0) // no authentication blocks
}

// packDAAdvert returns the response of section 8.5, in which at most one body follows the error code.
func packDAAdvert(r SLPRequest, code uint16, bodies [][]byte, longest int) []byte {
	reply := binary.BigEndian.AppendUint16(packSLPHeader(daAdvert, r), code)
	for _, body := range bodies {
		reply = append(reply, body...)
	}
	if len(reply) > longest {
		return finishSLP(reply[:max(longest, slpHeaderSize)], slpOverflow)
	}
	return finishSLP(reply, 0)
}

// packDA returns the part of an advertisement after the error code.
func packDA(scopes []string) []byte {
	var list []string
	for _, scope := range scopes {
		list = append(list, escapeSLP(scope, scopeReserved))
	}
	body := binary.BigEndian.AppendUint32(nil, slpBoot)
	body = appendSLP(body, directoryAgent+"://"+slpAgentHost)
	body = appendSLP(body, strings.Join(list, ","))
	return append(body, 0, 0, 0, 0, 0) // no attributes, SPIs and authentication blocks
}

// packSLPHeader returns a header with the XID and the language of the request;
// finishSLP sets its length and flags.
func packSLPHeader(function byte, r SLPRequest) []byte {
	header := append([]byte{slpVersion, function}, make([]byte, slpHeaderSize-6)...)
	header = binary.BigEndian.AppendUint16(header, r.XID)
	return appendSLP(header, r.Lang)
}

func finishSLP(message []byte, flags uint16) []byte {
	message[2] = byte(len(message) >> 16)
	binary.BigEndian.PutUint16(message[3:], uint16(len(message)))
	binary.BigEndian.PutUint16(message[5:], flags)
	return message
}

func appendSLP(message []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint16(message, uint16(len(s))), s...)
}

// foldSLP maps strings that section 6.4 considers equal to the same string: case is ignored, any white space is
// one space, and white space at the ends is ignored.
func foldSLP(s string) string {
	return strings.Trim(foldSLPPart(s), " ")
}

// foldSLPPart is like foldSLP for a part of a string: it keeps white space at the ends.
func foldSLPPart(s string) string {
	return regexp.MustCompile("[ \r\n\t]+").ReplaceAllString(strings.ToLower(s), " ")
}

// unescapeSLP decodes escapes. Reserved characters must be escaped, and no others may be (sections 5 and 6.4).
func unescapeSLP(s, reserved string) (string, bool) {
	var plain []byte
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '\\' {
			code, err := hex.DecodeString(s[i+1 : min(i+3, len(s))])
			if err != nil || len(code) != 1 || !isSLPReserved(code[0], reserved) {
				return "", false
			}
			c, i = code[0], i+2
		} else if isSLPReserved(c, reserved) {
			return "", false
		}
		plain = append(plain, c)
	}
	return string(plain), true
}

func escapeSLP(s, reserved string) string {
	var escaped []byte
	for _, c := range []byte(s) {
		if isSLPReserved(c, reserved) {
			escaped = append(escaped, '\\')
			escaped = hex.AppendEncode(escaped, []byte{c})
		} else {
			escaped = append(escaped, c)
		}
	}
	return string(escaped)
}

func isSLPReserved(c byte, reserved string) bool {
	return c < ' ' || c == 0x7f || strings.IndexByte(reserved, c) >= 0
}
