package http1

import (
	"net/http"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/uri"
)

// framingFields collects the fields of a request that determine its framing, and applies them to the Incoming.
type framingFields struct {
	*httpmessage.Incoming
	host     string
	hasHost  bool
	length   int64    // value of Content-Length; -1 for none
	codings  []string // values of Transfer-Encoding field lines
	trailers []string // values of Trailer field lines

	closes, keepsAlive bool
}

// add appends a field to the request unless it only concerns the framing. Comparing the lengths of names first
// excludes most fields.
func (h *framingFields) add(f httpmessage.Field) error {
	switch len(f.Name) {
	case len("Host"):
		if f.HasName("Host") {
			return h.setHost(f.Value)
		}
	case len("Expect"):
		if f.HasName("Expect") && f.Value != "" && !HasToken(f.Value, continues) { // RFC 9110 section 10.1.1
			return &Error{
				Status: http.StatusExpectationFailed,
				Reason: "only the expectation 100-continue is supported",
			}
		}
	case len("Trailer"):
		if f.HasName("Trailer") {
			h.trailers = append(h.trailers, f.Value)
			return nil
		}
	case len("Connection"):
		if f.HasName("Connection") {
			h.closes = h.closes || HasToken(f.Value, "close")
			h.keepsAlive = h.keepsAlive || HasToken(f.Value, "keep-alive")
		}
	case len("Content-Length"), len("Transfer-Encoding"):
		if kept, err := h.addFraming(f); !kept {
			return err
		}
	}
	h.Fields = append(h.Fields, f)
	return nil
}

// addFraming processes a field whose name is as long as Content-Length or Transfer-Encoding. It reports whether
// the field is kept in the request.
func (h *framingFields) addFraming(f httpmessage.Field) (kept bool, err error) {
	switch {
	case uri.EqualFold(f.Name, "content_length"), uri.EqualFold(f.Name, "transfer_encoding"):
		// CGI recipients treat "_" in a name as "-".
		return false, refused("the name of a framing field has _ in place of -")
	case f.HasName("Transfer-Encoding"):
		h.codings = append(h.codings, f.Value)
		return false, nil
	case f.HasName("Content-Length"):
		err = h.setLength(f.Value)
	}
	return err == nil, err
}

// setHost sets the value of Host: RFC 9112 section 3.2.
func (h *framingFields) setHost(value string) error {
	if h.hasHost {
		return refused("Host is duplicated")
	}
	if !httpguts.ValidHostHeader(value) {
		return refused("malformed Host")
	}
	h.host, h.hasHost = value, true
	return nil
}

// setLength sets the value of Content-Length: RFC 9112 section 6.2.
func (h *framingFields) setLength(value string) error {
	if h.length >= 0 {
		return refused("Content-Length is duplicated")
	}
	length, err := strconv.ParseUint(value, 10, 63)
	if err != nil || len(value) > maxDigits {
		return refused("Content-Length is not a number of at most 15 digits")
	}
	h.length = int64(length)
	return nil
}

// maxDigits is the number of digits that every recipient parses as the same number: 2^53 has 16 decimal digits
// and 14 hexadecimal ones.
const maxDigits = 15

const continues = "100-continue"

// ExpectsContinue reports whether the client waits for 100 (Continue) before it sends the body: RFC 9110
// section 10.1.1.
func ExpectsContinue(r *httpmessage.Incoming) bool {
	return r.ContentLength != 0 && r.AtLeast(1, 1) && HasToken(r.Fields.Get("Expect"), continues)
}

// finish validates the combination of the fields and sets the framing of the request.
func (h *framingFields) finish() error {
	old := h.Minor == 0
	h.ContentLength = max(h.length, 0)
	switch coded := len(h.codings) > 0; {
	case coded && old:
		return refused("Transfer-Encoding is not allowed in HTTP/1.0") // RFC 9112 section 6.1
	case coded && h.length >= 0:
		return refused("both Transfer-Encoding and Content-Length are sent") // RFC 9112 section 6.3
	case coded:
		if err := checkCodings(strings.Join(h.codings, ",")); err != nil {
			return err
		}
		h.ContentLength = -1
		h.Trailer = &httpmessage.Trailer{Names: TrailerNames(h.trailers)}
	}
	h.Close = h.closes || old && !h.keepsAlive
	// HTTP/1.0 does not require Host. CONNECT without Host is tolerated because its target names the host.
	if !h.hasHost && !old && h.Method != http.MethodConnect {
		return refused("missing required Host")
	}
	if h.Host == "" {
		h.Host = h.host
	}
	return nil
}

// checkCodings returns an error if the transfer codings of a request are invalid or unsupported: RFC 9112
// sections 6.1 and 6.3. RFC 9110 section 5.6.1 permits recipients to ignore empty list elements. Here they are
// an error, because other recipients might not ignore them.
func checkCodings(list string) error {
	several := strings.Contains(list, ",")
	for more := true; more; {
		var coding string
		coding, list, more = strings.Cut(list, ",")
		coding = trim(coding)
		if chunked := uri.EqualFold(coding, "chunked"); chunked == more || coding == "" {
			return refused("chunked is not the last transfer coding, once")
		}
	}
	if several {
		return &Error{Status: http.StatusNotImplemented, Reason: "chunked is the only supported transfer coding"}
	}
	return nil
}
