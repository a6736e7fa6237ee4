package tabular

import (
	"bufio"
	"io"
	"strings"
)

// Writer writes CSV or TSV that Reader reads as it was, and whose cells spreadsheets do not compute. It writes what encoding/csv does, but
// for spaces at the end of a cell, which would be no part of it without quotation marks, and carriage returns, which that drops where lines
// end with CRLF. It is not safe for concurrent use.
type Writer struct {
	w         *bufio.Writer
	separator byte
	lineEnd   string
}

// NewWriter returns what writes cells that a byte separates, a line feed after each row.
func NewWriter(w io.Writer, separator byte) *Writer {
	return &Writer{bufio.NewWriter(w), separator, "\n"}
}

// NewDocumentWriter is NewWriter for a document of the media type text/csv, whose lines end with CRLF (RFC 4180 section 2).
func NewDocumentWriter(w io.Writer) *Writer { return &Writer{bufio.NewWriter(w), ',', "\r\n"} }

// Write writes a row, in part into a buffer. An error is that of all further calls, too.
func (w *Writer) Write(cells ...string) error {
	for i, cell := range cells {
		if i > 0 {
			_ = w.w.WriteByte(w.separator) // the last write returns the error
		}
		cell = guarded(cell)
		if strings.IndexByte(cell, w.separator) >= 0 || strings.ContainsAny(cell, "\"\r\n") || strings.TrimSpace(cell) != cell {
			cell = `"` + strings.ReplaceAll(cell, `"`, `""`) + `"`
		}
		_, _ = w.w.WriteString(cell)
	}
	_, err := w.w.WriteString(w.lineEnd)
	return err
}

// Flush writes what is in the buffer.
func (w *Writer) Flush() error { return w.w.Flush() }
