package http1

import (
	"net/http"
	"strings"

	"github.com/urnd/urnd/internal/httpmessage"
)

// requestFields gathers what the fields of a request say about the message itself.
type requestFields struct {
	*httpmessage.Incoming
	host     string
	hasHost  bool
	length   int64 // of Content-Length, -1 for none
	codings  codings
	trailers []string // values of Trailer

	closes, keepsAlive bool
}

// add adds a field to those of the request, unless it is about the message alone.
func (h *requestFields) add(f httpmessage.Field) error {
	var err error
	switch len(f.Name) {
	case len("host"):
		if foldedEqual(f.Name, "host") {
			return h.setHost(f.Value)
		}
	case len("expect"):
		if foldedEqual(f.Name, "expect") {
			err = checkExpectation(f.Value)
		}
	case len("trailer"):
		if foldedEqual(f.Name, "trailer") {
			h.trailers = append(h.trailers, f.Value)
			return nil
		}
	case len("connection"):
		if foldedEqual(f.Name, "connection") {
			h.closes = h.closes || HasToken(f.Value, "close")
			h.keepsAlive = h.keepsAlive || HasToken(f.Value, "keep-alive")
		}
	case len("content-length"):
		if err = checkUnderscore(f.Name); foldedEqual(f.Name, "content-length") {
			err = h.setLength(f.Value)
		}
	case len("transfer-encoding"):
		if err = checkUnderscore(f.Name); foldedEqual(f.Name, "transfer-encoding") {
			h.codings.add(f.Value)
			return nil
		}
	}
	h.Fields = append(h.Fields, f)
	return err
}

// checkUnderscore returns the error of a name that is that of a field about framing to recipients for which "_" is "-",
// as in the environment of a CGI program.
func checkUnderscore(name string) error {
	if foldedEqual(name, "content_length") || foldedEqual(name, "transfer_encoding") {
		return refused("the name of a field about framing is spelled with _ for -")
	}
	return nil
}

// setHost sets the value of Host: RFC 9112 section 3.2.
func (h *requestFields) setHost(value string) error {
	if h.hasHost {
		return refused("Host is sent more than once")
	}
	if hostBytes.span(value) != len(value) {
		return refused("malformed Host")
	}
	h.host, h.hasHost = value, true
	return nil
}

// setLength sets the value of Content-Length: RFC 9112 section 6.2.
func (h *requestFields) setLength(value string) error {
	if h.length >= 0 {
		return refused("Content-Length is sent more than once")
	}
	length, ok := parseDigits(value)
	if !ok {
		return refused("Content-Length is not a number of at most 15 digits")
	}
	h.length = length
	return nil
}

// parseDigits returns a number of one to 15 decimal digits, which every recipient reads in the same way: 2^53 has 16.
func parseDigits(text string) (number int64, ok bool) {
	const most = 15
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return 0, false
		}
		number = number*10 + int64(text[i]-'0')
		if i >= most {
			return 0, false
		}
	}
	return number, text != ""
}

// checkExpectation returns the error of an expectation that is not 100-continue: RFC 9110 section 10.1.1.
func checkExpectation(value string) error {
	if value == "" || HasToken(value, continues) {
		return nil
	}
	return &Error{Status: http.StatusExpectationFailed, Reason: "no expectation but 100-continue can be met"}
}

const continues = "100-continue"

// ExpectsContinue reports whether the client of a request waits for 100 before it sends the body: RFC 9110 section
// 10.1.1.
func ExpectsContinue(r *httpmessage.Incoming) bool {
	return r.ContentLength != 0 && r.AtLeast(1, 1) && HasToken(r.Fields.Value("Expect"), continues)
}

// codings are the transfer codings of a message: RFC 9112 section 6.1.
type codings struct {
	present     bool
	chunked     int  // times
	lastChunked bool // the last one is chunked
	empty       bool // an element of the list is
	others      bool // there are others than chunked
}

// add adds the codings of a line.
func (c *codings) add(value string) {
	c.present = true
	for element := range strings.SplitSeq(value, ",") {
		element = trim(element)
		c.lastChunked = foldedEqual(element, "chunked")
		switch {
		case c.lastChunked:
			c.chunked++
		case element == "":
			c.empty = true
		default:
			c.others = true
		}
	}
}

// check returns why the codings of a request are refused: RFC 9112 sections 6.1 and 6.3. Empty elements, which RFC 9110
// section 5.6.1 lets recipients ignore, are not: others might.
func (c *codings) check() error {
	switch {
	case c.chunked != 1 || !c.lastChunked || c.empty:
		return refused("chunked is not the last transfer coding, once")
	case c.others:
		return &Error{Status: http.StatusNotImplemented, Reason: "no transfer coding but chunked is supported"}
	default:
		return nil
	}
}

// finish decides what depends on several fields.
func (h *requestFields) finish() error {
	old := h.Minor == 0
	switch {
	case h.codings.present && old:
		return refused("a request by HTTP/1.0 has no Transfer-Encoding") // RFC 9112 section 6.1
	case h.codings.present && h.length >= 0:
		return refused("both Transfer-Encoding and Content-Length are sent") // RFC 9112 section 6.3
	case h.codings.present:
		if err := h.codings.check(); err != nil {
			return err
		}
		h.ContentLength = -1
		h.Trailer = &httpmessage.Trailer{Names: TrailerNames(h.trailers)}
	default:
		h.ContentLength = max(h.length, 0)
	}
	h.Closes = h.closes || old && !h.keepsAlive
	return h.finishHost(old)
}

// finishHost sets the host of the request. HTTP/1.0 has no Host; CONNECT without one is tolerated, as its target names
// the host.
func (h *requestFields) finishHost(old bool) error {
	host, reason := authority(h.Method, h.Target)
	if reason != "" {
		return refused(reason)
	}
	if !h.hasHost && !old && h.Method != http.MethodConnect {
		return refused("missing required Host")
	}
	if h.Host = host; host == "" {
		h.Host = h.host
	}
	return nil
}
