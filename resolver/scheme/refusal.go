package scheme

import (
	"errors"
	"fmt"

	"github.com/urnd/urnd/internal/httpmessage"
)

// Errors of gateways, for requests that are not sent to any server.
var (
	// ErrMethod is for a method other than GET and HEAD.
	ErrMethod = errors.New("only GET and HEAD are supported for this scheme")
	// ErrPort is for a port at which servers of another protocol listen.
	ErrPort = errors.New("port not allowed")
	// ErrOff is for a scheme that the configuration turns off.
	ErrOff = errors.New("this scheme is turned off")
)

// Refusal is the error of a server that says, in its own protocol, that there is no such resource, or
// not for this client. Unlike other errors it is a response, with a status of HTTP.
type Refusal struct {
	Status int    // such as 404
	Reply  string // what the server said; any characters
	// Own is whether Reply is a reason of urnd: what the server said has no words, or none was asked.
	Own bool
	// Code is which reason it is, for texts in other languages, with the values of its message, which are pairs of a name and a text. Of one that
	// is not Own, it is that of what a number of the server means; "" where the server has words alone.
	Code   string
	Values []string
	// Fields are those that the status needs, such as WWW-Authenticate; nil for none.
	Fields httpmessage.Fields
}

func (r *Refusal) Error() string {
	if r.Own {
		return r.Reply
	}
	return fmt.Sprintf("the server answers: %q", r.Reply)
}

// Refuse returns a Refusal with the words of a server, and Decline one with a reason of urnd, by its code and in English, with the values of its
// message.
func Refuse(status int, reply string) error { return &Refusal{Status: status, Reply: reply} }

// Decline is described at Refuse.
func Decline(status int, code, reason string, values ...string) error {
	return &Refusal{Status: status, Reply: reason, Own: true, Code: code, Values: values}
}
