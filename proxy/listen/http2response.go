package listen

import "bytes"

// maxAnswerFrame is what a client takes in one frame, whatever it has announced: RFC 9113 section 4.2.
const maxAnswerFrame = 16 << 10

// appendResponse appends the frames of a response that is written by HTTP/1.1. Its fields are literals without indexing (RFC 7541
// section 6.2.2), which leave the table of net/http as it is. It returns how many octets of content there are, and false
// where the octets are no such response.
func appendResponse(dst []byte, stream uint32, octets []byte) (frames []byte, content int, ok bool) {
	const statusAt, statusEnd = len("HTTP/1.1 "), len("HTTP/1.1 200")
	line, rest, ok := bytes.Cut(octets, crlf)
	if !ok || len(line) < statusEnd {
		return dst, 0, false
	}
	begin := len(dst)
	dst = appendHead(dst, 0, frameHeaders, 0, stream)
	dst = appendStatus(dst, line[statusAt:statusEnd])
	for {
		if line, rest, ok = bytes.Cut(rest, crlf); !ok {
			return dst[:begin], 0, false
		}
		if len(line) == 0 {
			break
		}
		name, value, isField := bytes.Cut(line, []byte(": "))
		if !isField {
			return dst[:begin], 0, false
		}
		dst = appendResponseField(dst, name, value)
	}
	if content = len(rest); content > maxAnswerFrame {
		return dst[:begin], 0, false
	}
	f := frame{kind: frameHeaders, flags: flagEndHeaders, stream: stream}
	if content == 0 {
		f.flags |= flagEndStream
	}
	if block := dst[begin+frameHead:]; len(block) <= maxAnswerFrame {
		head := appendHead(dst[:begin], len(block), f.kind, f.flags, stream)
		dst = head[:len(dst)]
	} else {
		dst = appendBlock(dst[:begin], f, nil, bytes.Clone(block), maxAnswerFrame)
	}
	if content > 0 {
		dst = append(appendHead(dst, content, frameData, flagEndStream, stream), rest...)
	}
	return dst, content, true
}

var crlf = []byte("\r\n")

// appendStatus appends the field :status.
func appendStatus(dst, status []byte) []byte {
	switch string(status) { // RFC 7541 appendix A
	case "200":
		return append(dst, 0x88)
	case "304":
		return append(dst, 0x8b)
	case "404":
		return append(dst, 0x8d)
	}
	const name = 8
	return appendText(append(dst, name), status)
}

// appendResponseField appends a field, whose name is in lower case by HTTP/2.
func appendResponseField(dst, name, value []byte) []byte {
	begin := len(dst)
	dst = appendText(append(dst, 0), name)
	lower := dst[len(dst)-len(name):]
	for i, c := range lower {
		if 'A' <= c && c <= 'Z' {
			lower[i] = c | 0x20
		}
	}
	if index := staticName(lower); index > 0 {
		const prefix = 4
		dst = appendInteger(dst[:begin], 0, prefix, index)
	}
	return appendText(dst, value)
}

// staticName returns the place of a name in the table that is always there, 0 for none.
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

// entry is one of that table.
type entry struct {
	name  string
	index int
}

// staticNames are the names by their lengths that are usual in answers: RFC 7541 appendix A.
var staticNames = [...][]entry{
	3:  {{"age", 21}, {"via", 60}},
	4:  {{"date", 33}, {"etag", 34}, {"link", 45}, {"vary", 59}},
	6:  {{"server", 54}},
	7:  {{"expires", 36}},
	8:  {{"location", 46}},
	12: {{"content-type", 31}},
	13: {{"cache-control", 24}, {"accept-ranges", 18}, {"last-modified", 44}},
	14: {{"content-length", 28}},
	16: {{"content-encoding", 26}, {"content-language", 27}},
}
