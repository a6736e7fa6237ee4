package testserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// Sighting is what a browser has noticed of a page since it was asked for it.
type Sighting struct {
	// Requests are the URLs that were asked for, that of the page first.
	Requests []string
	// Failures are requests that were not answered, or by an error, "URL: why". The page itself may be an error.
	Failures []string
	// Messages are the warnings and errors of the console: of scripts, of the policy, of the browser.
	Messages []string
}

// Sighted returns what the browser has noticed of the page that it shows.
func (c *Chromium) Sighted(t testing.TB) Sighting {
	t.Helper()
	c.call(t, "Runtime.evaluate", map[string]any{"expression": "0"}, nil) // what has happened before is said before the reply
	s := Sighting{Messages: slices.Clone(c.seen.messages)}
	for _, r := range c.seen.requests {
		switch {
		case r.page != c.seen.page: // still of the page before
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

// sighting are events of a page, by the ids of requests and of pages. The id of the request for a page is that of the page.
type sighting struct {
	page     string
	requests []sightedRequest
	failures []sightedFailure
	messages []string
	urls     map[string]string // of requests, by their ids
}

type (
	sightedRequest struct{ id, page, url string }
	sightedFailure struct{ id, why string }
)

// sightedEvent has what is read of the events of the domains Network, Log and Runtime of the Chrome DevTools Protocol.
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

// note keeps what an event says of the page.
func (c *Chromium) note(m devtoolsMessage) error {
	s := &c.seen
	if s.urls == nil { // nothing is shown yet
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
	case method == "Network.requestWillBeSent": // again for each redirect
		if !strings.HasSuffix(e.Request.URL, "/favicon.ico") { // asked for when the browser likes, and by no page
			s.requests = append(s.requests, sightedRequest{e.RequestID, e.LoaderID, e.Request.URL})
			s.urls[e.RequestID] = e.Request.URL
		}
	case method == "Network.responseReceived" && e.Response.Status >= http.StatusBadRequest:
		s.failures = append(s.failures, sightedFailure{e.RequestID, http.StatusText(e.Response.Status)})
	case method == "Network.loadingFailed" && !e.Canceled: // as what is under way where another page is asked for
		s.failures = append(s.failures, sightedFailure{e.RequestID, e.ErrorText})
	}
}

func (s *sighting) noteMessage(method string, e *sightedEvent) {
	switch isBad := func(level string) bool { return level == "warning" || level == "error" || level == "assert" }; {
	case method == "Log.entryAdded" && isBad(e.Entry.Level) && e.Entry.Source != "network": // the failures have those
		s.messages = append(s.messages, e.Entry.Source+": "+e.Entry.Text)
	case method == "Runtime.consoleAPICalled" && isBad(e.Type):
		s.messages = append(s.messages, fmt.Sprintf("console.%s: %s", e.Type, e.Args))
	case method == "Runtime.exceptionThrown":
		s.messages = append(s.messages, "exception: "+string(e.ExceptionDetails))
	}
}
