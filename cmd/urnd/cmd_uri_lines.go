package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/uri"
)

// maxLine bounds a line of standard input: the longest URI and its base.
const maxLine = 2*uri.MaxLength + 2

// result is the outcome for one input: a line of text, and a JSON document
// that holds the input too.
type result struct {
	text     string
	document any
}

// tool is one command on URIs: one line in, one line out.
type tool struct {
	asJSON bool
	run    func(input string) (result, error)
	// onError returns the document of an input that failed; nil for the usual.
	onError func(input string, e errorJSON) any
}

// errorJSON says what is wrong with an input.
type errorJSON struct {
	Message string `json:"message"`
	Offset  int    `json:"offset"`
	Rule    string `json:"rule"`
	Section string `json:"section"`
}

type failedJSON struct {
	Input string    `json:"input"`
	Error errorJSON `json:"error"`
}

// runAll runs t on inputs, or on the lines of standard input where inputs is "-"
// alone. The error is errReported if any input was invalid.
func (t tool) runAll(cmd *cobra.Command, inputs []string) error {
	out := bufio.NewWriter(cmd.OutOrStdout())
	bad := false
	var err error
	if len(inputs) == 1 && inputs[0] == "-" {
		bad, err = t.runLines(out, cmd.InOrStdin())
	} else {
		for _, input := range inputs {
			ok, writeErr := t.runOne(out, input)
			bad = bad || !ok
			err = errors.Join(err, writeErr)
		}
	}
	if err = errors.Join(err, out.Flush()); err != nil {
		return err
	}
	if bad {
		return errReported
	}
	return nil
}

func (t tool) runLines(out *bufio.Writer, in io.Reader) (bad bool, err error) {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		ok, err := t.runOne(out, strings.TrimSuffix(lines.Text(), "\r"))
		if err != nil {
			return bad, err
		}
		bad = bad || !ok
	}
	if err := lines.Err(); err != nil {
		return bad, fmt.Errorf("reading standard input: %w", err)
	}
	return bad, nil
}

// runOne writes the line for one input, and reports whether the input was good.
func (t tool) runOne(out io.Writer, input string) (bool, error) {
	r, err := t.run(input)
	if err != nil {
		r = t.failed(input, err)
	}
	if !t.asJSON {
		_, writeErr := fmt.Fprintln(out, r.text)
		return err == nil, writeErr
	}
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	return err == nil, encoder.Encode(r.document)
}

func (t tool) failed(input string, err error) result {
	e := errorJSON{Message: err.Error()}
	var parse *uri.ParseError
	if errors.As(err, &parse) {
		e = errorJSON{Message: parse.Rule.Says, Offset: parse.Offset, Rule: parse.Rule.Name, Section: parse.Rule.Section}
	}
	// A control character in an input must not break the line.
	text := "error: " + strings.Map(printable, err.Error())
	if t.onError != nil {
		return result{text: text, document: t.onError(input, e)}
	}
	return result{text: text, document: failedJSON{Input: input, Error: e}}
}

func printable(r rune) rune {
	if r < ' ' || r == 0x7f {
		return '?'
	}
	return r
}

// parseURI parses an absolute URI that is well formed by the rules of its scheme.
func parseURI(input string) (uri.URI, error) {
	u, err := uri.Parse(input)
	if err != nil {
		return uri.URI{}, err
	}
	return u, u.Check()
}

// cutPair splits an input that holds two URIs.
func cutPair(input string) (a, b string, err error) {
	a, b, ok := strings.Cut(input, "\t")
	if !ok {
		rule := uri.Rule{Name: "pair", Section: "urnd uri --help", Says: "two URIs are separated by a tab"}
		return "", "", &uri.ParseError{Input: input, Offset: len(input), Rule: rule}
	}
	return a, b, nil
}
