package listen

import (
	"bytes"
	"slices"
	"testing"

	"golang.org/x/net/http2"
)

// FuzzFrames compares the frames that are found in octets in whatever parts with those of the same octets at once, and with
// those that golang.org/x/net finds.
func FuzzFrames(f *testing.F) {
	var some bytes.Buffer
	framer := http2.NewFramer(&some, nil)
	framer.AllowIllegalWrites = true
	_ = framer.WriteSettings()
	_ = framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: []byte("block"), PadLength: 3})
	_ = framer.WriteContinuation(1, false, nil)
	_ = framer.WriteContinuation(1, true, []byte("x"))
	_ = framer.WriteData(1, false, []byte("data"))
	_ = framer.WriteDataPadded(1, false, nil, make([]byte, 9))
	_ = framer.WriteDataPadded(1, true, []byte("x"), nil)
	_ = framer.WritePing(true, [8]byte{})
	f.Add(some.Bytes(), byte(1))
	f.Add(some.Bytes()[:len(some.Bytes())-3], byte(7))
	f.Add([]byte("\x00\x00\x00\x00\x08\x00\x00\x00\x01\x00\x00\x01\x00\x08\xff\x00\x00\x01\xff"), byte(2))
	f.Fuzz(func(t *testing.T, octets []byte, size byte) {
		var whole, parts frameScanner
		var all, some []frame
		for found, rest, ok := whole.next(octets); ok; found, rest, ok = whole.next(rest) {
			all = append(all, found)
		}
		for part := range slices.Chunk(octets, int(size)+1) {
			for found, rest, ok := parts.next(part); ok; found, rest, ok = parts.next(rest) {
				some = append(some, found)
			}
		}
		if !slices.Equal(all, some) || whole != parts {
			t.Fatalf("%v in parts are %v", all, some)
		}
		left := octets
		for i, found := range all {
			head, err := http2.ReadFrameHeader(bytes.NewReader(left))
			if err != nil || int(head.Length) != found.length || byte(head.Type) != found.kind || byte(head.Flags) != found.flags || head.StreamID != found.stream {
				t.Fatalf("frame %d is %v, %v, not %+v", i, head, err, found)
			}
			padding := 0
			if found.kind == frameData && found.flags&flagPadded != 0 && found.length > 0 {
				padding = 1 + int(left[frameHead])
			}
			if found.isEmpty != (found.length <= padding) {
				t.Fatalf("frame %d: %+v", i, found)
			}
			left = left[min(frameHead+found.length, len(left)):]
		}
		if len(left) > frameHead {
			t.Fatalf("no frame is found in %q", left)
		}
	})
}
