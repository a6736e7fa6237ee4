package scheme

import "bytes"

// Octets is a body in memory.
type Octets struct{ *bytes.Reader }

// NewBytes returns a body with the bytes of b, which must not be changed.
func NewBytes(b []byte) Octets { return Octets{bytes.NewReader(b)} }

// Close implements io.Closer.
func (Octets) Close() error { return nil }
