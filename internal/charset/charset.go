// Package charset converts input in any character encoding of the Encoding Standard
// (https://encoding.spec.whatwg.org) to UTF-8. An io.Reader and the label of an encoding enter, or a byte order
// mark selects it; a Source leaves that reads UTF-8 without the byte order mark. No byte is dropped silently:
// bytes that are invalid in the encoding become a byte that never occurs in UTF-8, so that Source.Check rejects
// the row or line that contains them.
package charset

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/transform"
)

// Names of encodings that are not decoded by tables.
const (
	nameUTF8    = "utf-8"
	nameUTF16LE = "utf-16le"
	nameUTF16BE = "utf-16be"
)

// Encoding is a character encoding of the Encoding Standard. The zero value is UTF-8, or UTF-16 if a byte order
// mark indicates it.
type Encoding struct {
	name string // "" for the zero value
	of   encoding.Encoding
}

// Parse returns the encoding with this label in any of its spellings; as in the standard, latin1 is
// windows-1252. "" is the zero value.
func Parse(label string) (Encoding, error) {
	if label = strings.TrimSpace(label); label == "" {
		return Encoding{}, nil
	}
	of, err := htmlindex.Get(label)
	if err == nil {
		var name string
		// "replacement" stands for encodings that are not decoded, "x-user-defined" is for binary data of
		// scripts.
		if name, err = htmlindex.Name(of); err == nil && name != "replacement" && name != "x-user-defined" {
			return Encoding{name, of}, nil
		}
	}
	return Encoding{},
		fmt.Errorf("%.40q is not a supported encoding: write a label of https://encoding.spec.whatwg.org, such as "+
			"utf-8, utf-16le, latin1, windows-1252, iso-8859-15 or shift_jis", label)
}

// String returns the name of the encoding, "" for the zero value.
func (e Encoding) String() string { return e.name }

// decoder returns a decoder of the encoding to UTF-8, nil for UTF-8 itself.
func (e Encoding) decoder() transform.Transformer {
	switch e.name {
	case "", nameUTF8:
		return nil
	case nameUTF16LE:
		return &utf16Decoder{}
	case nameUTF16BE:
		return &utf16Decoder{bigEndian: true}
	default:
		return transform.Chain(e.of.NewDecoder(), invalidMarker{})
	}
}

// Source is an input converted to UTF-8 without its byte order mark. It is not safe for concurrent use.
type Source struct {
	*bufio.Reader
	encoding Encoding // encoding in use: the zero value is UTF-8 by default
}

// bufferSize is the size of the buffer of a Source, which limits Peek.
const bufferSize = 64 << 10

// byteOrderMarks returns the byte order marks (Unicode 16.0 section 23.8). Those of UTF-32 precede that of
// UTF-16, which is a prefix of one of them.
func byteOrderMarks() []struct{ mark, name string } {
	return []struct{ mark, name string }{
		{"\xff\xfe\x00\x00", "utf-32le"},
		{"\x00\x00\xfe\xff", "utf-32be"},
		{"\xef\xbb\xbf", nameUTF8},
		{"\xff\xfe", nameUTF16LE},
		{"\xfe\xff", nameUTF16BE},
	}
}

// NewSource reads r in this encoding, or in the encoding of its byte order mark. It is an error if the two
// contradict each other.
func (e Encoding) NewSource(r io.Reader) (*Source, error) {
	const longestMark = 4
	b := bufio.NewReaderSize(r, bufferSize)
	start, err := b.Peek(longestMark)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("reading the input: %w", err)
	}
	for _, known := range byteOrderMarks() {
		if !bytes.HasPrefix(start, []byte(known.mark)) {
			continue
		}
		// "utf-16" permits either byte order
		isUTF16 := strings.HasPrefix(known.name, "utf-16") && strings.HasPrefix(e.name, "utf-16")
		switch {
		case e.name != "" && e.name != known.name && !isUTF16:
			return nil, fmt.Errorf("the input begins with the byte order mark of %s, but the declared encoding is %s",
				known.name, e.name)
		case strings.HasPrefix(known.name, "utf-32"):
			return nil, fmt.Errorf("the input is %s, which is not supported: save it as UTF-8", known.name)
		}
		_, _ = b.Discard(len(known.mark)) // the bytes have been peeked
		e.name = known.name
		break
	}
	if d := e.decoder(); d != nil {
		b = bufio.NewReaderSize(transform.NewReader(b, d), bufferSize)
	}
	return &Source{b, e}, nil
}

// Check returns why a part of a source, such as a line, is invalid, or nil: it contains bytes that are invalid
// in its encoding, or a NUL, which no store accepts in text.
func (s *Source) Check(part string) error {
	switch {
	case strings.IndexByte(part, 0) >= 0 && s.encoding.name == "":
		return errors.New("the input has a NUL byte, like UTF-16 without a byte order mark: set the encoding of the " +
			"source (--encoding), such as utf-16le")
	case strings.IndexByte(part, 0) >= 0:
		return errors.New("the input has a NUL byte")
	case utf8.ValidString(part):
		return nil
	case s.encoding.name == "":
		return fmt.Errorf("the byte 0x%02X is not UTF-8: set the encoding of the source (--encoding), such as "+
			"windows-1252", firstInvalid(part))
	case s.encoding.name == nameUTF8:
		return fmt.Errorf("the byte 0x%02X is not UTF-8, the declared encoding of the source", firstInvalid(part))
	default:
		return fmt.Errorf("the input has bytes that are not valid in %s, the declared encoding of the source",
			s.encoding.name)
	}
}

// firstInvalid returns the first byte of text that is not valid UTF-8.
func firstInvalid(text string) byte {
	for i, c := range text {
		if c != utf8.RuneError {
			continue
		}
		if _, size := utf8.DecodeRuneInString(text[i:]); size == 1 {
			return text[i]
		}
	}
	return 0
}

// CharsetReader is a function for xml.Decoder.CharsetReader. The encoding declared in a document applies unless
// a byte order mark or the caller specifies another one (RFC 7303 section 3).
func (s *Source) CharsetReader(label string, r io.Reader) (io.Reader, error) {
	if s.encoding.name != "" {
		return r, nil // already decoded
	}
	e, err := Parse(label)
	if err != nil {
		return nil, err
	}
	d := e.decoder()
	if d == nil {
		return r, nil
	}
	return transform.NewReader(r, d), nil
}

// Lines returns a reader of s. It calls bad with each line, or part of a long line, that Check rejects, before
// any of it is returned. If bad returns an error, the reader returns it: that is for formats in which a single
// part cannot be rejected.
func (s *Source) Lines(bad func(line int64, text string, failure error) error) io.Reader {
	return &lines{s: s, bad: bad, line: 1}
}

type lines struct {
	s    *Source
	bad  func(line int64, text string, failure error) error
	line int64
	rest []byte // unread rest of the last checked line
	err  error
}

// Read implements io.Reader.
func (r *lines) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		part, err := r.s.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			part, err = r.whole(part)
		}
		if failure := r.s.Check(string(part)); failure != nil {
			if r.err = r.bad(r.line, string(part), failure); r.err != nil {
				return 0, r.err
			}
		}
		r.line += int64(bytes.Count(part, []byte{'\n'}))
		r.rest, r.err = part, err
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// whole extends the beginning of a long line to the end of a character.
func (r *lines) whole(part []byte) ([]byte, error) {
	part = bytes.Clone(part)
	for range utf8.UTFMax {
		if utf8.FullRune(part[lastRune(part):]) {
			return part, nil
		}
		c, err := r.s.ReadByte()
		if err != nil {
			return part, err
		}
		part = append(part, c)
	}
	return part, nil
}

// lastRune returns the offset of the last character of text.
func lastRune(text []byte) int {
	i := len(text) - 1
	for i > 0 && len(text)-i < utf8.UTFMax && !utf8.RuneStart(text[i]) {
		i--
	}
	return max(i, 0)
}
