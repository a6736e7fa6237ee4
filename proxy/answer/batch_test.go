package answer_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/answer"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/proxy/proxytest"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver"
)

// ServeHTTP serves each request as a batch.
func (s *responder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	reply, err := s.Batch(r.Context(), batchOf(w, r), s.rights)
	if err != nil {
		reply = problem.Reply(s.config.Pages, httpmessage.NewHeader(r.Header), err)
	}
	message.Write(proxytest.Writer(w, r), r.Method, reply, nil)
}

// batchOf returns a request of net/http as a request for a batch.
func batchOf(w http.ResponseWriter, r *http.Request) *answer.BatchRequest {
	return &answer.BatchRequest{
		Target: r.RequestURI, Header: httpmessage.NewHeader(r.Header), Body: r.Body,
		SetReadDeadline: http.NewResponseController(w).SetReadDeadline,
	}
}

// batch posts a body with a media type; the query is that of the target.
func (s *responder) batch(t *testing.T, query, kind, body string) (status int, lines []string) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, route.PathResolve+query, strings.NewReader(body))
	r.Header.Set("Content-Type", kind)
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	for scanner := bufio.NewScanner(w.Body); scanner.Scan(); {
		lines = append(lines, scanner.Text())
	}
	return w.Code, lines
}

// post posts a body to the batch.
func (s *responder) post(t *testing.T, body string) (status int, lines []string) {
	t.Helper()
	return s.batch(t, "", "", body)
}

// Answers have the order of the input, however long each resolution takes.
func TestBatch(t *testing.T) {
	s := start(t, nil)
	var running, most atomic.Int32
	s.next = func(_ context.Context, q resolver.Query) (resolver.Answer, error) {
		now := running.Add(1)
		defer running.Add(-1)
		for seen := most.Load(); now > seen && !most.CompareAndSwap(seen, now); seen = most.Load() {
		}
		if strings.HasSuffix(q.URI.String(), "3") {
			return resolver.Answer{}, &resolver.Negative{Kind: resolver.ErrNotFound, Reason: "no 3"}
		}
		return resolver.Answer{Locations: []resolver.Location{{
			URI:  "http://a.example/" + q.URI.String(),
			From: &resolver.Source{Name: "test"},
		}}}, nil
	}
	var inputs []string
	for i := range 1000 {
		inputs = append(inputs, fmt.Sprintf("urn:example:%d", i))
	}
	array, err := json.Marshal(append(inputs, "no uri", "urn:isbn:1", "http://A.example"))
	if err != nil {
		t.Fatal(err)
	}
	for _, body := range []string{string(array), strings.ReplaceAll(strings.Trim(string(array), "[]"), ",", "\n")} {
		status, lines := s.post(t, body)
		if status != 200 || len(lines) != 1003 {
			t.Fatalf("%d, %d lines", status, len(lines))
		}
		for i, line := range lines {
			var got struct {
				Input     string
				Locations []struct{ URI string }
				Error     *struct {
					Status int
					Rule   string
				}
			}
			if err := json.Unmarshal([]byte(line), &got); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			switch {
			case i == 1000 && got.Error.Rule == "path" && got.Input == "no uri", i == 1001 && got.Error.Rule == "ISBN":
			case i == 1002 && got.Locations[0].URI == "http://a.example/":
			case i < 1000 && got.Input == inputs[i] && (got.Error != nil) == strings.HasSuffix(inputs[i], "3"):
			default:
				t.Errorf("line %d: %s", i, line)
			}
		}
	}
	if n := most.Load(); n > 16 {
		t.Errorf("%d resolutions at a time", n)
	}
	if status, lines := s.post(t, ""); status != 200 || len(lines) != 0 {
		t.Errorf("nothing: %d, %q", status, lines)
	}
	for bad, want := range map[string]int{
		"{}": 400, "[1]": 400, "null": 400, "[null]": 400, `[["a"]]`: 400, "urn:example:a": 400, `["a"`: 400,
		"[" + strings.Repeat(`"a",`, 10_000) + `"a"]`: 413, `"` + strings.Repeat("a", 17<<20) + `"`: 413,
	} {
		if status, lines := s.post(t, bad); status != want {
			t.Errorf("%.20s: %d %q", bad, status, lines)
		}
	}
}

// A panic in one resolution fails one line.
func TestBatchSurvivesPanic(t *testing.T) {
	var panics atomic.Int32
	s := start(t, func(c *answer.Config) { c.Panicked = func(any, []byte) { panics.Add(1) } })
	s.next = func(_ context.Context, q resolver.Query) (resolver.Answer, error) {
		if q.URI.String() == "urn:example:bad" {
			panic("a fault in a rule")
		}
		return resolver.Answer{Locations: []resolver.Location{{URI: "http://a.example/", From: &resolver.Source{}}}},
			nil
	}
	status, lines := s.post(t, `["urn:example:a", "urn:example:bad", "urn:example:b"]`)
	if status != 200 || len(lines) != 3 || !strings.Contains(lines[1], `"status":500`) || strings.Contains(lines[1],
		"rule") || !strings.Contains(lines[2], "http://a.example/") || panics.Load() != 1 {
		t.Errorf("%d %q, %d panics", status, lines, panics.Load())
	}
}

// A batch resolves no more names ahead of its client than its buffers hold.
func TestBatchWaitsForItsClient(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	s := start(t, nil)
	var resolved atomic.Int32
	long := "http://a.example/" + strings.Repeat("a", 1<<16)
	s.next = func(context.Context, resolver.Query) (resolver.Answer, error) {
		resolved.Add(1)
		return resolver.Answer{Locations: []resolver.Location{{URI: long, From: &resolver.Source{}}}}, nil
	}
	const questions = 5000 // 320 MiB of answers, more than all socket buffers
	body := strings.Repeat(`"urn:example:a" `, questions)
	web := httptest.NewServer(s)
	defer web.Close()
	response, err := http.Post(web.URL+route.PathResolve, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	lines := bufio.NewReaderSize(response.Body, 2*len(long))
	const buffers = 1000 // lines in sockets, workers and the queue
	for read := range questions {
		if _, err := lines.ReadSlice('\n'); err != nil {
			t.Fatalf("line %d: %v", read, err)
		}
		if ahead := int(resolved.Load()) - read; ahead > buffers {
			t.Fatalf("%d names are resolved ahead of line %d", ahead, read)
		}
	}
}

// Batches can be lines of text, and request any service.
func TestBatchForms(t *testing.T) {
	s := start(t, nil)
	for _, tt := range []struct{ query, kind, body, want string }{
		{"", "text/plain;charset=UTF-8", ` ["urn:a1:b"]`, `"input":"urn:a1:b"`},
		{"", "text/plain", "urn:a1:b\nurn:a1:c\n", `"input":"urn:a1:b"|"input":"urn:a1:c"`},
		{"", "text/uri-list; charset=utf-8", "# urn:x\r\nurn:a1:b\r\n", `"input":"urn:a1:b"`},
		{"?service=I2Ls", "application/json", `["urn:a1:b"]`, `"service":"I2Ls"`},
		{"?service=I2Ns", "text/plain", "urn:isbn:0-395-36341-1", `"names":["urn:isbn:9780395363416"`},
		{"?service=I2C", "text/plain", "urn:isbn:0-395-36341-1", `"@context":["https://schema.org",`},
		{"?service=I2R", "text/plain", "urn:a1:b", `"status":501`},
	} {
		status, lines := s.batch(t, tt.query, tt.kind, tt.body)
		wanted := strings.Split(tt.want, "|")
		if status != http.StatusOK || len(lines) != len(wanted) {
			t.Errorf("%+v: %d %q", tt, status, lines)
			continue
		}
		for i, part := range wanted {
			if !strings.Contains(lines[i], part) {
				t.Errorf("%+v: %s", tt, lines[i])
			}
		}
	}
	if status, lines := s.batch(t, "?service=I2X", "text/plain", "urn:a1:b"); status != http.StatusNotImplemented {
		t.Errorf("an unknown service: %d %q", status, lines)
	}
}
