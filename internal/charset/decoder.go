package charset

import (
	"bytes"
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/transform"
)

// invalid replaces bytes that are invalid in an encoding. It never occurs in UTF-8 (RFC 3629 section 1).
const invalid = 0xFF

// invalidMarker replaces U+FFFD, which decoders generate for invalid input, by invalid. No encoding that is
// decoded by tables contains U+FFFD itself except gb18030, in which it indicates earlier damage.
type invalidMarker struct{ transform.NopResetter }

// Transform implements transform.Transformer.
func (invalidMarker) Transform(dst, src []byte, atEOF bool) (nDst, nSrc int, err error) {
	replacement := []byte(string(utf8.RuneError))
	for nSrc < len(src) {
		rest := src[nSrc:]
		n := bytes.IndexByte(rest, replacement[0])
		if n < 0 {
			n = len(rest)
		}
		if n == 0 {
			switch {
			case nDst == len(dst):
				return nDst, nSrc, transform.ErrShortDst
			case bytes.HasPrefix(rest, replacement):
				dst[nDst] = invalid
				nDst, nSrc = nDst+1, nSrc+len(replacement)
				continue
			case len(rest) < len(replacement) && !atEOF:
				return nDst, nSrc, transform.ErrShortSrc
			}
			n = 1 // part of another character
		}
		n = copy(dst[nDst:], rest[:n])
		nDst, nSrc = nDst+n, nSrc+n
		if nDst == len(dst) && nSrc < len(src) {
			return nDst, nSrc, transform.ErrShortDst
		}
	}
	return nDst, nSrc, nil
}

// utf16Decoder decodes UTF-16. The decoder of golang.org/x/text does not distinguish an unpaired surrogate from
// U+FFFD.
type utf16Decoder struct {
	transform.NopResetter
	bigEndian bool
}

// Transform implements transform.Transformer.
func (d *utf16Decoder) Transform(dst, src []byte, atEOF bool) (nDst, nSrc int, err error) {
	const unit = 2
	for nSrc < len(src) {
		if len(dst)-nDst < utf8.UTFMax {
			return nDst, nSrc, transform.ErrShortDst
		}
		rest := src[nSrc:]
		if len(rest) < unit {
			if !atEOF {
				return nDst, nSrc, transform.ErrShortSrc
			}
			dst[nDst] = invalid
			return nDst + 1, nSrc + 1, nil
		}
		c, size := rune(d.unit(rest)), unit
		if utf16.IsSurrogate(c) {
			switch {
			case len(rest) >= 2*unit:
				if c = utf16.DecodeRune(c, rune(d.unit(rest[unit:]))); c != utf8.RuneError {
					size = 2 * unit
				}
			case !atEOF:
				return nDst, nSrc, transform.ErrShortSrc
			default:
				c = utf8.RuneError
			}
			if size == unit { // unpaired surrogate
				dst[nDst] = invalid
				nDst, nSrc = nDst+1, nSrc+size
				continue
			}
		}
		nDst += utf8.EncodeRune(dst[nDst:], c)
		nSrc += size
	}
	return nDst, nSrc, nil
}

func (d *utf16Decoder) unit(b []byte) uint16 {
	if d.bigEndian {
		return binary.BigEndian.Uint16(b)
	}
	return binary.LittleEndian.Uint16(b)
}
