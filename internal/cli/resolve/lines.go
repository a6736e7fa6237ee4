package resolve

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/resolver"
)

// Bounds of the work on lines.
const (
	lineWorkers  = 16  // URIs that are resolved at a time
	linesAhead   = 256 // outcomes that wait for that of an earlier line
	progressStep = 200 * time.Millisecond
)

var errTraceOfLines = errors.New("--trace has no place for the lines of standard input: add --json")

// outcomeOfLine is the output for one line of input.
type outcomeOfLine struct {
	text     string // a line, without its end
	document any    // for JSON
	failed   bool
}

// resolveLines resolves the lines of in, side by side, and prints one line for each, in their
// order. The error is cli.ErrReported if any failed.
func (o output) resolveLines(ctx context.Context, r resolver.Resolver, in io.Reader) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	outcomes := make(chan chan outcomeOfLine, linesAhead)
	var read error
	var workers sync.WaitGroup
	workers.Go(func() {
		defer close(outcomes)
		read = o.startLines(ctx, r, in, outcomes, &workers)
	})
	failed, written := o.printLines(outcomes)
	cancel() // output may have failed
	for range outcomes {
	}
	workers.Wait()
	switch err := errors.Join(read, written); {
	case err != nil:
		return err
	case failed > 0:
		return cli.ErrReported
	default:
		return nil
	}
}

// startLines resolves each line in a goroutine of workers.
func (o output) startLines(
	ctx context.Context, r resolver.Resolver, in io.Reader, outcomes chan<- chan outcomeOfLine, workers *sync.WaitGroup,
) error {
	slots := make(chan struct{}, lineWorkers)
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, cli.MaxLine)
	for ctx.Err() == nil && lines.Scan() {
		line := strings.TrimSuffix(lines.Text(), "\r")
		outcome := make(chan outcomeOfLine, 1)
		select {
		case outcomes <- outcome:
		case <-ctx.Done():
			return nil
		}
		slots <- struct{}{}
		workers.Go(func() {
			defer func() { <-slots }()
			outcome <- o.resolveLine(ctx, r, line)
		})
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("reading standard input: %w", err)
	}
	return nil
}

func (o output) resolveLine(ctx context.Context, r resolver.Resolver, line string) outcomeOfLine {
	q, answer, trace, err := o.ask(ctx, r, line)
	if err != nil {
		failed := cli.Failed(line, err)
		return outcomeOfLine{text: failed.Text, document: failed.Document, failed: true}
	}
	steps := trace.Steps()
	if !o.trace {
		steps = nil
	}
	return outcomeOfLine{text: strings.Join(o.locations(q, answer), "\t"), document: api.NewAnswer(q, answer, steps)}
}

// printLines prints outcomes in their order, and on a terminal how far it is.
func (o output) printLines(outcomes <-chan chan outcomeOfLine) (failed int, err error) {
	out := bufio.NewWriter(o.w)
	o.w = out
	showing := cli.IsTerminal(o.errors) && !cli.IsTerminal(os.Stdout)
	shown := time.Now()
	n := 0
	for outcome := range outcomes {
		if len(outcome) == 0 { // it is waited for: show what there is
			if err := out.Flush(); err != nil {
				return failed, err
			}
		}
		line := <-outcome
		n++
		if line.failed {
			failed++
		}
		if o.json {
			err = o.encode(line.document)
		} else {
			_, err = fmt.Fprintln(out, line.text)
		}
		if err != nil {
			return failed, err
		}
		if showing && time.Since(shown) > progressStep {
			shown = time.Now()
			fmt.Fprintf(o.errors, "\r%d lines, %d failed", n, failed)
		}
	}
	if showing {
		fmt.Fprintf(o.errors, "\r%d lines, %d failed\n", n, failed)
	}
	return failed, out.Flush()
}
