package uri_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/urnd/urnd/uri"
)

// RFC 2483 section 5.
func TestList(t *testing.T) {
	text := string(uri.AppendList(nil, mustParse(t, "urn:cid:foo@huh.org"),
		[]string{"http://www.huh.org/cid/foo.html", "ftp://ftp.foo.org/foo.txt"}))
	if text != "# urn:cid:foo@huh.org\r\nhttp://www.huh.org/cid/foo.html\r\nftp://ftp.foo.org/foo.txt\r\n" {
		t.Errorf("%q", text)
	}
	for _, end := range []string{"\r\n", "\n", "\r", "\n\r\n"} {
		lines := slices.Collect(uri.ListLines(strings.ReplaceAll(text+" x y\r\n", "\r\n", end)))
		if !slices.Equal(lines, []string{"http://www.huh.org/cid/foo.html", "ftp://ftp.foo.org/foo.txt", "x y"}) {
			t.Errorf("lines that end in %q: %q", end, lines)
		}
	}
}
