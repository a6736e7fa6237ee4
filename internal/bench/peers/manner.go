//go:build linux

package main

// link is what carries the requests of a row.
type link int

const (
	plain     link = iota // HTTP/1.1 without TLS
	overTLS               // HTTP/1.1
	overHTTP2             // HTTP/2 by TLS
)

// manner is what the clients of a row do with their connections.
type manner int

const (
	persistent   manner = iota // each sends the next request when it has the reply
	closing                    // each connection has one request, and the client closes it
	askedToClose               // likewise, and the server is asked to close it: RFC 9112 section 9.6
	halfLoad                   // they send half as many requests as the server can answer
	parked                     // they have sent a request, and send no other one
)

func (r row) isParked() bool { return r.manner == parked }
