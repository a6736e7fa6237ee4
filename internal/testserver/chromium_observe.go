package testserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// Observations contains the observations of the browser since a page was requested.
type Observations struct {
	// Requests contains the requested URLs, that of the page first.
	Requests []string
	// Failures contains requests without a response or with an error response, as "URL: reason". The page
	// itself may be an error response.
	Failures []string
	// Messages contains the warnings and errors of the console: from scripts, policies and the browser.
	Messages []string
}

// Observations returns the observations for the current page.
func (c *Chromium) Observations(t testing.TB) Observations {
	t.Helper()
	// Earlier events are received before the response.
	c.call(t, "Runtime.evaluate", map[string]any{"expression": "0"}, nil)
	s := Observations{Messages: slices.Clone(c.seen.messages)}
	for _, r := range c.seen.requests {
		switch {
		case r.page != c.seen.page: // still of the previous page
		case r.id == c.seen.page:
			s.Requests = slices.Insert(s.Requests, 0, r.url)
		default:
			s.Requests = append(s.Requests, r.url)
		}
	}
	for _, f := range c.seen.failures {
		if url := c.seen.urls[f.id]; url != "" && f.id != c.seen.page {
			s.Failures = append(s.Failures, url+": "+f.why)
		}
	}
	return s
}

// observer collects the events of a page by request ID and page ID. The ID of a request for a page is that of
// the page.
type observer struct {
	page     string
	requests []observedRequest
	failures []observedFailure
	messages []string
	urls     map[string]string // of requests, by ID
}

type (
	observedRequest struct{ id, page, url string }
	observedFailure struct{ id, why string }
)

// observedEvent contains the used members of events of the domains Network, Log and Runtime of the Chrome
// DevTools Protocol.
type observedEvent struct {
	RequestID, LoaderID string
	Request             struct{ URL string }
	Response            struct{ Status int }
	ErrorText           string
	Canceled            bool

	Entry            struct{ Source, Level, Text, URL string }
	Type             string
	Args             []json.RawMessage
	ExceptionDetails json.RawMessage
}

// note records an event of the page.
func (c *Chromium) note(m devtoolsMessage) error {
	s := &c.seen
	if s.urls == nil { // no page is shown yet
		return nil
	}
	var keep func(method string, e *observedEvent)
	switch m.Method {
	case "Network.requestWillBeSent", "Network.responseReceived", "Network.loadingFailed":
		keep = s.noteRequest
	case "Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown":
		keep = s.noteMessage
	default:
		return nil
	}
	var e observedEvent
	if err := json.Unmarshal(m.Params, &e); err != nil {
		return fmt.Errorf("%s: %w", m.Method, err)
	}
	keep(m.Method, &e)
	return nil
}

func (s *observer) noteRequest(method string, e *observedEvent) {
	switch {
	case method == "Network.requestWillBeSent": // repeated for each redirect
		if !strings.HasSuffix(e.Request.URL, "/favicon.ico") { // requested by the browser at any time, not by a page
			s.requests = append(s.requests, observedRequest{e.RequestID, e.LoaderID, e.Request.URL})
			s.urls[e.RequestID] = e.Request.URL
		}
	case method == "Network.responseReceived" && e.Response.Status >= http.StatusBadRequest:
		s.failures = append(s.failures, observedFailure{e.RequestID, http.StatusText(e.Response.Status)})
	case method == "Network.loadingFailed" && !e.Canceled:
		// Canceled are pending requests when another page is requested.
		s.failures = append(s.failures, observedFailure{e.RequestID, e.ErrorText})
	}
}

func (s *observer) noteMessage(method string, e *observedEvent) {
	switch isBad := func(level string) bool { return level == "warning" || level == "error" || level == "assert" }; {
	case method == "Log.entryAdded" && isBad(e.Entry.Level) && e.Entry.Source != "network": // recorded in failures
		s.messages = append(s.messages, e.Entry.Source+": "+e.Entry.Text)
	case method == "Runtime.consoleAPICalled" && isBad(e.Type):
		s.messages = append(s.messages, fmt.Sprintf("console.%s: %s", e.Type, e.Args))
	case method == "Runtime.exceptionThrown":
		s.messages = append(s.messages, "exception: "+string(e.ExceptionDetails))
	}
}
