package registry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/internal/plaintext"
	"github.com/urnd/urnd/resolver"
)

// newTest is urnd registry test; its file has another name, since Go takes files that end in _test for tests.
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
	encoding := addEncoding(cmd)
	addStoreFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		p := cli.StartProgress(cmd, "testing names")
		defer p.End()
		const none = "nothing was tested"
		c, err := s.Load(map[string]string{"registry.store": "store"})
		if err != nil {
			return err
		}
		in, err := cli.Open(cmd, args[0])
		if err != nil {
			return cli.Usage(err)
		}
		defer in.Close()
		expected, err := newExpectations(in, *encoding)
		if err != nil {
			return p.Anew(err, none)
		}
		r, err := w.Resolve(cmd.Context(), c, cmd.ErrOrStderr())
		if err != nil {
			return p.Anew(err, none)
		}
		defer r.Close()
		t := expectationTest{resolution: r, w: p.Over(cmd.OutOrStdout()), progress: p}
		err = cli.InOrder(cmd.Context(), testWorkers, expected.next, t.test, func() error { return nil }, t.print)
		if err != nil {
			return p.Anew(err, "%d names were tested: %d as expected, %d not", t.good+t.bad, t.good, t.bad)
		}
		fmt.Fprintf(p.Over(cmd.ErrOrStderr()), "urnd: tested %d names: %d as expected, %d not\n", t.good+t.bad, t.good, t.bad)
		if t.bad > 0 {
			return cli.Hint(cli.ErrReported, "urnd resolve --trace NAME shows why a name leads where it does")
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

// testWorkers is how many names are resolved at a time.
const testWorkers = 16

// print prints what is wrong with a name, "" where all is as expected.
func (t *expectationTest) print(fault string) (err error) {
	if fault == "" {
		t.good++
	} else {
		t.bad++
		_, err = fmt.Fprint(t.w, fault)
	}
	t.progress.Show(cli.Step{What: "testing names", Done: int64(t.good + t.bad), More: fmt.Sprintf("%d not as expected", t.bad)})
	return err
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
	fmt.Fprintf(&text, "line %d: %s\n", e.line, plaintext.OneLine(e.name))
	expected := outcome{location: e.location, status: e.status, redirect: e.redirect}
	if e.redirect == 0 {
		was.redirect = 0 // nothing is said of it
	}
	fmt.Fprintf(&text, "  - %s\n", expected)
	fmt.Fprintf(&text, "  + %s\n", was)
	if was.reason != "" {
		fmt.Fprintf(&text, "    %s\n", plaintext.OneLine(was.reason))
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
	return plaintext.OneLine(strings.TrimSpace(words + " " + o.location))
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
