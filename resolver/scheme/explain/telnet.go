package explain

import (
	"strings"

	"github.com/urnd/urnd/uri"
)

// telnet describes RFC 1738 section 3.8, RFC 4248.
func (d *description) telnet(u uri.URI) {
	d.note("This is the address of a service that people use by typing, such as an old library catalogue. It is no document: nothing was retrieved, and no connection was made.")
	d.note("To use the service, open the link with a telnet program, or give such a program the host and the port. Telnet encrypts nothing: others on the way can read all that you type, passwords too.")
	d.server(u)
	userinfo, _ := u.Userinfo()
	user, _, hasPassword := strings.Cut(userinfo, ":")
	if user != "" {
		d.property("User", decoded(user))
		d.note("The user name is advice: type it when the service asks for it (RFC 1738 section 3.8).")
	}
	if hasPassword {
		d.property("Password", "(not shown)")
	}
	d.open.Text = "Open in a telnet program"
}
