package policy

// Hello is the kind of the first bytes that a client sends in a tunnel, as far as they reveal the server.
type Hello uint8

// The kinds of first bytes.
const (
	HelloNone      Hello = iota // no bytes yet, or not a tunnel
	HelloNamed                  // a ClientHello with a server name (RFC 6066 section 3)
	HelloUnnamed                // a ClientHello without a server name
	HelloEncrypted              // a ClientHello with an apparent inner one (RFC 9849): the name is the outer one
	HelloNotTLS                 // anything else
	// A TLS record with an unreadable ClientHello: the server may read it, and the name in it. It matches
	// HelloNotTLS, too.
	HelloUnreadable
)

var helloNames = [...]string{"", "named", "unnamed", "encrypted", "none", "unreadable"}

// String returns the kind in one word, "" for HelloNone.
func (h Hello) String() string { return helloNames[h] }

// ParseHello is the reverse of String; it returns HelloNone for an unknown name.
func ParseHello(name string) Hello {
	for h, known := range helloNames {
		if name == known {
			return Hello(h)
		}
	}
	return HelloNone
}

// is reports whether h matches the value of a rule.
func (h Hello) is(other Hello) bool {
	return h == other || h == HelloUnreadable && other == HelloNotTLS
}
