package squid

// Answer is the answer to one request. The functions below create it.
type Answer struct {
	result      string
	name, value string // keyword and its value; "" for none
}

// Redirect redirects the client to url.
func Redirect(url string) Answer { return Answer{"OK status=302", "url", url} }

// Rewrite makes Squid request url instead of the URL of the request.
func Rewrite(url string) Answer { return Answer{"OK", "rewrite-url", url} }

// StoreID makes Squid use id as the cache key of the response.
func StoreID(id string) Answer { return Answer{"OK", "store-id", id} }

// Unchanged leaves the request unchanged.
func Unchanged() Answer { return Answer{result: "ERR"} }

// Refused leaves the request unchanged because its URL cannot be processed. message is available to Squid's
// logformat as the annotation %note.
func Refused(message string) Answer { return Answer{"ERR", "message", message} }

// Broken leaves the request unchanged because the helper has failed. Squid may retry, and logs message.
func Broken(message string) Answer { return Answer{"BH", "message", message} }

// AppendTo appends the line of the answer to dst, for the channel of the request.
func (a Answer) AppendTo(dst []byte, channel string) []byte {
	if channel != "" {
		dst = append(dst, channel...)
		dst = append(dst, ' ')
	}
	dst = append(dst, a.result...)
	if a.name != "" {
		dst = append(dst, ' ')
		dst = append(dst, a.name...)
		dst = append(dst, '=')
		dst = appendQuoted(dst, a.value)
	}
	return append(dst, '\n')
}

// appendQuoted appends a value in double quotes, in which Squid reads a backslash and the next character as
// that character. Control characters, which no URI contains, would end the line, and are replaced by question
// marks.
func appendQuoted(dst []byte, value string) []byte {
	dst = append(dst, '"')
	for i := range len(value) {
		switch b := value[i]; {
		case b == '"' || b == '\\':
			dst = append(dst, '\\', b)
		case b < ' ' || b == 0x7f:
			dst = append(dst, '?')
		default:
			dst = append(dst, b)
		}
	}
	return append(dst, '"')
}
