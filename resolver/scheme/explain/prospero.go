package explain

import "github.com/urnd/urnd/uri"

// prospero describes a prospero URL: RFC 1738 section 3.11.
func (d *description) prospero(u uri.URI) error {
	parts, err := u.Prospero()
	if err != nil {
		return err
	}
	d.note("This is the address of an object in the Prospero Directory Service, which organised files of many " +
		"servers in the 1990s. Hardly any server of it runs today. Nothing was retrieved, no connection was opened.")
	d.note("The name and the fields below may help to find the object elsewhere.")
	d.server(u)
	d.property("Object name", parts.HSOName)
	for _, field := range parts.Fields {
		d.property("Field "+field.Name, field.Value)
		d.warnOfCharacters("name of a field", field.Name)
	}
	d.open.Text = "Open in a Prospero program"
	return nil
}
