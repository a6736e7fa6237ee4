package scheme

import (
	"path"
	"strings"

	"github.com/gabriel-vasile/mimetype"
)

// SniffLength is how many octets of a body MediaType looks at, at most.
const SniffLength = 512

// byExtension has the media types of names whose octets say less than the name: texts of all kinds, and
// what was common on servers of FTP and gopher.
var byExtension = map[string]string{
	".txt": "text/plain", ".text": "text/plain", ".asc": "text/plain", ".md": "text/plain", ".log": "text/plain", ".diff": "text/plain", ".patch": "text/plain",
	".c": "text/plain", ".h": "text/plain", ".go": "text/plain", ".py": "text/plain", ".sh": "text/plain", ".dsc": "text/plain", ".ps": "application/postscript",
	".html": "text/html", ".htm": "text/html", ".css": "text/css", ".csv": "text/csv", ".js": "text/javascript", ".json": "application/json",
	".xml": "application/xml", ".xhtml": "application/xhtml+xml", ".svg": "image/svg+xml", ".rtf": "application/rtf", ".tex": "application/x-tex",
	".gz": "application/gzip", ".tgz": "application/gzip", ".z": "application/x-compress", ".bz2": "application/x-bzip2", ".xz": "application/x-xz", ".zst": "application/zstd",
	".tar": "application/x-tar", ".zip": "application/zip", ".deb": "application/vnd.debian.binary-package", ".iso": "application/octet-stream",
	".hqx": "application/mac-binhex40", ".uu": "text/plain", ".pdf": "application/pdf", ".epub": "application/epub+zip", ".mbox": "application/mbox",
	".eml": "message/rfc822", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".png": "image/png", ".bmp": "image/bmp", ".tiff": "image/tiff", ".tif": "image/tiff",
	".webp": "image/webp", ".mp3": "audio/mpeg", ".ogg": "audio/ogg", ".wav": "audio/wav", ".au": "audio/basic", ".mpg": "video/mpeg", ".mpeg": "video/mpeg",
	".mp4": "video/mp4", ".webm": "video/webm", ".avi": "video/x-msvideo", ".mov": "video/quicktime",
}

// MediaType returns the media type of a resource by its name, which may be "", and its first octets, at
// most SniffLength of them, which may be none. Octets that are no text are never called one, whatever
// their name is.
func MediaType(name string, head []byte) string {
	named := byExtension[strings.ToLower(path.Ext(name))]
	isText := strings.HasPrefix(named, "text/") || named == "message/rfc822"
	if named != "" && !isText {
		return named
	}
	if len(head) == 0 {
		if named == "" {
			return "application/octet-stream"
		}
		return named
	}
	sniffed, _, _ := strings.Cut(mimetype.Detect(head).String(), "; charset=")
	switch {
	case isText && strings.HasPrefix(sniffed, "text/"):
		return named
	case isText: // it has octets of no text
		return sniffed
	case sniffed == "text/html", sniffed == "image/svg+xml", strings.HasPrefix(sniffed, "text/"):
		return "text/plain" // a name that does not say so makes no page
	default:
		return sniffed
	}
}
