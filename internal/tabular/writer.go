package tabular

import (
	"bufio"
	"io"
	"strings"
)

// Writer writes CSV or TSV that Reader reads back unchanged and whose cells spreadsheets do not execute. Its
// output equals that of encoding/csv, except that it quotes cells that end with spaces, which would otherwise
// be trimmed, and preserves carriage returns, which encoding/csv drops if lines end with CRLF. It is not safe
// for concurrent use.
type Writer struct {
	w         *bufio.Writer
	separator byte
	lineEnd   string
}

// NewWriter returns a Writer with this separator that ends rows with a line feed.
func NewWriter(w io.Writer, separator byte) *Writer {
	return &Writer{bufio.NewWriter(w), separator, "\n"}
}

// NewDocumentWriter returns a Writer for a document of the media type text/csv, whose lines end with CRLF (RFC
// 4180 section 2).
func NewDocumentWriter(w io.Writer) *Writer { return &Writer{bufio.NewWriter(w), ',', "\r\n"} }

// Write writes a row to the buffer. After an error all further calls return it.
func (w *Writer) Write(cells ...string) error {
	for i, cell := range cells {
		if i > 0 {
			_ = w.w.WriteByte(w.separator) // the last write returns the error
		}
		cell = guarded(cell)
		if strings.IndexByte(cell, w.separator) >= 0 || strings.ContainsAny(cell, "\"\r\n") ||
			strings.TrimSpace(cell) != cell {
			cell = `"` + strings.ReplaceAll(cell, `"`, `""`) + `"`
		}
		_, _ = w.w.WriteString(cell)
	}
	_, err := w.w.WriteString(w.lineEnd)
	return err
}

// Flush writes the buffer.
func (w *Writer) Flush() error { return w.w.Flush() }
