package registry

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/urnd/urnd/resolver/registry"
)

// expectation is a line of a file that says where a name leads.
type expectation struct {
	line                   int
	name, location, status string
	redirect               int   // the status of the redirect; 0 is any
	fault                  error // why the line cannot be read
}

// expectations reads lines: of CSV, or of NDJSON where the first one begins with a brace.
type expectations struct {
	lines   *bufio.Scanner
	line    int
	columns []string // of CSV
}

// maxExpectation bounds a line: a name and a location, in quotes.
const maxExpectation = 256 << 10

func newExpectations(in io.Reader) *expectations {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxExpectation)
	return &expectations{lines: lines, columns: []string{"name", "location", "status", "redirect"}}
}

// next returns the next expectation; io.EOF after the last.
func (x *expectations) next() (expectation, error) {
	for x.lines.Scan() {
		x.line++
		text := bytes.TrimSpace(x.lines.Bytes())
		if x.line == 1 {
			text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")) // spreadsheets write a byte order mark
		}
		if len(text) == 0 || text[0] == '#' || x.line == 1 && x.header(text) {
			continue
		}
		e := expectation{line: x.line}
		if text[0] == '{' {
			e.fault = e.readJSON(text)
		} else {
			e.fault = e.readCSV(text, x.columns)
		}
		return e, nil
	}
	if err := x.lines.Err(); err != nil {
		return expectation{}, fmt.Errorf("reading line %d: %w", x.line+1, err)
	}
	return expectation{}, io.EOF
}

// header reports whether a line has the names of the columns, which are then used.
func (x *expectations) header(text []byte) bool {
	fields, err := csv.NewReader(bytes.NewReader(bytes.ToLower(text))).Read()
	if err != nil {
		return false
	}
	named := false
	for i := range fields {
		fields[i] = strings.TrimSpace(fields[i])
		named = named || fields[i] == "name"
	}
	if named {
		x.columns = fields
	}
	return named
}

func (e *expectation) readCSV(text []byte, columns []string) error {
	r := csv.NewReader(bytes.NewReader(text))
	r.TrimLeadingSpace = true
	fields, err := r.Read()
	if err != nil {
		return fmt.Errorf("it is not CSV: %w", errors.Unwrap(err))
	}
	if len(fields) > len(columns) {
		return fmt.Errorf("it has %d columns, and there are %d: %s", len(fields), len(columns), strings.Join(columns, ", "))
	}
	for i, field := range fields {
		switch columns[i] {
		case "name":
			e.name = field
		case "location":
			e.location = field
		case "status":
			e.status = field
		case "redirect":
			if e.redirect, err = registry.ParseRedirect(strings.TrimSpace(field)); err != nil {
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
