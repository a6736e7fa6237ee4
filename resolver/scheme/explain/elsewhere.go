package explain

import "github.com/urnd/urnd/uri"

// ftps describes an address of FTP with implicit TLS. The ftp gateway uses explicit TLS on the port of ftp: RFC
// 4217.
func (d *description) ftps(u uri.URI) {
	d.note("This is the address of a file or a directory of an FTP server that speaks TLS from the start, on a port " +
		"of its own. This server does not retrieve it: nothing was retrieved, no connection was opened.")
	d.note("Most such servers also speak TLS at their usual port: try the address with ftp in place of ftps. Else " +
		"open it in an FTP program.")
	d.place(u, "Open in an FTP program")
}

// gemini describes an address of the Gemini protocol.
func (d *description) gemini(u uri.URI) {
	d.note("This is the address of a page of the Gemini protocol, which browsers for it show. This server does not " +
		"retrieve it: nothing was retrieved, no connection was opened.")
	d.place(u, "Open in a Gemini browser")
}

func (d *description) place(u uri.URI, open string) {
	d.server(u)
	if path := u.Path(); path != "" {
		d.property("Path", decoded(path))
	}
	if query, ok := u.Query(); ok {
		d.property("Query", decoded(query))
	}
	d.open.Text = open
}
