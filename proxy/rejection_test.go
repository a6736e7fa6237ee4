package proxy_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// rejection is the response of net/http to a malformed request.
const rejection = "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: " +
	"close\r\n\r\n400 Bad Request"

// An origin may send content that looks like a rejection: it must be forwarded unchanged, or the origin could
// write into the next response of the connection.
func TestBodyThatLooksLikeARefusal(t *testing.T) {
	hostile := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream") // each part is flushed
		w.Header().Set("Content-Length", fmt.Sprint(2*len(rejection)))
		for range 2 {
			_, _ = io.WriteString(w, rejection)
			_ = http.NewResponseController(w).Flush()
		}
	}))
	defer hostile.Close()
	s := start(t, nil)
	get := "GET " + hostile.URL + "/ HTTP/1.1\r\nHost: a\r\n\r\n"
	for i, response := range s.ask(t, get, get) {
		if body := text(t, response); response.StatusCode != 200 || body != rejection+rejection {
			t.Errorf("response %d: %d %q", i, response.StatusCode, body)
		}
	}
}

// The problem document of a request whose start was not seen states no wrong reason.
func TestRefusalOfAPipelinedRequest(t *testing.T) {
	s := start(t, nil)
	good := "GET /urn:example:a HTTP/1.1\r\nHost: a\r\n\r\n"
	bad := "GET /urn:example:a%zz HTTP/1.1\r\nHost: a\r\n\r\n"
	for _, cut := range []int{0, 2, 6, 14, len(bad)} {
		responses := s.ask(t, good+bad[:cut], bad[cut:])
		body := text(t, responses[1])
		if responses[1].StatusCode != 400 || strings.Contains(body, "HTTP/1.1\"") ||
			strings.Contains(body, `"rule": "URI"`) {
			t.Errorf("cut at %d: %d %s", cut, responses[1].StatusCode, body)
		}
	}
}
