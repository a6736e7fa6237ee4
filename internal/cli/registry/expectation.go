package registry

import (
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
	read    func() (tabular.Row, error)
	begun   bool
	columns []string // of CSV; nil of NDJSON
}

func newExpectations(in io.Reader, encoding charset.Encoding) (*expectations, error) {
	source, err := encoding.NewSource(in)
	if err != nil {
		return nil, err
	}
	const shown = 1000
	if start, _ := source.Peek(shown); bytes.HasPrefix(bytes.TrimSpace(start), []byte{'{'}) { // an error comes again
		return &expectations{source: source, read: tabular.NewLines(source).Read}, nil
	}
	columns := []string{"name", "location", "status", "redirect"}
	return &expectations{source: source, read: tabular.NewReader(source, ',').Read, columns: columns}, nil
}

// next returns the next expectation; io.EOF after the last.
func (x *expectations) next() (expectation, error) {
	for {
		row, err := x.read()
		if err != nil {
			return expectation{}, err
		}
		text, isFirst := strings.TrimSpace(row.Text), !x.begun
		if x.begun = true; text == "" || text[0] == '#' || isFirst && x.header(row.Cells) {
			continue
		}
		e := expectation{line: row.Line, fault: row.Err}
		if e.fault == nil {
			e.fault = x.source.Check(row.Text)
		}
		switch {
		case e.fault != nil:
		case x.columns == nil || text[0] == '{':
			e.fault = e.readJSON([]byte(text))
		default:
			e.fault = e.readRow(row.Cells, x.columns)
		}
		return e, nil //nolint:nilerr // it has the fault of its line
	}
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
