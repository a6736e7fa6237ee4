package daemon

import (
	"net"
	"strings"
)

// URLs returns the URLs of a service, to be opened in a browser: of its addresses by http and by https, each joined by
// commas.
func URLs(http, https string) string {
	var urls []string
	for _, of := range []struct{ scheme, addresses string }{{"http", http}, {"https", https}} {
		for address := range strings.SplitSeq(of.addresses, ", ") {
			if _, _, err := net.SplitHostPort(address); err == nil {
				urls = append(urls, of.scheme+"://"+address+"/")
			}
		}
	}
	return strings.Join(urls, " ")
}
