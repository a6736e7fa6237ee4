package testserver

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Queries returns the queries to the server since the last Reset, in order, as
// "name TYPE": the name in lower case and without the last dot, but "." for
// the root, and with BIND's escapes. Every query that was answered before the
// call is included. Queries also works after Stop.
func (b *BIND) Queries() []string {
	b.t.Helper()
	log, err := b.mark()
	if err != nil {
		b.t.Fatalf("BIND: queries: %v", err)
	}
	queries, err := b.readLog(log[b.since:])
	if err != nil {
		b.t.Fatalf("BIND: queries: %v", err)
	}
	return queries
}

// Reset discards the queries so far.
func (b *BIND) Reset() {
	b.t.Helper()
	log, err := b.mark()
	if err != nil {
		b.t.Fatalf("BIND: reset: %v", err)
	}
	b.since = len(log)
}

// mark sends a unique query and returns the query log up to it: named logs queries
// in order, so that all earlier ones are in the log too.
func (b *BIND) mark() ([]byte, error) {
	if b.stopped {
		return os.ReadFile(b.path(bindQueryFile))
	}
	b.markers++
	name := fmt.Sprintf("%d.marker.testserver.invalid", b.markers)
	var marked []byte
	err := b.poll(func() (bool, error) {
		_, err := b.probe.query(name, typeSOA)
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return false, err
		}
		log, err := os.ReadFile(b.path(bindQueryFile))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return false, fmt.Errorf("read log: %w", err)
		}
		marked = cutAfter(log, queryLabel+name+" ")
		return marked != nil, nil
	})
	if err != nil {
		return nil, fmt.Errorf("waiting for a marker in the query log: %w", err)
	}
	return marked, nil
}

// cutAfter returns log up to the end of the line with marker, or nil if there is no
// such line yet.
func cutAfter(log []byte, marker string) []byte {
	start := bytes.Index(log, []byte(marker))
	if start < 0 {
		return nil
	}
	length := bytes.IndexByte(log[start:], '\n')
	if length < 0 {
		return nil
	}
	return log[:start+length+1]
}

// readLog returns the queries in log, which has complete lines, except those of the
// probe.
func (b *BIND) readLog(log []byte) ([]string, error) {
	var queries []string
	for line := range strings.Lines(string(log)) {
		query, err := parseQuery(line)
		if err != nil {
			return nil, err
		}
		if query.tcp || query.port != b.port {
			queries = append(queries, query.question)
		}
	}
	return queries, nil
}

// loggedQuery is one line of the query log.
type loggedQuery struct {
	question string // "name TYPE"
	port     uint16 // the client's
	tcp      bool
}

// queryLabel precedes the question; names in the log contain no space.
const queryLabel = ": query: "

// parseQuery parses a line of the query log, such as
//
//	client @0x7f53 127.0.0.1#38132 (example.com): query: example.com IN NAPTR +E(0)T (127.0.0.1)
//
// Lines in another format are errors: they must not look like a log without queries.
func parseQuery(line string) (loggedQuery, error) {
	client, question, ok := strings.Cut(line, queryLabel)
	fields := strings.Fields(question) // name, class, type, flags, address
	if !ok || len(fields) < 4 {
		return loggedQuery{}, fmt.Errorf("parsing the query log: no question in line %q", line)
	}
	_, client, _ = strings.Cut(client, "#")
	digits := client[:len(client)-len(strings.TrimLeft(client, "0123456789"))]
	port, err := strconv.ParseUint(digits, 10, 16)
	if err != nil {
		return loggedQuery{}, fmt.Errorf("parsing the query log: port of the client in line %q: %w", line, err)
	}
	return loggedQuery{
		question: strings.ToLower(fields[0]) + " " + fields[2],
		port:     uint16(port),
		tcp:      strings.Contains(fields[3], "T"),
	}, nil
}
