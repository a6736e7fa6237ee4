// Package list reads the lists of hosts, URLs and networks that rules of the forward proxy refer to: files
// that administrators maintain or that others publish, such as hosts files and lists for Squid, AdBlock and
// FireHOL. Text enters; a set with a Has method leaves, with a Report of the lines that were skipped. A File
// keeps the content of a file up to date. Host names are compared by RFC 1035 and IDNA, URLs in the normal
// form of RFC 3986 section 6.
//
// In all lists a line has one entry; "#" begins a comment at the start of a line or after a space. An invalid
// line is skipped, counted and reported; it does not affect other lines.
package list

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urnd/urnd/internal/plaintext"
)

// The limits of a list. A list that exceeds MaxEntries or MaxBytes is an error; longer lines are skipped.
const (
	MaxEntries = 10_000_000
	MaxBytes   = 512 << 20
	maxLine    = 4096 // bytes; about twice the length of the longest URLs in use
)

// maxMistakes limits the lines that a Report describes.
const maxMistakes = 10

// ErrTooLarge is the error of a list with more than MaxEntries entries or MaxBytes bytes.
var ErrTooLarge = fmt.Errorf("a list has at most %d entries and %d MiB", MaxEntries, MaxBytes>>20)

// Report is the outcome of reading a list.
type Report struct {
	Entries int // duplicates included
	Skipped int // invalid lines
	// Mistakes are the first ten of them.
	Mistakes []Mistake
	// Unfinished is whether the last line has no line end: the file may still be being written.
	Unfinished bool
}

// Mistake is a line that was skipped.
type Mistake struct {
	Line   int    // starting at 1
	Text   string // shortened, without control characters
	Reason string // the error, and the correct form
}

// String returns the mistake as one line.
func (m Mistake) String() string { return fmt.Sprintf("line %d, %q: %s", m.Line, m.Text, m.Reason) }

// skip records a skipped line.
func (r *Report) skip(number int, text string, reason error) {
	const most = 80 // bytes of a line that are quoted
	r.Skipped++
	if len(r.Mistakes) < maxMistakes {
		r.Mistakes = append(r.Mistakes,
			Mistake{number, plaintext.Shorten(plaintext.OneLine(text), most), reason.Error()})
	}
}

var errLineLength = fmt.Errorf("a line has at most %d bytes", maxLine)

// read calls add with each line that is neither empty nor a comment, without its comment and surrounding
// white space. add returns the number of entries of the line; its error skips the line, except ErrTooLarge.
// comments are the characters that begin a comment.
func read(r io.Reader, comments string, add func(line string) (int, error)) (report Report, err error) {
	limited := &io.LimitedReader{R: r, N: MaxBytes + 1}
	buffered := bufio.NewReaderSize(limited, maxLine+len("\r\n"))
	for number := 1; ; number++ {
		raw, err := buffered.ReadSlice('\n')
		tooLong := errors.Is(err, bufio.ErrBufferFull)
		text := string(raw)
		for errors.Is(err, bufio.ErrBufferFull) {
			raw, err = buffered.ReadSlice('\n')
		}
		atEnd := errors.Is(err, io.EOF)
		switch {
		case err != nil && !atEnd:
			return report, fmt.Errorf("line %d: %w", number, err)
		case limited.N == 0:
			return report, ErrTooLarge
		case atEnd:
			report.Unfinished = len(raw) > 0
		}
		if number == 1 {
			text = strings.TrimPrefix(text, "\ufeff") // the byte order mark of UTF-8
		}
		if tooLong {
			report.skip(number, text, errLineLength)
		} else if line := withoutComment(text, comments); line != "" {
			added, err := add(line)
			report.Entries += added
			if errors.Is(err, ErrTooLarge) || report.Entries > MaxEntries {
				return report, ErrTooLarge
			}
			if err != nil {
				report.skip(number, strings.TrimSpace(text), err)
			}
		}
		if atEnd {
			return report, nil
		}
	}
}

// withoutComment removes the comment of a line, which begins at its start or after white space, and
// surrounding white space.
func withoutComment(text, comments string) string {
	text = strings.TrimSpace(text)
	for start := 0; ; {
		i := strings.IndexAny(text[start:], comments)
		if i < 0 {
			return text
		}
		if i += start; i == 0 || text[i-1] == ' ' || text[i-1] == '\t' {
			return strings.TrimSpace(text[:i])
		}
		start = i + 1
	}
}
