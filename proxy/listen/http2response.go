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

// staticName returns the place of a name in the table that is always there, 0 for none: RFC 7541 appendix A. It has those that are
// usual in answers.
func staticName(name []byte) int {
	switch string(name) {
	case "accept-ranges":
		return 18
	case "age":
		return 21
	case "cache-control":
		return 24
	case "content-encoding":
		return 26
	case "content-language":
		return 27
	case "content-length":
		return 28
	case "content-type":
		return 31
	case "date":
		return 33
	case "etag":
		return 34
	case "expires":
		return 36
	case "last-modified":
		return 44
	case "link":
		return 45
	case "location":
		return 46
	case "server":
		return 54
	case "vary":
		return 59
	case "via":
		return 60
	default:
		return 0
	}
}
