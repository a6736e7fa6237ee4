package scheme

import (
	"errors"
	"fmt"
	"net/http"
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
	Reply  string // what the server said, or what it means; any characters
	// Header has the fields that the status needs, such as WWW-Authenticate; nil for none.
	Header http.Header
}

func (r *Refusal) Error() string { return fmt.Sprintf("the server answers: %q", r.Reply) }

// Refuse returns a Refusal.
func Refuse(status int, reply string) error { return &Refusal{Status: status, Reply: reply} }
