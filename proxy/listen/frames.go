package listen

import "encoding/binary"

// frame is the head of a frame of HTTP/2: RFC 9113 section 4.1.
type frame struct {
	length      int // of the payload
	kind, flags byte
	stream      uint32
	isEmpty     bool // it has no content but padding
}

// The frames that are looked at, and their flags: RFC 9113 section 6.
const (
	frameData         = 0x0
	frameHeaders      = 0x1
	frameReset        = 0x3
	frameSettings     = 0x4
	framePing         = 0x6
	frameGoAway       = 0x7
	frameWindowUpdate = 0x8
	frameContinuation = 0x9

	flagEndStream  = 0x1
	flagAck        = 0x1
	flagEndHeaders = 0x4
	flagPadded     = 0x8
	flagPriority   = 0x20
)

// The lengths of payloads: RFC 9113 sections 6.4, 6.7 and 6.9. That of RST_STREAM is the same as that of WINDOW_UPDATE.
const (
	windowUpdateLength = 4
	pingLength         = 8
)

const frameHead = 9

// frameScanner finds the frames in what is sent in one direction of a connection, in whatever parts it is read.
type frameScanner struct {
	head    [frameHead + 1]byte // with the length of the padding
	have    int                 // octets of head
	left    int                 // octets of the payload, or of the preface, that are yet to come
	inHead  bool                // the last frame is, with its payload, a part of a header block
	inBlock bool                // a header block was begun, and has not ended with the last frame
}

// next returns the next frame whose head ends in p, and what is behind that; ok is false where there is none.
func (s *frameScanner) next(p []byte) (f frame, rest []byte, ok bool) {
	for len(p) > 0 {
		if s.left > 0 {
			n := min(s.left, len(p))
			s.left -= n
			p = p[n:]
			continue
		}
		n := copy(s.head[s.have:s.need()], p)
		s.have += n
		if p = p[n:]; s.have == s.need() {
			return s.end(), p, true
		}
	}
	return frame{}, nil, false
}

// need returns how many octets the head has, as far as it is known.
func (s *frameScanner) need() int {
	if s.have >= frameHead && s.head[3] == frameData && s.head[4]&flagPadded != 0 && s.length() > 0 {
		return frameHead + 1
	}
	return frameHead
}

func (s *frameScanner) length() int {
	return int(s.head[0])<<16 | int(s.head[1])<<8 | int(s.head[2])
}

// end returns the frame whose head is complete.
func (s *frameScanner) end() frame {
	f := frame{length: s.length(), kind: s.head[3], flags: s.head[4], stream: binary.BigEndian.Uint32(s.head[5:]) &^ (1 << 31)}
	padding := s.have - frameHead
	s.left = f.length - padding
	if padding > 0 {
		padding += int(s.head[frameHead])
	}
	f.isEmpty = f.length <= padding
	s.have = 0
	if s.inHead = f.kind == frameHeaders || f.kind == frameContinuation; s.inHead {
		s.inBlock = f.flags&flagEndHeaders == 0
	}
	return f
}

// isWithinHead reports whether a header block was begun and has not ended.
func (s *frameScanner) isWithinHead() bool { return s.inBlock || s.inHead && s.left > 0 }

// isBetween reports whether the last frame has ended, and a header block with it.
func (s *frameScanner) isBetween() bool { return s.have == 0 && s.left == 0 && !s.inBlock }
