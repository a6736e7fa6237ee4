package policy

// Hello is with what a client begins a tunnel, as far as that says where it leads.
type Hello uint8

// The beginnings of tunnels.
const (
	Unseen     Hello = iota // nothing has come, or it is no tunnel
	Named                   // a ClientHello with the name of a server (RFC 6066 section 3)
	Unnamed                 // a ClientHello without
	Encrypted               // a ClientHello with another one in it that is encrypted, or that looks so (RFC 9849): the name is the outer one
	NoTLS                   // anything else
	Unreadable              // a record of TLS whose ClientHello cannot be read: a server may read it, and the name in it. It counts as NoTLS
)

var helloNames = [...]string{"", "named", "unnamed", "encrypted", "none", "unreadable"}

// String returns the beginning in one word, "" for Unseen.
func (h Hello) String() string { return helloNames[h] }

// ParseHello returns the beginning that String calls name, Unseen where there is none.
func ParseHello(name string) Hello {
	for h, known := range helloNames {
		if name == known {
			return Hello(h)
		}
	}
	return Unseen
}

// is reports whether a rule about other holds for the beginning.
func (h Hello) is(other Hello) bool { return h == other || h == Unreadable && other == NoTLS }
