package listen

import (
	"encoding/binary"
	"strings"

	"golang.org/x/net/http2/hpack"
)

// The header blocks of a client change a table that both ends have (RFC 7541 section 2.3.2). Whoever answers some of the requests
// must decode all blocks; so net/http gets them made again, as literals, which need no table. What is malformed reaches it so that
// it answers as it would have answered to what the client has sent.

// headerBlocks decodes the header blocks of a client, with the limits of net/http.
type headerBlocks struct {
	decoder *hpack.Decoder
	limit   int64 // of a header list: RFC 9113 section 6.5.2
	left    int64 // of it, in the block that is decoded
	fields  []hpack.HeaderField
}

// tableSize is the size of the table that net/http announces, in octets.
const tableSize = 4096

// spareHeader is what net/http adds to http.Server.MaxHeaderBytes for a header list, in octets.
const spareHeader = 10 * 32

func newHeaderBlocks(maxHeader int) *headerBlocks {
	b := &headerBlocks{limit: int64(maxHeader + spareHeader)}
	b.decoder = hpack.NewDecoder(tableSize, b.emit)
	b.decoder.SetMaxStringLength(int(b.limit))
	return b
}

// begin begins a block.
func (b *headerBlocks) begin() {
	b.left = b.limit
	b.decoder.SetEmitEnabled(true)
}

// isTooLong reports whether net/http would not decode the next fragment of a block, but end the connection.
func (b *headerBlocks) isTooLong(fragment []byte) bool { return int64(len(fragment)) > 2*b.left }

// decode decodes the next fragment of a block, and returns the fields that end in it, which are valid until the next one.
func (b *headerBlocks) decode(fragment []byte, isLast bool) ([]hpack.HeaderField, error) {
	b.fields = b.fields[:0]
	if _, err := b.decoder.Write(fragment); err != nil {
		return nil, err //nolint:wrapcheck // it is only asked whether there is one
	}
	if isLast {
		return b.fields, b.decoder.Close() //nolint:wrapcheck // likewise
	}
	return b.fields, nil
}

// emit takes a field. The one by which a list becomes too long is replaced by another one by which it does, so that net/http
// refuses the request; what follows it is not for anybody.
func (b *headerBlocks) emit(f hpack.HeaderField) {
	const overhead = 32 + int64(len("x")) // RFC 9113 section 6.5.2
	size := int64(f.Size())
	if size > b.left {
		f = hpack.HeaderField{Name: "x", Value: strings.Repeat("0", int(max(b.left+1-overhead, 0)))}
		size = b.left
		b.decoder.SetEmitEnabled(false)
	}
	b.left -= size
	b.fields = append(b.fields, f)
}

// maxBlockFrame is how much of a block net/http takes in one frame, in octets. It gives frames of a block that is malformed another
// meaning than a single one, so one is never divided that need not be.
const maxBlockFrame = 1 << 20

// brokenBlock is a block that cannot be decoded: it refers to the entry 0 of the table (RFC 7541 section 6.1).
const brokenBlock = "\x80"

// appendFields appends fields as literals without indexing: RFC 7541 section 6.2.2.
func appendFields(dst []byte, fields []hpack.HeaderField) []byte {
	for _, f := range fields {
		kind := byte(0)
		if f.Sensitive {
			kind = 0x10 // RFC 7541 section 6.2.3
		}
		dst = appendText(append(dst, kind), f.Name)
		dst = appendText(dst, f.Value)
	}
	return dst
}

// appendText appends a string literal: RFC 7541 section 5.2.
func appendText[T string | []byte](dst []byte, text T) []byte {
	return append(appendInteger(dst, 0, 7, len(text)), text...)
}

// appendInteger appends an integer with a prefix of so many bits, those above which are set in first: RFC 7541 section 5.1.
func appendInteger(dst []byte, first byte, prefix uint, value int) []byte {
	most := 1<<prefix - 1
	if value < most {
		return append(dst, first|byte(value)) //nolint:gosec // it is less than 2^prefix
	}
	dst = append(dst, first|byte(most)) //nolint:gosec // likewise
	for value -= most; value >= 1<<7; value >>= 7 {
		dst = append(dst, byte(value)|1<<7)
	}
	return append(dst, byte(value)) //nolint:gosec // it is less than 2^7
}

// appendHead appends the head of a frame.
func appendHead(dst []byte, length int, kind, flags byte, stream uint32) []byte {
	const kindBits = 8
	dst = binary.BigEndian.AppendUint32(dst, uint32(length)<<kindBits|uint32(kind)) //nolint:gosec // a frame has less than 2^24 octets
	return binary.BigEndian.AppendUint32(append(dst, flags), stream)
}

// appendBlock appends a fragment of a block in a frame of a kind, or in several where it is larger than most. In the first one it
// stands behind a priority, of which flags say whether there is one.
func appendBlock(dst []byte, f frame, priority, fragment []byte, most int) []byte {
	flags := f.flags
	for {
		part := fragment[:min(len(fragment), most-len(priority))]
		fragment = fragment[len(part):]
		ends := flags & flagEndHeaders
		if len(fragment) > 0 {
			ends = 0
		}
		dst = appendHead(dst, len(priority)+len(part), f.kind, flags&^flagEndHeaders|ends, f.stream)
		dst = append(append(dst, priority...), part...)
		if len(fragment) == 0 {
			return dst
		}
		f.kind, flags, priority = frameContinuation, f.flags&flagEndHeaders, nil
	}
}

// fragmentOf returns the fragment of a block that a HEADERS frame has, and the octets of its priority (RFC 9113 section 6.2); false
// where they do not fit into it.
func fragmentOf(flags byte, payload []byte) (fragment, priority []byte, ok bool) {
	padding := 0
	if flags&flagPadded != 0 {
		if len(payload) == 0 {
			return nil, nil, false
		}
		padding, payload = int(payload[0]), payload[1:]
	}
	const priorityLength = 5
	if flags&flagPriority != 0 {
		if len(payload) < priorityLength {
			return nil, nil, false
		}
		priority, payload = payload[:priorityLength], payload[priorityLength:]
	}
	if len(payload) < padding {
		return nil, nil, false
	}
	return payload[:len(payload)-padding], priority, true
}

// dependsOnItself reports whether a priority is malformed: RFC 7540 section 5.3.1.
func dependsOnItself(priority []byte, stream uint32) bool {
	return len(priority) > 0 && binary.BigEndian.Uint32(priority)&^(1<<31) == stream
}
