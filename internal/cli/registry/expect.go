package registry

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/internal/charset"
	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/internal/plaintext"
	"github.com/urnd/urnd/internal/tabular"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
)

// newTest returns the command urnd registry test. Its file is not named test because Go treats files ending
// in _test as tests.
func newTest(w Wiring) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "test FILE",
		Short: "Compare the targets of names with expected ones",
		Long: `Resolve each name of FILE (- is standard input) as the daemon would, by all systems that are
configured, and compare the location that clients get with the expected one. Names whose location
differs are printed, with a minus before the expected result and a plus before the actual one.

FILE is CSV with the columns name, location and perhaps status, after a line with their names or
without one; or NDJSON with members of those names. A status is active (also 200 or 3xx), withdrawn
(410), missing (404) or failed; the default is active if there is a location. An empty location
matches any. The column redirect has the expected status of the redirect: 301, 302, 303, 307 or
308.

The exit status is 1 if a result differs or a line cannot be read.`,
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
			return p.InterruptedRestart(err, none)
		}
		r, err := w.Resolve(cmd.Context(), c, cmd.ErrOrStderr())
		if err != nil {
			return p.InterruptedRestart(err, none)
		}
		defer r.Close()
		t := expectationTest{resolution: r, w: p.Writer(cmd.OutOrStdout()), progress: p}
		err = cli.InOrder(cmd.Context(), testWorkers, expected.next, t.test, func() error { return nil }, t.print)
		if err != nil {
			return p.InterruptedRestart(err, "%d names were tested: %d as expected, %d not", t.good+t.bad,
				t.good, t.bad)
		}
		fmt.Fprintf(p.Writer(cmd.ErrOrStderr()), "urnd: tested %d names: %d as expected, %d not\n", t.good+t.bad,
			t.good, t.bad)
		if t.bad > 0 {
			return cli.Hint(cli.ErrReported, "urnd resolve --trace NAME shows how a name is resolved")
		}
		return nil
	}
	return cmd
}

// expectationTest compares the resolution of names with expectations.
type expectationTest struct {
	resolution cli.Resolution
	w          io.Writer
	progress   *cli.Progress
	good, bad  int
}

// testWorkers is the number of names that are resolved concurrently.
const testWorkers = 16

// print prints the difference of a name, "" if it meets the expectation, and counts it.
func (t *expectationTest) print(failure string) (err error) {
	if failure == "" {
		t.good++
	} else {
		t.bad++
		_, err = fmt.Fprint(t.w, failure)
	}
	t.progress.Show(cli.Step{
		Activity: "testing names", Done: int64(t.good + t.bad),
		More: fmt.Sprintf("%d not as expected", t.bad),
	})
	return err
}

// test returns the difference from an expectation, "" if there is none.
func (t *expectationTest) test(ctx context.Context, e expectation) string {
	if e.failure != nil {
		return fmt.Sprintf("line %d: %v\n", e.line, e.failure)
	}
	was := t.outcome(ctx, e.name)
	if was.status == e.status && (e.location == "" || was.location == e.location) &&
		(e.redirect == 0 || was.redirect == e.redirect) {
		return ""
	}
	var text strings.Builder
	fmt.Fprintf(&text, "line %d: %s\n", e.line, plaintext.OneLine(e.name))
	expected := outcome{location: e.location, status: e.status, redirect: e.redirect}
	if e.redirect == 0 {
		was.redirect = 0 // no expectation
	}
	fmt.Fprintf(&text, "  - %s\n", expected)
	fmt.Fprintf(&text, "  + %s\n", was)
	if was.reason != "" {
		fmt.Fprintf(&text, "    %s\n", plaintext.OneLine(was.reason))
	}
	return text.String()
}

// outcome is the result of resolving a name: a location and a redirect status, or the reason of a failure.
type outcome struct {
	location, status, reason string
	redirect                 int // 0 for none
}

// String returns the status, the redirect status and the location.
func (o outcome) String() string {
	words := o.status
	if o.redirect != 0 {
		words += " " + strconv.Itoa(o.redirect)
	}
	return plaintext.OneLine(strings.TrimSpace(words + " " + o.location))
}

// The statuses of outcomes.
const (
	testActive    = "active"
	testWithdrawn = "withdrawn"
	testMissing   = "missing"
	testFailed    = "failed"
)

// outcome resolves a name.
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

// resolve resolves a name as a user types it.
func (t *expectationTest) resolve(ctx context.Context, name string) (resolver.Answer, error) {
	q, err := t.resolution.Names.ParseInput(name, resolver.I2L)
	if err != nil {
		return resolver.Answer{}, err
	}
	return t.resolution.Resolver.Resolve(ctx, q.Selected())
}

// expectation is the expected resolution of a name, from a line of a file.
type expectation struct {
	line                   int64
	name, location, status string
	redirect               int   // the redirect status; 0 is any
	failure                error // why the line is invalid
}

// expectations reads rows of CSV, or lines of NDJSON if the first one begins with a brace.
type expectations struct {
	source  *charset.Source
	read    func() (tabular.Row, error)
	started bool
	columns []string // of CSV; nil for NDJSON
}

func newExpectations(in io.Reader, encoding charset.Encoding) (*expectations, error) {
	source, err := encoding.NewSource(in)
	if err != nil {
		return nil, err
	}
	const shown = 1000
	// The error recurs at the next read.
	if start, _ := source.Peek(shown); bytes.HasPrefix(bytes.TrimSpace(start), []byte{'{'}) {
		return &expectations{source: source, read: tabular.NewLines(source).Read}, nil
	}
	columns := []string{"name", "location", "status", "redirect"}
	return &expectations{source: source, read: tabular.NewReader(source, ',').Read, columns: columns}, nil
}

// next returns the next expectation; io.EOF after the last one.
func (x *expectations) next() (expectation, error) {
	for {
		row, err := x.read()
		if err != nil {
			return expectation{}, err
		}
		text, first := strings.TrimSpace(row.Text), !x.started
		if x.started = true; text == "" || text[0] == '#' || first && x.header(row.Cells) {
			continue
		}
		e := expectation{line: row.Line, failure: row.Err}
		if e.failure == nil {
			e.failure = x.source.Check(row.Text)
		}
		switch {
		case e.failure != nil:
		case x.columns == nil || text[0] == '{':
			e.failure = e.readJSON([]byte(text))
		default:
			e.failure = e.readRow(row.Cells, x.columns)
		}
		return e, nil //nolint:nilerr // the expectation has the error of its line
	}
}

// header reports whether a first row is a header. If so, it sets the columns.
func (x *expectations) header(cells []string) bool {
	columns := make([]string, len(cells))
	for i, cell := range cells {
		columns[i] = strings.ToLower(strings.TrimSpace(cell))
	}
	if !slices.Contains(columns, "name") {
		return false
	}
	x.columns = columns
	return true
}

func (e *expectation) readRow(cells, columns []string) error {
	if len(cells) > len(columns) {
		return fmt.Errorf("it has %d columns, and there are %d: %s", len(cells), len(columns),
			strings.Join(columns, ", "))
	}
	for i, cell := range cells {
		var err error
		switch columns[i] {
		case "name":
			e.name = cell
		case "location":
			e.location = cell
		case "status":
			e.status = cell
		case "redirect":
			if e.redirect, err = registry.ParseRedirect(strings.TrimSpace(cell)); err != nil {
				return err
			}
		}
	}
	return e.complete()
}

func (e *expectation) readJSON(text []byte) error {
	var document struct {
		Name, Location string
		Status         json.RawMessage
		Redirect       int
	}
	if err := json.Unmarshal(text, &document); err != nil {
		return fmt.Errorf("it is not a JSON object with a name: %w", err)
	}
	var err error
	if e.redirect, err = registry.ParseRedirect(strconv.Itoa(document.Redirect)); err != nil {
		return err
	}
	e.name, e.location, e.status = document.Name, document.Location, strings.Trim(string(document.Status), `"`)
	return e.complete()
}

// complete checks an expectation, and normalizes its status.
func (e *expectation) complete() error {
	if e.name == "" {
		return errors.New("the name is missing")
	}
	status := testStatus(strings.ToLower(e.status))
	switch {
	case status == "":
		return fmt.Errorf("%q is not a status: use active, withdrawn, missing, reserved, failed or an HTTP status",
			e.status)
	case status != testActive && e.redirect != 0:
		return fmt.Errorf("a name that is %s has no redirect", status)
	case status != testActive && e.location != "":
		return fmt.Errorf("a name that is %s has no location", status)
	}
	e.status = status
	return nil
}

// testStatus returns the status for a word or an HTTP status, "" if it is invalid.
func testStatus(text string) string {
	switch text {
	case "":
		return testActive
	case testActive, testWithdrawn, testMissing, testFailed:
		return text
	case "reserved": // it does not resolve yet
		return testMissing
	}
	n, err := strconv.Atoi(text)
	switch {
	case err != nil:
		return ""
	case n == http.StatusNotFound:
		return testMissing
	case n == http.StatusGone:
		return testWithdrawn
	case 200 <= n && n < 400:
		return testActive
	case 500 <= n && n < 600:
		return testFailed
	default:
		return ""
	}
}
