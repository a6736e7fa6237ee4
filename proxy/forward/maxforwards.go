package forward

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/urnd/urnd/internal/http1"
	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/problem"
)

// maxForwards is the field that limits how often TRACE and OPTIONS are forwarded (RFC 9110 section 7.6.2). It
// has no meaning for other methods.
const maxForwards = "Max-Forwards"

// forwards returns how often a request may be forwarded, and whether it is limited.
func forwards(r *Request) (n int, limited bool, err error) {
	if !r.Fields.Has(maxForwards) || r.Method != http.MethodTrace && r.Method != http.MethodOptions {
		return 0, false, nil
	}
	const digits = 9 // larger numbers are treated as the largest one
	text := r.Fields.List(maxForwards)
	if text == "" || strings.Trim(text, "0123456789") != "" {
		return 0, true, fmt.Errorf("%w: Max-Forwards is not a number", problem.ErrMalformed)
	}
	if text = strings.TrimLeft(text, "0"); text == "" {
		return 0, true, nil
	}
	if len(text) > digits {
		text = strings.Repeat("9", digits)
	}
	n, err = strconv.Atoi(text)
	return n, true, err
}

// last answers a TRACE or OPTIONS that must not be forwarded, as its final recipient.
func last(r *Request) message.Reply {
	if r.Method == http.MethodOptions {
		return message.Reply{
			Status: http.StatusOK, CacheControl: message.NoStore,
			Fields: httpmessage.NewFields("Allow", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS, TRACE"),
		}
	}
	// RFC 9110 section 9.3.8: the received request without fields that may be secret.
	b := fmt.Appendf(nil, "%s %s HTTP/%d.%d\r\nHost: %s\r\n", r.Method, r.Target, r.Major, r.Minor, r.Authority)
	shown := func(f httpmessage.Field) bool { return httpmessage.UseOf(f.Name)&httpmessage.Secret == 0 }
	b = append(http1.AppendFields(b, r.Fields.Filter(shown)), "\r\n"...)
	return message.Reply{Status: http.StatusOK, ContentType: "message/http", CacheControl: message.NoStore, Body: b}
}
