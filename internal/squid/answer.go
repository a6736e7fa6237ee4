package squid

// Answer is the answer to one request. Create it with the functions below.
type Answer struct {
	result      string
	name, value string // of what belongs to the result; "" if nothing does
}

// Redirect sends the client to url.
func Redirect(url string) Answer { return Answer{"OK status=302", "url", url} }

// Rewrite makes Squid ask for url in place of the URL of the request.
func Rewrite(url string) Answer { return Answer{"OK", "rewrite-url", url} }

// StoreID makes Squid store the response under id, and look it up there.
func StoreID(id string) Answer { return Answer{"OK", "store-id", id} }

// Unchanged leaves the request as it is.
func Unchanged() Answer { return Answer{result: "ERR"} }

// Refused leaves the request as it is, as nothing else can be made of its URL. Squid has the
// message as an annotation, "%note" of its logformat.
func Refused(message string) Answer { return Answer{"ERR", "message", message} }

// Broken leaves the request as it is, as the helper has failed. Squid may ask again, and
// logs the message.
func Broken(message string) Answer { return Answer{"BH", "message", message} }

// AppendTo appends the line of a to dst, for the channel of the request.
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

// appendQuoted appends a value in double quotes, where Squid reads "\" and the next
// character as that character. A control character, which no URI has, would end the line: it
// becomes a question mark.
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
