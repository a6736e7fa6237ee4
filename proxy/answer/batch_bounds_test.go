package answer_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/proxy/answer"
	"github.com/urnd/urnd/resolver"
)

// batchMemory is responder.batch that also returns the bytes of memory allocated.
func (s *responder) batchMemory(t *testing.T, kind, body string) (status int, lines []string, memory uint64) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	status, lines = s.batch(t, "", kind, body)
	runtime.ReadMemStats(&after)
	return status, lines, after.TotalAlloc - before.TotalAlloc
}

// Invalid names are not buffered, whatever their length: they take no memory, and at most 1 KiB of each is
// repeated.
func TestBatchOfLongNames(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	s := start(t, nil)
	const long = 15 << 20
	const most = 2 << 20
	escapes := strings.Repeat(`\u0061\"\\`, long/10)
	for _, tt := range []struct {
		name, kind, body string
		statuses         string // of the batch and its lines
	}{
		{
			"one string of no UTF-8", "application/json", `["` + strings.Repeat("\xff", long) + `", "urn:example:a"]`,
			"200 414 0",
		},
		{
			"one string of letters", "application/json", `["` + strings.Repeat("a", long) + `", "urn:example:a"]`,
			"200 414 0",
		},
		{
			"one string of escapes", "application/json", `["urn:example:a", "` + escapes + `", "urn:example:b"]`,
			"200 0 414 0",
		},
		{"one that does not end", "application/json", `["` + strings.Repeat("a", long), "400"},
		{"a number", "application/json", "[" + strings.Repeat("9", long) + "]", "400"},
		{"white space", "application/json", strings.Repeat(" ", long) + `"urn:example:a"`, "200 0"},
		{"one line", "text/plain", strings.Repeat("\xff", long) + "\nurn:example:a\n", "200 414 0"},
		{"the last line", "text/plain", "urn:example:a\n" + strings.Repeat("a", long), "200 0 414"},
		{"a blank line", "text/plain", strings.Repeat(" ", long) + "\nurn:example:a", "200 0"},
		{"a comment", "text/uri-list", "#" + strings.Repeat("a", long) + "\r\nurn:example:a", "200 0"},
		{"too much", "text/plain", strings.Repeat("a", 17<<20), "413"},
	} {
		status, lines, memory := s.batchMemory(t, tt.kind, tt.body)
		got := fmt.Sprint(status)
		for _, line := range lines {
			var document struct{ Error struct{ Status int } }
			if status != http.StatusOK {
				break
			}
			if err := json.Unmarshal([]byte(line), &document); err != nil {
				t.Errorf("%s: %.100s: %v", tt.name, line, err)
			}
			if got += fmt.Sprint(" ", document.Error.Status); len(line) > 7<<10 { // a byte may become six
				t.Errorf("%s: a line of %d bytes", tt.name, len(line))
			}
		}
		if got != tt.statuses || memory > most {
			t.Errorf("%s: %s, want %s; %d bytes of memory", tt.name, got, tt.statuses, memory)
		}
	}
	// Many invalid names take no more memory than their own length.
	body := `["` + strings.Repeat(strings.Repeat("\xff", 1500)+`","`, 9_990) + `urn:example:a"]`
	if status, lines, memory := s.batchMemory(t, "application/json", body); status != 200 || len(lines) != 9_991 ||
		memory > 40*uint64(len(body)) {
		t.Errorf("%d, %d lines, %d bytes of memory", status, len(lines), memory)
	}
}

// A batch ends within its time limit, and has a line for each name.
func TestBatchTimeout(t *testing.T) {
	s := start(t, func(c *answer.Config) { c.BatchTimeout = 50 * time.Millisecond })
	s.next = func(ctx context.Context, q resolver.Query) (resolver.Answer, error) {
		if strings.HasSuffix(q.URI.String(), ":0") {
			return resolver.Answer{Locations: []resolver.Location{{
				URI:  "http://a.example/",
				From: &resolver.Source{},
			}}}, nil
		}
		<-ctx.Done()
		return resolver.Answer{}, context.Cause(ctx)
	}
	var names []string
	for i := range 2000 {
		names = append(names, fmt.Sprintf("%q", fmt.Sprint("urn:example:", i)))
	}
	status, lines := s.post(t, strings.Join(names, "\n"))
	if status != http.StatusOK || len(lines) != len(names) || !strings.Contains(lines[0], "http://a.example/") {
		t.Fatalf("%d, %d lines", status, len(lines))
	}
	for i, line := range lines[1:] {
		if !strings.Contains(line, fmt.Sprintf(`"urn:example:%d"`, i+1)) || !strings.Contains(line, `"status":503`) ||
			!strings.Contains(line,
				"the batch timed out") {
			t.Fatalf("line %d: %s", i+1, line)
		}
	}
}
