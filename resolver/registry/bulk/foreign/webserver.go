package foreign

import (
	"io"

	"github.com/urnd/urnd/resolver/registry/bulk/webserver"
)

// Apache reads .htaccess files of Apache.
func Apache(in *Input, base string) (Entries, error) {
	return configuration(webserver.Apache(in.strict(), base))
}

// Nginx reads a configuration of nginx.
func Nginx(in *Input, base string) (Entries, error) {
	return configuration(webserver.Nginx(in.strict(), base))
}

// RewriteMap reads the text file of a RewriteMap of Apache.
func RewriteMap(in *Input, base string) (Entries, error) {
	return configuration(webserver.RewriteMap(in.lines(), base))
}

// configuration converts the items of a web server's configuration.
func configuration(items []webserver.Item, err error) (Entries, error) {
	return func() (*Item, error) {
		if len(items) == 0 {
			return nil, io.EOF
		}
		from := items[0]
		items = items[1:]
		i := newItem(from.Line, from.Input)
		i.Entry, i.Err = from.Entry, from.Err
		for _, loss := range from.Unmapped {
			i.addUnmapped(nil, "%s", loss)
		}
		return i, nil
	}, err
}
