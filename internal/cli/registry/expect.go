package registry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/internal/charset"
	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/resolver"
)

// newRegistryTest is urnd registry test; its file has another name, since Go takes files that end in _test
// for tests.
func newTest(w Wiring) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "test FILE",
		Short: "Compare where names lead with what is expected",
		Long: `Resolve each name of FILE (- is standard input) as the daemon would, by all systems that are configured,
and compare the location that clients are led to with the one that is expected. Names for which that differs
are printed, with a minus before what is expected and a plus before what came.

FILE is CSV with the columns name, location and perhaps status, after a line with their names or without
one; or NDJSON with members of those names. A status is active (also 200 or 3xx), withdrawn (410), missing
(404) or failed; without one it is active where there is a location. An empty location is any. A column
redirect has the status with which clients are to be redirected: 301, 302, 303, 307 or 308.

The exit status is 1 if a name leads elsewhere or a line cannot be read.`,
		Example: `  urnd registry test expectations.csv
  echo 'urn:nbn:fi:example-1,https://repository.example.org/1' | urnd registry test -`,
		Args: cobra.ExactArgs(1),
	}
	s := cli.AddSettings(cmd)
	encoding := cmd.Flags().String("encoding", "", encodingHelp)
	cmd.Flags().String("store", "", "use this `store`: sqlite:FILE or postgres://... (registry.store)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		p := cli.StartProgress(cmd, "testing names")
		defer p.End()
		c, err := s.Load(map[string]string{"registry.store": "store"})
		if err != nil {
			return err
		}
		of, err := charset.Parse(*encoding)
		if err != nil {
			return cli.Usage(err)
		}
		in := cmd.InOrStdin()
		if args[0] != "-" {
			file, err := os.Open(args[0])
			if err != nil {
				return cli.Usage(err)
			}
			defer file.Close()
			in = file
		}
		expected, err := newExpectations(cli.Interruptible(cmd.Context(), in), of)
		if err != nil {
			return p.Interrupted(err, "nothing was tested; the same command begins anew")
		}
		r, err := w.Resolve(cmd.Context(), c, cmd.ErrOrStderr())
		if err != nil {
			return p.Interrupted(err, "nothing was tested; the same command begins anew")
		}
		defer r.Close()
		t := expectationTest{resolution: r, w: p.Over(cmd.OutOrStdout()), progress: p}
		if err := t.run(cmd.Context(), expected); err != nil {
			return p.Interrupted(err, "%d names were tested: %d as expected, %d not; the same command begins anew", t.good+t.bad, t.good, t.bad)
		}
		p.End()
		fmt.Fprintf(cmd.ErrOrStderr(), "urnd: tested %d names: %d as expected, %d not\n", t.good+t.bad, t.good, t.bad)
		if t.bad > 0 {
			return cli.ErrReported
		}
		return nil
	}
	return cmd
}

// expectationTest compares names with what is expected of them.
type expectationTest struct {
	resolution cli.Resolution
	w          io.Writer
	progress   *cli.Progress
	good, bad  int
}

// Bounds of a test.
const (
	testPage    = 256 // names that are resolved before their outcomes are printed
	testWorkers = 16  // names that are resolved at a time
)

// run tests all expectations, testWorkers of them at a time.
func (t *expectationTest) run(ctx context.Context, in *expectations) error {
	for ctx.Err() == nil {
		var page []expectation
		var err error
		for err == nil && len(page) < testPage {
			var e expectation
			if e, err = in.next(); err == nil {
				page = append(page, e)
			}
		}
		if err := t.page(ctx, page); err != nil {
			return err
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
	return ctx.Err()
}

// page tests expectations, and prints those that are not met in their order.
func (t *expectationTest) page(ctx context.Context, page []expectation) error {
	faults := make([]string, len(page))
	slots := make(chan struct{}, testWorkers)
	var workers sync.WaitGroup
	for i, e := range page {
		slots <- struct{}{}
		workers.Go(func() {
			defer func() { <-slots }()
			faults[i] = t.test(ctx, e)
		})
	}
	workers.Wait()
	if ctx.Err() != nil { // what they have found is not of the names
		return ctx.Err()
	}
	defer func() {
		t.progress.Show(cli.Step{What: "testing names", Done: int64(t.good + t.bad), More: fmt.Sprintf("%d not as expected", t.bad)})
	}()
	for _, fault := range faults {
		if fault == "" {
			t.good++
			continue
		}
		t.bad++
		if _, err := fmt.Fprint(t.w, fault); err != nil {
			return err
		}
	}
	return nil
}

// test returns what is wrong, "" if all is as expected.
func (t *expectationTest) test(ctx context.Context, e expectation) string {
	if e.fault != nil {
		return fmt.Sprintf("line %d: %v\n", e.line, e.fault)
	}
	was := t.outcome(ctx, e.name)
	if was.status == e.status && (e.location == "" || was.location == e.location) && (e.redirect == 0 || was.redirect == e.redirect) {
		return ""
	}
	var text strings.Builder
	fmt.Fprintf(&text, "line %d: %s\n", e.line, oneLine(e.name))
	expected := outcome{location: e.location, status: e.status, redirect: e.redirect}
	if e.redirect == 0 {
		was.redirect = 0 // nothing is said of it
	}
	fmt.Fprintf(&text, "  - %s\n", expected)
	fmt.Fprintf(&text, "  + %s\n", was)
	if was.reason != "" {
		fmt.Fprintf(&text, "    %s\n", oneLine(was.reason))
	}
	return text.String()
}

// outcome is where a name leads, with which status of redirects, or that it leads nowhere, and why.
type outcome struct {
	location, status, reason string
	redirect                 int // 0 for none
}

// String returns the status, that of redirects and the location.
func (o outcome) String() string {
	words := o.status
	if o.redirect != 0 {
		words += " " + strconv.Itoa(o.redirect)
	}
	return oneLine(strings.TrimSpace(words + " " + o.location))
}

// The statuses of names that are tested.
const (
	testActive    = "active"
	testWithdrawn = "withdrawn"
	testMissing   = "missing"
	testFailed    = "failed"
)

// outcome returns what a name leads to.
func (t *expectationTest) outcome(ctx context.Context, name string) outcome {
	answer, err := t.resolve(ctx, name)
	switch {
	case err == nil && len(answer.Locations) > 0:
		o := outcome{location: answer.Locations[0].URI, status: testActive, redirect: http.StatusFound}
		if record := answer.Record(); record != nil && record.Redirect != 0 {
			o.redirect = record.Redirect
		}
		return o
	case err == nil:
		return outcome{status: testMissing, reason: "there is no location"}
	case errors.Is(err, resolver.ErrGone):
		return outcome{status: testWithdrawn, reason: err.Error()}
	case errors.Is(err, resolver.ErrNotFound), errors.Is(err, resolver.ErrUnsupported):
		return outcome{status: testMissing, reason: err.Error()}
	default:
		return outcome{status: testFailed, reason: err.Error()}
	}
}

// resolve returns where a name leads, as it would be typed.
func (t *expectationTest) resolve(ctx context.Context, name string) (resolver.Answer, error) {
	q, err := t.resolution.Names.TypedQuery(name, resolver.I2L)
	if err != nil {
		return resolver.Answer{}, err
	}
	return t.resolution.Resolver.Resolve(ctx, q.Selected())
}
