package message

import (
	"net/http"
	"strings"
)

// List returns the value of a header field, "" for none. A field that is repeated is one list
// (RFC 9110 section 5.3). name must be in canonical form.
func List(header http.Header, name string) string { return strings.Join(header[name], ", ") }
