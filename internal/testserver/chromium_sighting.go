package testserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// Sighting contains the observations of the browser since a page was requested.
type Sighting struct {
	// Requests contains the requested URLs, that of the page first.
	Requests []string
	// Failures contains requests without a response or with an error response, as "URL: reason". The page
	// itself may be an error response.
	Failures []string
	// Messages contains the warnings and errors of the console: from scripts, policies and the browser.
	Messages []string
}

// Sighted returns the observations for the current page.
func (c *Chromium) Sighted(t testing.TB) Sighting {
	t.Helper()
	// Earlier events are received before the response.
	c.call(t, "Runtime.evaluate", map[string]any{"expression": "0"}, nil)
	s := Sighting{Messages: slices.Clone(c.seen.messages)}
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

// sighting collects the events of a page by request ID and page ID. The ID of a request for a page is that of
// the page.
type sighting struct {
	page     string
	requests []sightedRequest
	failures []sightedFailure
	messages []string
	urls     map[string]string // of requests, by ID
}

type (
	sightedRequest struct{ id, page, url string }
	sightedFailure struct{ id, why string }
)

// sightedEvent contains the used members of events of the domains Network, Log and Runtime of the Chrome
// DevTools Protocol.
type sightedEvent struct {
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
	var keep func(method string, e *sightedEvent)
	switch m.Method {
	case "Network.requestWillBeSent", "Network.responseReceived", "Network.loadingFailed":
		keep = s.noteRequest
	case "Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown":
		keep = s.noteMessage
	default:
		return nil
	}
	var e sightedEvent
	if err := json.Unmarshal(m.Params, &e); err != nil {
		return fmt.Errorf("%s: %w", m.Method, err)
	}
	keep(m.Method, &e)
	return nil
}

func (s *sighting) noteRequest(method string, e *sightedEvent) {
	switch {
	case method == "Network.requestWillBeSent": // repeated for each redirect
		if !strings.HasSuffix(e.Request.URL, "/favicon.ico") { // requested by the browser at any time, not by a page
			s.requests = append(s.requests, sightedRequest{e.RequestID, e.LoaderID, e.Request.URL})
			s.urls[e.RequestID] = e.Request.URL
		}
	case method == "Network.responseReceived" && e.Response.Status >= http.StatusBadRequest:
		s.failures = append(s.failures, sightedFailure{e.RequestID, http.StatusText(e.Response.Status)})
	case method == "Network.loadingFailed" && !e.Canceled:
		// Canceled are pending requests when another page is requested.
		s.failures = append(s.failures, sightedFailure{e.RequestID, e.ErrorText})
	}
}

func (s *sighting) noteMessage(method string, e *sightedEvent) {
	switch isBad := func(level string) bool { return level == "warning" || level == "error" || level == "assert" }; {
	case method == "Log.entryAdded" && isBad(e.Entry.Level) && e.Entry.Source != "network": // recorded in failures
		s.messages = append(s.messages, e.Entry.Source+": "+e.Entry.Text)
	case method == "Runtime.consoleAPICalled" && isBad(e.Type):
		s.messages = append(s.messages, fmt.Sprintf("console.%s: %s", e.Type, e.Args))
	case method == "Runtime.exceptionThrown":
		s.messages = append(s.messages, "exception: "+string(e.ExceptionDetails))
	}
}
