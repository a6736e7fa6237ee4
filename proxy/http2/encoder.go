package http2

import (
	"strconv"
	"strings"

	"github.com/urnd/urnd/internal/httpmessage"
)

// encoder encodes a field block as literals without indexing (RFC 7541 section 6.2.2), like nginx, with names
// of the static table. So blocks do not depend on earlier ones, strings of fields are not retained, and the
// table size setting of a client (RFC 9113 section 6.5.2) needs only be acknowledged.
type encoder struct {
	block []byte
	name  []byte
}

func (s *Server) takeEncoder() *encoder {
	e, ok := s.encoders.Get().(*encoder)
	if !ok {
		return &encoder{}
	}
	e.block = e.block[:0]
	return e
}

func (s *Server) giveEncoder(e *encoder) {
	const most = 16 << 10
	if cap(e.block) <= most {
		s.encoders.Put(e)
	}
}

// status appends :status, with indexes of RFC 7541 appendix A.
func (e *encoder) status(status int) {
	switch status {
	case 200:
		e.block = append(e.block, 0x88)
	case 304:
		e.block = append(e.block, 0x8b)
	case 404:
		e.block = append(e.block, 0x8d)
	default:
		const name = 8
		var digits [4]byte
		e.block = append(e.block, name)
		e.text(strconv.AppendInt(digits[:0], int64(status), 10))
	}
}

// field appends a field, with its name in lower case (RFC 9113 section 8.2.1), and line ends removed from its
// value. It omits fields that are invalid in HTTP/2 (RFC 9113 section 8.2.2).
func (e *encoder) field(name, value string) {
	e.name = append(e.name[:0], name...)
	for i, c := range e.name {
		if e.name[i] = lowerToken[c]; e.name[i] == 0 {
			return
		}
	}
	if name == "" || connectionField(name) {
		return
	}
	const prefix = 4
	if index := staticName(e.name); index > 0 {
		e.integer(prefix, index)
	} else {
		e.block = append(e.block, 0)
		e.text(e.name)
	}
	e.value(value)
}

// value appends a value without surrounding white space, and without the Huffman code of RFC 7541 section
// 5.2: that saves a quarter of the bytes of a header, and takes more than half of the time of its encoding.
func (e *encoder) value(value string) {
	if value != "" && (value[0] <= ' ' || value[len(value)-1] <= ' ') {
		value = strings.Trim(value, " \t\r\n")
	}
	e.integer(textPrefix, len(value))
	e.block = httpmessage.AppendValue(e.block, value)
}

// lowerToken maps the bytes of a token (RFC 9110 section 5.6.2) to lower case, and all others to 0.
var lowerToken = func() (t [256]byte) {
	for _, c := range []byte("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz") {
		t[c] = c
	}
	for c := byte('A'); c <= 'Z'; c++ {
		t[c] = c + 'a' - 'A'
	}
	return t
}()

const textPrefix = 7 // RFC 7541 section 5.2

// text appends a string literal: RFC 7541 section 5.2.
func (e *encoder) text(text []byte) {
	e.integer(textPrefix, len(text))
	e.block = append(e.block, text...)
}

// integer appends an integer with a prefix of so many bits; the bits above are 0: RFC 7541 section 5.1.
func (e *encoder) integer(prefix uint, value int) {
	most := 1<<prefix - 1
	if value < most {
		e.block = append(e.block, byte(value)) //nolint:gosec // less than 2^prefix
		return
	}
	e.block = append(e.block, byte(most)) //nolint:gosec // less than 2^prefix
	const bits = 7
	for value -= most; value >= 1<<bits; value >>= bits {
		e.block = append(e.block, byte(value)|1<<bits)
	}
	e.block = append(e.block, byte(value)) //nolint:gosec // less than 2^7
}

// connectionField reports whether a field is connection-specific in HTTP/1: RFC 9113 section 8.2.2.
func connectionField(name string) bool {
	return httpmessage.UseOf(name)&httpmessage.ConnectionSpecific != 0
}

// staticName returns the index of a name in the static table (RFC 7541 appendix A), 0 for none. It knows the
// names that are common in responses.
func staticName(name []byte) int {
	if len(name) >= len(staticNames) {
		return 0
	}
	for _, known := range staticNames[len(name)] {
		if known.name == string(name) {
			return known.index
		}
	}
	return 0
}

// staticField is a name of the static table.
type staticField struct {
	name  string
	index int
}

// staticNames are the names by their length.
var staticNames = [...][]staticField{
	3:  {{"age", 21}, {"via", 60}},
	4:  {{"date", 33}, {"etag", 34}, {"link", 45}, {"vary", 59}},
	5:  {{"allow", 22}},
	6:  {{"server", 54}},
	7:  {{"expires", 36}, {"refresh", 52}},
	8:  {{"location", 46}},
	10: {{"set-cookie", 55}},
	11: {{"retry-after", 53}},
	12: {{"content-type", 31}},
	13: {{"cache-control", 24}, {"accept-ranges", 18}, {"last-modified", 44}, {"content-range", 30}},
	14: {{"content-length", 28}},
	16: {{"content-encoding", 26}, {"content-language", 27}, {"content-location", 29}, {"www-authenticate", 61}},
	18: {{"proxy-authenticate", 48}},
	19: {{"content-disposition", 25}},
	25: {{"strict-transport-security", 56}},
	27: {{"access-control-allow-origin", 20}},
}
