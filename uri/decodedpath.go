package uri

import (
	urlpath "path"
	"strings"
)

// DecodedPath returns a path as servers look it up that take what is below directories for their files: percent-decoded once,
// without empty segments and dot segments (RFC 3986 section 5.2.4). So all spellings of a path are the same that such a server
// may take for one. It is for comparing, and no path of a URI: it may have any bytes. "" stays "".
func DecodedPath(path string) string {
	if !strings.Contains(path, "%") && !strings.Contains(path, "//") && !strings.Contains(path, "/.") {
		return path
	}
	decoded := make([]byte, 0, len(path))
	for i := 0; i < len(path); i++ {
		c := path[i]
		if isTriple(path, i) {
			c = unhex(path[i+1])<<4 | unhex(path[i+2])
			i += 2
		}
		decoded = append(decoded, c)
	}
	text := string(decoded)
	clean := urlpath.Clean("/" + text)
	isDirectory := strings.HasSuffix(text, "/") || strings.HasSuffix(text, "/.") || strings.HasSuffix(text, "/..")
	if isDirectory && clean != "/" {
		clean += "/"
	}
	return clean
}
