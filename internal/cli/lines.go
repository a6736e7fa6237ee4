package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/internal/plaintext"
	"github.com/urnd/urnd/uri"
)

// MaxLine bounds a line of standard input, in bytes: the longest URI and its base.
const MaxLine = 2*uri.MaxLength + 2

// Result is the outcome for one input: a line of text, and a JSON document that includes the input.
type Result struct {
	Text     string
	Document any
}

// LineRunner runs a command on URIs: one line in, one line out.
type LineRunner struct {
	Output   *Output
	Activity string // the activity, for progress: "reading"
	Workers  int    // number of concurrent lines; 0 is one
	Run      func(ctx context.Context, input string) (Result, error)
	// OnError returns the document of a failed input; nil means the default document.
	OnError func(input string, f InputError) any
}

// outcome is the output for an input.
type outcome struct {
	Result
	input, failure string // the error; "" if it succeeded
}

// InputError is the error of an input. Offset is a byte offset; Rule and Section name the violated rule.
type InputError struct {
	Message string `json:"message"`
	Offset  int    `json:"offset"`
	Rule    string `json:"rule"`
	Section string `json:"section"`
}

type failed struct {
	Input string     `json:"input"`
	Error InputError `json:"error"`
}

// StdinAlone returns a usage error if "-" is combined with other inputs.
func StdinAlone(inputs []string) error {
	if len(inputs) > 1 && slices.Contains(inputs, Stdin) {
		return Usage(errors.New(`"-" reads the lines of standard input, and must be the only argument`))
	}
	return nil
}

// RunAll runs the command on inputs, or on the lines of standard input if inputs is "-" alone. The error is
// ErrReported if any input failed.
func (l LineRunner) RunAll(cmd *cobra.Command, inputs []string) error {
	if err := StdinAlone(inputs); err != nil {
		return err
	}
	p := StartProgress(cmd, l.Activity+" lines")
	defer p.End()
	next := func() (string, error) {
		if len(inputs) == 0 {
			return "", io.EOF
		}
		input := inputs[0]
		inputs = inputs[1:]
		return input, nil
	}
	if len(inputs) == 1 && inputs[0] == Stdin {
		next = scan(Interruptible(cmd.Context(), cmd.InOrStdin()))
	}
	w := bufio.NewWriter(p.Writer(cmd.OutOrStdout()))
	table, err := l.Output.Rows(w, "input", "output", "error")
	if err != nil {
		return err
	}
	n, bad := 0, 0
	err = InOrder(cmd.Context(), max(l.Workers, 1), next, l.outcome, func() error {
		if l.Workers > 1 || IsTerminal(cmd.OutOrStdout()) {
			return w.Flush() // show results so far
		}
		return nil
	}, func(o outcome) error {
		n++
		if o.failure != "" {
			bad++
		}
		p.Show(Step{Activity: l.Activity + " lines", Done: int64(n), More: fmt.Sprintf("%d lines failed", bad)})
		return l.print(w, table, o)
	})
	err = p.Interrupted(err, "the output covers the first %d lines: continue with line %d", n, n+1)
	if errs := cmd.ErrOrStderr(); IsTerminal(errs) && !IsTerminal(cmd.OutOrStdout()) { // the output is redirected
		fmt.Fprintf(errs, "urnd: %d lines, %d failed\n", n, bad)
	}
	if err = errors.Join(err, w.Flush()); err == nil && bad > 0 {
		return ErrReported
	}
	return err
}

// scan returns a function that returns the lines of standard input one by one.
func scan(r io.Reader) func() (string, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, MaxLine)
	return func() (string, error) {
		switch {
		case lines.Scan():
			return strings.TrimSuffix(lines.Text(), "\r"), nil
		case lines.Err() != nil:
			return "", fmt.Errorf("reading standard input: %w", lines.Err())
		default:
			return "", io.EOF
		}
	}
}

// outcome runs the command on an input.
func (l LineRunner) outcome(ctx context.Context, input string) outcome {
	r, err := l.Run(ctx, input)
	if err != nil {
		return outcome{l.failed(input, err), input, err.Error()}
	}
	return outcome{r, input, ""}
}

// print prints the output of an input.
func (l LineRunner) print(w io.Writer, table *Table, o outcome) error {
	switch {
	case l.Output.Format == Text:
		_, err := fmt.Fprintln(w, o.Text)
		return err
	case o.failure != "":
		return table.Row(o.Document, o.input, "", o.failure)
	default:
		return table.Row(o.Document, o.input, o.Text, "")
	}
}

func (l LineRunner) failed(input string, err error) Result {
	f := InputError{Message: err.Error()}
	var parse *uri.ParseError
	if errors.As(err, &parse) {
		f = InputError{
			Message: parse.Rule.Requirement, Offset: parse.Offset, Rule: parse.Rule.Name,
			Section: parse.Rule.Section,
		}
	}
	message := "error: " + plaintext.OneLine(err.Error())
	if l.OnError != nil {
		return Result{Text: message, Document: l.OnError(input, f)}
	}
	return Result{Text: message, Document: failed{Input: input, Error: f}}
}
