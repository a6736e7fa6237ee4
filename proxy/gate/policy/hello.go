package policy

// Hello is the kind of the first bytes that a client sends in a tunnel, as far as they reveal the server.
type Hello uint8

// The kinds of first bytes.
const (
	Unseen    Hello = iota // no bytes yet, or not a tunnel
	Named                  // a ClientHello with a server name (RFC 6066 section 3)
	Unnamed                // a ClientHello without a server name
	Encrypted              // a ClientHello with an apparent inner one (RFC 9849): the name is the outer one
	NoTLS                  // anything else
	// A TLS record with an unreadable ClientHello: the server may read it, and the name in it. It matches NoTLS, too.
	Unreadable
)

var helloNames = [...]string{"", "named", "unnamed", "encrypted", "none", "unreadable"}

// String returns the kind in one word, "" for Unseen.
func (h Hello) String() string { return helloNames[h] }

// ParseHello is the reverse of String; it returns Unseen for an unknown name.
func ParseHello(name string) Hello {
	for h, known := range helloNames {
		if name == known {
			return Hello(h)
		}
	}
	return Unseen
}

// is reports whether h matches the value of a rule.
func (h Hello) is(other Hello) bool { return h == other || h == Unreadable && other == NoTLS }
