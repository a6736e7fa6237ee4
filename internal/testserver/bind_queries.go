package testserver

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Queries returns what the server was asked since the last Reset, in order, as
// "name TYPE": the name in lower case and without the last dot, but "." for
// the root, and with BIND's escapes. Every query that was answered before the
// call is there. It also works after Stop.
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

// Reset forgets the queries so far.
func (b *BIND) Reset() {
	b.t.Helper()
	log, err := b.mark()
	if err != nil {
		b.t.Fatalf("BIND: reset: %v", err)
	}
	b.since = len(log)
}

// mark asks a question like no other and returns the query log up to it: named
// takes queries in order, so all that came before are in the log too.
func (b *BIND) mark() ([]byte, error) {
	if b.stopped {
		return os.ReadFile(b.path(bindQueryFile))
	}
	b.markers++
	name := fmt.Sprintf("%d.marker.testserver.invalid", b.markers)
	var marked []byte
	err := b.poll(func() (bool, error) {
		_, err := b.probe.ask(name, typeSOA)
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return false, err
		}
		log, err := os.ReadFile(b.path(bindQueryFile))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return false, fmt.Errorf("read log: %w", err)
		}
		marked = cutAfter(log, querySign+name+" ")
		return marked != nil, nil
	})
	if err != nil {
		return nil, fmt.Errorf("marker in the query log: %w", err)
	}
	return marked, nil
}

// cutAfter returns log up to the end of the line with sign, or nil while there
// is no such line.
func cutAfter(log []byte, sign string) []byte {
	start := bytes.Index(log, []byte(sign))
	if start < 0 {
		return nil
	}
	length := bytes.IndexByte(log[start:], '\n')
	if length < 0 {
		return nil
	}
	return log[:start+length+1]
}

// readLog returns the queries of whole lines, but not the probe's.
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

// querySign stands before the question; names in the log hold no space.
const querySign = ": query: "

// parseQuery parses a line of the query log, such as
//
//	client @0x7f53 127.0.0.1#38132 (example.com): query: example.com IN NAPTR +E(0)T (127.0.0.1)
//
// A server with another format must not look like one that nobody asked.
func parseQuery(line string) (loggedQuery, error) {
	client, question, ok := strings.Cut(line, querySign)
	fields := strings.Fields(question) // name, class, type, flags, address
	if !ok || len(fields) < 4 {
		return loggedQuery{}, fmt.Errorf("query log: no question in line %q", line)
	}
	_, client, _ = strings.Cut(client, "#")
	digits := client[:len(client)-len(strings.TrimLeft(client, "0123456789"))]
	port, err := strconv.ParseUint(digits, 10, 16)
	if err != nil {
		return loggedQuery{}, fmt.Errorf("query log: port of the client in line %q: %w", line, err)
	}
	return loggedQuery{
		question: strings.ToLower(fields[0]) + " " + fields[2],
		port:     uint16(port),
		tcp:      strings.Contains(fields[3], "T"),
	}, nil
}
