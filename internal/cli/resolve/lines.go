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

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/resolver"
)

// Bounds of the work on lines.
const (
	lineWorkers = 16  // URIs that are resolved at a time
	linesAhead  = 256 // outcomes that wait for that of an earlier line
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
func (o output) resolveLines(ctx context.Context, p *cli.Progress, r resolver.Resolver, in io.Reader) error {
	interrupted := ctx
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	outcomes := make(chan chan outcomeOfLine, linesAhead)
	var read error
	var workers sync.WaitGroup
	workers.Go(func() {
		defer close(outcomes)
		read = o.startLines(ctx, r, cli.Interruptible(ctx, in), outcomes, &workers)
	})
	n, failed, written := o.printLines(interrupted, p, outcomes)
	cancel() // output may have failed
	for range outcomes {
	}
	workers.Wait()
	if err := interrupted.Err(); err != nil {
		return p.Interrupted(err, "the first %d lines were resolved; go on with the line %d", n, n+1)
	}
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

// printLines prints outcomes in their order, until it is interrupted, and returns how many.
func (o output) printLines(interrupted context.Context, p *cli.Progress, outcomes <-chan chan outcomeOfLine) (n, failed int, err error) {
	out := bufio.NewWriter(p.Over(o.w))
	o.w = out
	for outcome := range outcomes {
		if len(outcome) == 0 { // it is waited for: show what there is
			if err := out.Flush(); err != nil {
				return n, failed, err
			}
		}
		line := <-outcome
		if interrupted.Err() != nil { // the line may have failed by that
			break
		}
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
			return n, failed, err
		}
		p.Show(cli.Step{What: "resolving", Done: int64(n), Unit: "lines", More: fmt.Sprintf("%d failed", failed)})
	}
	p.End()
	if cli.IsTerminal(o.errors) && !cli.IsTerminal(os.Stdout) {
		fmt.Fprintf(o.errors, "urnd: %d lines, %d failed\n", n, failed)
	}
	return n, failed, out.Flush()
}
