package uri_test

import (
	"strings"
	"testing"

	"github.com/urnd/urnd/uri"
)

// RFC 2483 section 5.
func TestList(t *testing.T) {
	text := string(uri.AppendList(nil, mustParse(t, "urn:cid:foo@huh.org"), []string{"http://www.huh.org/cid/foo.html", "ftp://ftp.foo.org/foo.txt"}))
	if text != "# urn:cid:foo@huh.org\r\nhttp://www.huh.org/cid/foo.html\r\nftp://ftp.foo.org/foo.txt\r\n" {
		t.Errorf("%q", text)
	}
	for _, end := range []string{"\r\n", "\n", "\r", "\n\r\n"} {
		uris, bad := uri.ParseList(strings.ReplaceAll(text+" x y\r\n", "\r\n", end))
		if len(uris) != 2 || uris[1].String() != "ftp://ftp.foo.org/foo.txt" || bad != 1 {
			t.Errorf("lines that end in %q: %v, %d", end, uris, bad)
		}
	}
}
