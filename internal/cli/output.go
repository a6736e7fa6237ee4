package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/internal/plaintext"
	"github.com/urnd/urnd/internal/tabular"
)

// Format is an output format: the value of --output.
type Format string

// The formats. JSON is one object per line if there are several results.
const (
	Text Format = "text"
	CSV  Format = "csv"
	JSON Format = "json"
)

// Output prints the results of a command in the format of --output.
type Output struct {
	Format Format
	cmd    *cobra.Command
}

// AddOutput adds the flag --output to cmd, with the formats text and others. documentation describes the JSON
// documents of the command.
func AddOutput(cmd *cobra.Command, documentation string, others ...Format) *Output {
	o := &Output{cmd: cmd}
	words := Words[Format]{{string(Text), Text}}
	for _, f := range others {
		words = append(words, Word[Format]{string(f), f})
	}
	choiceP(cmd, &o.Format, "output", "o", "output `format`: "+words.String()+"; json is "+documentation, words)
	return o
}

// IsJSON reports whether the format is JSON.
func (o *Output) IsJSON() bool { return o.Format == JSON }

// Document prints a document as JSON, or else calls print.
func (o *Output) Document(w io.Writer, document any, print func(w io.Writer) error) error {
	if o.IsJSON() {
		return PrintJSON(w, document)
	}
	return print(w)
}

// Table prints rows: aligned below their titles, as CSV, or as one JSON document each.
type Table struct {
	w      io.Writer
	format Format
	text   io.Writer // aligns the cells; w itself if they are only separated by tabs
	csv    *tabular.Writer

	// beforeLast separates the last cell of an aligned row, which belongs to no column because no tab
	// terminates it.
	beforeLast string
}

// Table returns a table whose text cells are aligned. End prints them.
func (o *Output) Table(w io.Writer, titles ...string) (*Table, error) { return o.aligned(w, 0, titles) }

// Numbers is Table with right-aligned cells, except for the last column.
func (o *Output) Numbers(w io.Writer, titles ...string) (*Table, error) {
	return o.aligned(w, tabwriter.AlignRight, titles)
}

func (o *Output) aligned(w io.Writer, flags uint, titles []string) (*Table, error) {
	t, err := o.Rows(w, titles...)
	if err == nil && o.Format == Text {
		t.text = tabwriter.NewWriter(w, 0, 0, 2, ' ', flags)
		if flags&tabwriter.AlignRight != 0 {
			t.beforeLast = "  "
		}
		err = t.Row(nil, titles...)
	}
	return t, err
}

// Rows returns a table that prints each row immediately: as text without titles, with cells separated by
// tabs.
func (o *Output) Rows(w io.Writer, titles ...string) (*Table, error) {
	t := &Table{w: w, format: o.Format, text: w}
	if o.Format != CSV {
		return t, nil
	}
	t.csv = tabular.NewWriter(w, ',')
	if err := t.csv.Write(titles...); err != nil {
		return t, err
	}
	return t, t.csv.Flush() // print the titles even if there are no rows
}

// Row prints a row: its document as JSON, otherwise its cells.
func (t *Table) Row(document any, cells ...string) error {
	switch t.format {
	case JSON:
		return PrintJSON(t.w, document)
	case CSV:
		if err := t.csv.Write(cells...); err != nil {
			return err
		}
		return t.csv.Flush()
	case Text:
	}
	for i := range cells {
		cells[i] = plaintext.OneLine(cells[i])
	}
	if t.text != t.w { // drop trailing empty cells
		for len(cells) > 1 && cells[len(cells)-1] == "" {
			cells = cells[:len(cells)-1]
		}
	}
	cells[len(cells)-1] = t.beforeLast + cells[len(cells)-1]
	_, err := fmt.Fprintln(t.text, strings.Join(cells, "\t"))
	return err
}

// End prints buffered rows.
func (t *Table) End() error {
	if aligned, ok := t.text.(*tabwriter.Writer); ok {
		return aligned.Flush()
	}
	return nil
}

// PrintJSON prints a document on one line.
func PrintJSON(w io.Writer, document any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(document)
}
