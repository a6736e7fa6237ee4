package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/uri"
)

// MaxLine bounds a line of standard input: the longest URI and its base.
const MaxLine = 2*uri.MaxLength + 2

// Result is the outcome for one input: a line of text, and a JSON document
// that holds the input too.
type Result struct {
	Text     string
	Document any
}

// Lines is a command on URIs: one line in, one line out.
type Lines struct {
	AsJSON bool
	Run    func(input string) (Result, error)
	// OnError returns the document of an input that failed; nil for the usual.
	OnError func(input string, f Fault) any
}

// Fault says what is wrong with an input.
type Fault struct {
	Message string `json:"message"`
	Offset  int    `json:"offset"`
	Rule    string `json:"rule"`
	Section string `json:"section"`
}

type failed struct {
	Input string `json:"input"`
	Error Fault  `json:"error"`
}

// RunAll runs the command on inputs, or on the lines of standard input where inputs is "-"
// alone. The error is ErrReported if any input was invalid.
func (l Lines) RunAll(cmd *cobra.Command, inputs []string) error {
	if len(inputs) == 1 && inputs[0] == "-" {
		return l.runLines(cmd)
	}
	out := bufio.NewWriter(cmd.OutOrStdout())
	bad := false
	var err error
	for _, input := range inputs {
		ok, writeErr := l.runOne(out, input)
		bad = bad || !ok
		err = errors.Join(err, writeErr)
	}
	if err = errors.Join(err, out.Flush()); err != nil {
		return err
	}
	if bad {
		return ErrReported
	}
	return nil
}

// runLines runs the command on the lines of standard input, until it is interrupted.
func (l Lines) runLines(cmd *cobra.Command) error {
	p := StartProgress(cmd, "reading lines")
	defer p.End()
	out := bufio.NewWriter(p.Over(cmd.OutOrStdout()))
	lines := bufio.NewScanner(Interruptible(cmd.Context(), cmd.InOrStdin()))
	lines.Buffer(nil, MaxLine)
	n, bad := 0, 0
	for ; cmd.Context().Err() == nil && lines.Scan(); n++ {
		ok, err := l.runOne(out, strings.TrimSuffix(lines.Text(), "\r"))
		if err != nil {
			return err
		}
		if !ok {
			bad++
		}
		p.Show(Step{What: "reading lines", Done: int64(n), More: fmt.Sprintf("%d of them wrong", bad)})
	}
	err := cmd.Context().Err()
	if fault := lines.Err(); fault != nil {
		err = fmt.Errorf("reading standard input: %w", fault)
	}
	if err = p.Interrupted(err, "the output is of the first %d lines; go on with the line %d", n, n+1); err == nil && bad > 0 {
		err = ErrReported
	}
	return errors.Join(err, out.Flush())
}

// runOne writes the line for one input, and reports whether the input was good.
func (l Lines) runOne(out io.Writer, input string) (bool, error) {
	r, err := l.Run(input)
	if err != nil {
		r = l.failed(input, err)
	}
	if !l.AsJSON {
		_, writeErr := fmt.Fprintln(out, r.Text)
		return err == nil, writeErr
	}
	return err == nil, PrintJSON(out, r.Document)
}

// Failed returns the outcome for an input with an error.
func Failed(input string, err error) Result { return Lines{}.failed(input, err) }

func (l Lines) failed(input string, err error) Result {
	f := Fault{Message: err.Error()}
	var parse *uri.ParseError
	if errors.As(err, &parse) {
		f = Fault{Message: parse.Rule.Says, Offset: parse.Offset, Rule: parse.Rule.Name, Section: parse.Rule.Section}
	}
	// A control character in an input must not break the line.
	text := "error: " + strings.Map(printable, err.Error())
	if l.OnError != nil {
		return Result{Text: text, Document: l.OnError(input, f)}
	}
	return Result{Text: text, Document: failed{Input: input, Error: f}}
}

func printable(r rune) rune {
	if r < ' ' || r == 0x7f {
		return '?'
	}
	return r
}
