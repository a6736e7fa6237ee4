// Package list reads lists of hosts, URLs and networks from files, as administrators write and others publish them, and says
// what is in them: to the rules of the forward proxy. A File keeps the content of a file that changes.
//
// The syntax of all lists: an entry a line; "#" begins a comment at the start of a line or behind a space. A line that is not
// understood is left out, counted and reported; it makes no other line invalid.
package list

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urnd/urnd/internal/plaintext"
)

// The bounds of a list. A list that exceeds MaxEntries or MaxBytes is an error; longer lines are skipped.
const (
	MaxEntries = 10_000_000
	MaxBytes   = 512 << 20
	maxLine    = 4096 // bytes; the longest URLs in use are about half of it
)

// maxMistakes bounds the lines that a Report describes.
const maxMistakes = 10

// ErrTooLarge is for a list with more than MaxEntries entries or MaxBytes bytes.
var ErrTooLarge = fmt.Errorf("a list has at most %d entries and %d MiB", MaxEntries, MaxBytes>>20)

// Report says what was read.
type Report struct {
	Entries int // duplicates are counted, too
	Skipped int // lines that were not understood
	// Mistakes are the first ten of them.
	Mistakes []Mistake
	// Unfinished is whether the last line has no line end: who writes the file may not have finished.
	Unfinished bool
}

// Mistake is a line that was skipped.
type Mistake struct {
	Line   int    // from 1
	Text   string // shortened, without control characters
	Reason string // what is wrong, and what to write instead
}

// String returns the mistake in one line.
func (m Mistake) String() string { return fmt.Sprintf("line %d, %q: %s", m.Line, m.Text, m.Reason) }

// skip records a line that was skipped.
func (r *Report) skip(number int, text string, reason error) {
	const most = 80 // bytes of a line that are shown
	r.Skipped++
	if len(r.Mistakes) < maxMistakes {
		r.Mistakes = append(r.Mistakes, Mistake{number, plaintext.Shorten(plaintext.OneLine(text), most), reason.Error()})
	}
}

var errLineLength = fmt.Errorf("a line has at most %d bytes", maxLine)

// read calls add with each line that is neither empty nor a comment, without the comment and white space around it. add returns
// the number of entries of the line; its error skips the line, but for ErrTooLarge. comments are the characters that begin one.
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

// withoutComment returns a line up to its comment, which begins at its start or behind white space, without white space around.
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
