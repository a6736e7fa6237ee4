package tunnel

import "net"

// Data between two TCP connections can bypass the wrappers of these as long as the wrappers only pass it
// through: they declare that by the methods below. TLS, for instance, does not.

// passesReads is a connection whose Read passes data of another connection through.
type passesReads interface {
	// ReadConn returns that connection, nil while Read has buffered data. Only the goroutine that may call
	// Read may call it.
	ReadConn() net.Conn
}

// passesWrites is a connection whose Write passes data through.
type passesWrites interface {
	// WriteConn returns the connection that data is passed to, nil if the data is changed. Only the goroutine
	// that may call Write may call it.
	WriteConn() net.Conn
}

// boundsWrites is a connection that passes writes through, with a time limit.
type boundsWrites interface {
	passesWrites
	// WithWriteDeadline calls write, which writes to the underlying socket and returns the number of bytes: repeatedly,
	// as long as enough was written whenever the time has elapsed.
	WithWriteDeadline(write func() (int64, error)) (int64, error)
}

// sink is the socket to write to, and its time limit for writes.
type sink struct {
	socket *net.TCPConn
	bound  func(write func() (int64, error)) (int64, error)
}

// sourceOf returns the socket from which a connection reads, nil for none.
func sourceOf(conn any) *net.TCPConn {
	for {
		switch c := conn.(type) {
		case *net.TCPConn:
			return c
		case passesReads:
			conn = c.ReadConn()
		default:
			return nil
		}
	}
}

// sinkOf returns the socket to which a connection writes, false for none.
func sinkOf(conn any) (to sink, ok bool) {
	to.bound = func(write func() (int64, error)) (int64, error) { return write() }
	for {
		if bounding, ok := conn.(boundsWrites); ok {
			to.bound = bounding.WithWriteDeadline
		}
		switch c := conn.(type) {
		case *net.TCPConn:
			to.socket = c
			return to, true
		case passesWrites:
			conn = c.WriteConn()
		default:
			return sink{}, false
		}
	}
}
