package scheme

import (
	"errors"
	"fmt"

	"github.com/urnd/urnd/internal/httpmessage"
)

// Errors of gateways for requests that are not sent to any server.
var (
	// ErrMethod is the error for a method other than GET and HEAD.
	ErrMethod = errors.New("only GET and HEAD are supported for this scheme")
	// ErrPort is the error for a port at which servers of another protocol listen.
	ErrPort = errors.New("port not allowed")
	// ErrDisabled is the error for a scheme that the configuration disables.
	ErrDisabled = errors.New("scheme disabled")
)

// StatusError is an error response of a server in a protocol other than HTTP: the resource does not exist, or is
// denied to this client. Unlike other errors it counts as a response, and has an HTTP status.
type StatusError struct {
	Status int    // HTTP status, such as 404
	Reply  string // text of the server; any characters
	// Local is true if Reply is a text of urnd: the server's reply has no text, or no server was queried.
	Local bool
	// Code identifies the reason for translation, and Values are the values of its message, as pairs of a name
	// and a text. If Own is false, Code is the meaning of the server's reply code, "" if the server sent only
	// text.
	Code   string
	Values []string
	// Fields are header fields that the status requires, such as WWW-Authenticate; nil for none.
	Fields httpmessage.Fields
}

func (r *StatusError) Error() string {
	if r.Local {
		return r.Reply
	}
	return fmt.Sprintf("server response: %q", r.Reply)
}

// UpstreamError returns a StatusError with the text of a server.
func UpstreamError(status int, reply string) error { return &StatusError{Status: status, Reply: reply} }

// PolicyDenial returns a StatusError with a reason of urnd: its code, its English text, and the values of its message.
func PolicyDenial(status int, code, reason string, values ...string) error {
	return &StatusError{Status: status, Reply: reason, Local: true, Code: code, Values: values}
}
