//go:build linux

package main

// link is the protocol of the requests of a row.
type link int

const (
	plain     link = iota // HTTP/1.1 without TLS
	overTLS               // HTTP/1.1
	overHTTP2             // HTTP/2 by TLS
)

// manner is how the clients of a row use their connections.
type manner int

const (
	persistent      manner = iota // each sends the next request after the response
	closing                       // one request per connection, which the client closes
	connectionClose               // the same, and the server is asked to close it: RFC 9112 section 9.6
	halfLoad                      // half the maximum rate of the server
	idleConnections               // idle after one request
)

func (r row) idle() bool { return r.manner == idleConnections }
