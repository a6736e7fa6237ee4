package registry

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/urnd/urnd/internal/charset"
	"github.com/urnd/urnd/internal/tabular"
	"github.com/urnd/urnd/resolver/registry"
)

// expectation is a line of a file that says where a name leads.
type expectation struct {
	line                   int64
	name, location, status string
	redirect               int   // the status of the redirect; 0 is any
	fault                  error // why the line cannot be read
}

// expectations reads rows of CSV, or lines of NDJSON where the first one begins with a brace.
type expectations struct {
	source  *charset.Source
	lines   *bufio.Scanner // of NDJSON; nil of CSV
	line    int64
	table   *tabular.Reader
	columns []string // of CSV
}

// maxExpectation bounds a line of NDJSON: a name and a location, in quotes.
const maxExpectation = 256 << 10

func newExpectations(in io.Reader, encoding charset.Encoding) (*expectations, error) {
	source, err := encoding.NewSource(in)
	if err != nil {
		return nil, err
	}
	const shown = 1000
	x := &expectations{source: source, columns: []string{"name", "location", "status", "redirect"}}
	if start, _ := source.Peek(shown); bytes.HasPrefix(bytes.TrimSpace(start), []byte{'{'}) { // an error comes again
		x.lines = bufio.NewScanner(source)
		x.lines.Buffer(nil, maxExpectation)
		return x, nil
	}
	x.table = tabular.NewReader(source, ',')
	return x, nil
}

// next returns the next expectation; io.EOF after the last.
func (x *expectations) next() (expectation, error) {
	if x.lines != nil {
		return x.nextLine()
	}
	for {
		row, err := x.table.Read()
		if err != nil {
			return expectation{}, err
		}
		text := strings.TrimSpace(row.Text)
		isFirst := x.line == 0
		if x.line = row.Line; text == "" || text[0] == '#' || isFirst && x.header(row.Cells) {
			continue
		}
		e := expectation{line: row.Line, fault: row.Err}
		if e.fault == nil {
			e.fault = x.source.Check(row.Text)
		}
		switch {
		case e.fault != nil:
		case text[0] == '{':
			e.fault = e.readJSON([]byte(text))
		default:
			e.fault = e.readRow(row.Cells, x.columns)
		}
		return e, nil //nolint:nilerr // it has the fault of its line
	}
}

// nextLine is next of NDJSON.
func (x *expectations) nextLine() (expectation, error) {
	for x.lines.Scan() {
		x.line++
		text := bytes.TrimSpace(x.lines.Bytes())
		if len(text) == 0 || text[0] == '#' {
			continue
		}
		e := expectation{line: x.line, fault: x.source.Check(string(text))}
		if e.fault == nil {
			e.fault = e.readJSON(text)
		}
		return e, nil
	}
	if err := x.lines.Err(); err != nil {
		return expectation{}, fmt.Errorf("reading line %d: %w", x.line+1, err)
	}
	return expectation{}, io.EOF
}

// header reports whether a first row has the names of the columns, which are then used.
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
		return fmt.Errorf("it has %d columns, and there are %d: %s", len(cells), len(columns), strings.Join(columns, ", "))
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

// complete checks what was read, and makes the status one of those of tests.
func (e *expectation) complete() error {
	if e.name == "" {
		return errors.New("the name is missing")
	}
	status := testStatus(strings.ToLower(e.status))
	switch {
	case status == "":
		return fmt.Errorf("%q is no status: it is active, withdrawn, missing, reserved, failed or one of HTTP", e.status)
	case status != testActive && e.redirect != 0:
		return fmt.Errorf("a name that is %s has no redirect", status)
	case status != testActive && e.location != "":
		return fmt.Errorf("a name that is %s has no location", status)
	}
	e.status = status
	return nil
}

// testStatus returns the status of tests for a word or a status of HTTP, "" if it is none.
func testStatus(text string) string {
	switch text {
	case "":
		return testActive
	case testActive, testWithdrawn, testMissing, testFailed:
		return text
	case "reserved": // it leads nowhere yet
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
