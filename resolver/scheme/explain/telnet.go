package explain

import (
	"strings"

	"github.com/urnd/urnd/uri"
)

// session describes an interactive session: telnet by RFC 4248, tn3270 by RFC 6270, and rlogin by RFC 1282.
func (d *description) session(u uri.URI) {
	name := u.Scheme()
	d.note("This is the address of a service that people use by typing, such as an old library catalogue. It is no " +
		"document: nothing was retrieved, no connection was opened.")
	if name == "tn3270" {
		d.note("It is for terminals of IBM mainframes, the 3270, whose programs are x3270 and others.")
	}
	d.note("To use the service, give the host and the port to a " + name +
		" program. The connection is not encrypted: others on the path " +
		"can read everything you type, including passwords.")
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
	d.open.Text = "Open in a " + name + " program"
}
