package proxy_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/urnd/urnd/resolver"
)

// post sends a body to the batch.
func (s *server) post(t *testing.T, body string) (status int, lines []string) {
	t.Helper()
	response := s.ask(t, fmt.Sprintf("POST /api/v1/resolve HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n%s", len(body), body))[0]
	for scanner := bufio.NewScanner(response.Body); scanner.Scan(); {
		lines = append(lines, scanner.Text())
	}
	return response.StatusCode, lines
}

// Answers come in the order of the questions, whatever each of them takes.
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
		return resolver.Answer{Locations: []resolver.Location{{URI: "http://a.example/" + q.URI.String()}}}, nil
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
	for _, bad := range []string{"{}", "[1]", "urn:example:a", `["a"`, "[" + strings.Repeat(`"a",`, 10_000) + `"a"]`} {
		if status, lines := s.post(t, bad); status != 400 {
			t.Errorf("%.20s: %d %q", bad, status, lines)
		}
	}
}
