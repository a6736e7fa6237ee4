package scheme

import (
	"mime"
	"path"
	"strings"

	"github.com/gabriel-vasile/mimetype"
)

// SniffLength is the maximum number of bytes at the start of a body that MediaType and WithCharset inspect. It
// covers all of a small document, because often only the names in a README are not ASCII.
const SniffLength = 8 << 10

// typeOf returns the media type of a file name extension in lower case, "" if unknown. The table has the types
// common on FTP and gopher servers, the same on every system, and maps source texts that browsers display only
// as text/plain.
func typeOf(extension string) string { //nolint:cyclop // a table
	switch extension {
	case ".txt", ".text", ".asc", ".md", ".log", ".diff", ".patch", ".c", ".h", ".go", ".py", ".sh", ".dsc", ".uu":
		return "text/plain"
	case ".ps":
		return "application/postscript"
	case ".html", ".htm":
		return "text/html"
	case ".css":
		return "text/css"
	case ".csv":
		return "text/csv"
	case ".js":
		return "text/javascript"
	case ".json":
		return "application/json"
	case ".xml":
		return "application/xml"
	case ".xhtml":
		return "application/xhtml+xml"
	case ".svg":
		return "image/svg+xml"
	case ".rtf":
		return "application/rtf"
	case ".tex":
		return "application/x-tex"
	case ".gz", ".tgz":
		return "application/gzip"
	case ".z":
		return "application/x-compress"
	case ".bz2":
		return "application/x-bzip2"
	case ".xz":
		return "application/x-xz"
	case ".zst":
		return "application/zstd"
	case ".tar":
		return "application/x-tar"
	case ".zip":
		return "application/zip"
	case ".deb":
		return "application/vnd.debian.binary-package"
	case ".iso":
		return "application/octet-stream"
	case ".hqx":
		return "application/mac-binhex40"
	case ".pdf":
		return "application/pdf"
	case ".epub":
		return "application/epub+zip"
	case ".mbox":
		return "application/mbox"
	case ".eml":
		return "message/rfc822"
	case ".jpg", ".jpeg":
		return "image/jpeg"
	case ".gif":
		return "image/gif"
	case ".png":
		return "image/png"
	case ".bmp":
		return "image/bmp"
	case ".tiff", ".tif":
		return "image/tiff"
	case ".webp":
		return "image/webp"
	case ".mp3":
		return "audio/mpeg"
	case ".ogg":
		return "audio/ogg"
	case ".wav":
		return "audio/wav"
	case ".au":
		return "audio/basic"
	case ".mpg", ".mpeg":
		return "video/mpeg"
	case ".mp4":
		return "video/mp4"
	case ".webm":
		return "video/webm"
	case ".avi":
		return "video/x-msvideo"
	case ".mov":
		return "video/quicktime"
	default:
		return ""
	}
}

// NamedType returns the media type of a file name by its extension, "" for none. sure is true if the content
// cannot change it. After the table the media types of the system are searched, which are never sure:
// extensions such as .doc were also given to plain texts.
func NamedType(name string) (mediaType string, sure bool) {
	extension := strings.ToLower(path.Ext(name))
	if mediaType = typeOf(extension); mediaType != "" {
		return mediaType, !strings.HasPrefix(mediaType, "text/") && mediaType != "message/rfc822"
	}
	mediaType, _, _ = strings.Cut(mime.TypeByExtension(extension), ";")
	if strings.HasPrefix(mediaType, "text/x-") { // browsers do not display these
		mediaType = "text/plain"
	}
	return mediaType, false
}

// MediaType returns the media type of a resource from its name, which may be "", and its first bytes, at most
// SniffLength of them, which may be empty. Binary content is never given a text type, whatever its name. Text
// content is text/plain unless the name says otherwise: content alone never makes it HTML, or another type in
// which browsers run scripts.
func MediaType(name string, head []byte) string {
	const plain = "text/plain"
	named, sure := NamedType(name)
	if sure {
		return named
	}
	if len(head) == 0 {
		if named == "" {
			return "application/octet-stream"
		}
		return named
	}
	sniffed := mimetype.Detect(head)
	isNamedText := strings.HasPrefix(named, "text/") || named == "message/rfc822"
	switch {
	case isForm(sniffed, plain) && isNamedText:
		return named
	case isForm(sniffed, plain):
		return plain
	case named != "" && !isNamedText:
		return named
	default:
		mediaType, _, _ := strings.Cut(sniffed.String(), ";")
		return mediaType
	}
}

// isForm reports whether a media type equals mediaType or is derived from it, as XHTML is from XML, and XML
// from plain text.
func isForm(of *mimetype.MIME, mediaType string) bool {
	for ; of != nil; of = of.Parent() {
		if of.Is(mediaType) {
			return true
		}
	}
	return false
}
