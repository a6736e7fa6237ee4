package tunnel

import "net"

// What a tunnel carries between two TCP connections need not pass the wrappers of these where they only pass it on: they say so
// by the methods below. TLS, for one, has none of them.

// passesReads is a connection whose Read passes on what another one has.
type passesReads interface {
	// ReadsFrom returns that connection, nil while Read has more than that to return. Only who may call Read may call it.
	ReadsFrom() net.Conn
}

// passesWrites is a connection whose Write passes on what it gets.
type passesWrites interface {
	// WritesTo returns the connection that it passes it to, nil where it changes it. Only who may call Write may call it.
	WritesTo() net.Conn
}

// boundsWrites is a connection that passes writes on, and bounds the time that they take.
type boundsWrites interface {
	passesWrites
	// WriteBy calls write, which writes to the socket below and returns how many bytes that were: as often as the time is
	// over, but enough was written.
	WriteBy(write func() (int64, error)) (int64, error)
}

// sink is a socket that is written to, in the time that bound allows.
type sink struct {
	socket *net.TCPConn
	bound  func(write func() (int64, error)) (int64, error)
}

// sourceOf returns the socket that is read by reading from a connection, nil for none.
func sourceOf(conn any) *net.TCPConn {
	for {
		switch c := conn.(type) {
		case *net.TCPConn:
			return c
		case passesReads:
			conn = c.ReadsFrom()
		default:
			return nil
		}
	}
}

// sinkOf returns the socket that is written to by writing to a connection, false for none.
func sinkOf(conn any) (to sink, ok bool) {
	to.bound = func(write func() (int64, error)) (int64, error) { return write() }
	for {
		if bounding, ok := conn.(boundsWrites); ok {
			to.bound = bounding.WriteBy
		}
		switch c := conn.(type) {
		case *net.TCPConn:
			to.socket = c
			return to, true
		case passesWrites:
			conn = c.WritesTo()
		default:
			return sink{}, false
		}
	}
}
