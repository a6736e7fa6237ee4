// Package fast parses plain requests in place, and makes the heads of responses: what the fast path needs to
// answer from caches before net/http reads a request. It knows no cache and no rules.
package fast

import (
	"net/http"
	"strconv"
	"strings"
	"unsafe"

	"github.com/urnd/urnd/internal/httpmessage"
)

// Request is a plain request by HTTP/1.1: GET or HEAD without a body, or one of a few other methods with a body of a known length or
// none, and without a field that is about the framing, or the connection, in another way. Its strings lie over the octets that were
// parsed, and are valid as long as these. The zero value is ready for Parse, and is meant to be used again.
type Request struct {
	Method string
	Target string
	Host   string
	// Size is the number of octets of the head, and Length that of the body.
	Size   int
	Length int64
	// IsNeutral is whether its fields are of a list that is known to mean nothing beyond what the caches heed.
	IsNeutral bool
	// IsForwarded is whether it has fields by which a proxy in front says from whom and how it came, and IsRanged whether it has some
	// that ask for a part of a representation. They are neutral.
	IsForwarded, IsRanged bool
	// Closes is whether the client wants the connection to end behind the response: RFC 9112 section 9.6.
	Closes bool

	hasConnection bool
	text          string // that was parsed
	fields        [maxFields]field
	count         int
}

// field is a field of a request.
type field struct {
	name     string // as http.Header has it
	value    string
	spelling string // of the name
}

// maxFields bounds the fields of a plain request, beside Host.
const maxFields = 24

// IsHead reports whether the method is HEAD.
func (r *Request) IsHead() bool { return r.Method == http.MethodHead }

// Value returns the value of a field, "" for none.
func (r *Request) Value(name string) string {
	for i := range r.fields[:r.count] {
		if r.fields[i].name == name {
			return r.fields[i].value
		}
	}
	return ""
}

// Has reports whether there is a field.
func (r *Request) Has(name string) bool {
	for i := range r.fields[:r.count] {
		if r.fields[i].name == name {
			return true
		}
	}
	return false
}

// Lines returns the lines of a field, as http.Header does: one or none. They share memory with the request.
func (r *Request) Lines(name string) []string {
	for i := range r.fields[:r.count] {
		if r.fields[i].name == name {
			return unsafe.Slice(&r.fields[i].value, 1) //nolint:gosec // the field lives as long as the request
		}
	}
	return nil
}

// Begins reports whether octets begin with the request.
func (r *Request) Begins(octets []byte) bool {
	return len(octets) >= r.Size && string(octets[:r.Size]) == r.text
}

// AppendFields appends the fields but Host and those of the connection, in their order and as they are spelled.
func (r *Request) AppendFields(fields httpmessage.Fields) httpmessage.Fields {
	for _, f := range r.fields[:r.count] {
		fields.Add(f.spelling, f.value)
	}
	return fields
}

// Parse parses the request that octets begin with, and returns why it is no plain one, "" where it is. The grammar
// is that of RFC 9112 sections 3 and 5 without what servers read differently: what is not surely the same to
// net/http is none.
func (r *Request) Parse(octets []byte) Reason {
	r.Method, r.Host, r.Length, r.count, r.hasConnection, r.Closes, r.IsNeutral = "", "", 0, 0, false, false, true
	r.IsForwarded, r.IsRanged = false, false
	text := unsafe.String(unsafe.SliceData(octets), len(octets)) //nolint:gosec // as documented
	rest, reason := r.parseLine(text)
	for reason == "" {
		if len(rest) < 2 {
			return Partial
		}
		if rest[0] == '\r' && rest[1] == '\n' {
			if r.Host == "" {
				return Field
			}
			r.Size = len(text) - len(rest) + 2
			r.text = text[:r.Size]
			return ""
		}
		rest, reason = r.parseField(rest)
	}
	if r.Method != "" && !r.IsGet() {
		return Method
	}
	return reason
}

// IsGet reports whether the method is GET or HEAD.
func (r *Request) IsGet() bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }

// parseLine parses the request line, and returns what is behind it.
func (r *Request) parseLine(text string) (rest string, reason Reason) {
	switch {
	case strings.HasPrefix(text, "GET "):
		r.Method, rest = http.MethodGet, text[len("GET "):]
	case strings.HasPrefix(text, "HEAD "):
		r.Method, rest = http.MethodHead, text[len("HEAD "):]
	case len(text) < len("HEAD ") && (strings.HasPrefix("GET ", text) || strings.HasPrefix("HEAD ", text)):
		return "", Partial
	default:
		if rest = r.parseOther(text); rest == "" {
			return "", Method
		}
	}
	if r.Target = targetOf(rest); r.Target == "" {
		return "", Target
	}
	rest = rest[len(r.Target):]
	const version = " HTTP/1.1\r\n"
	switch {
	case len(rest) < len(version) && strings.HasPrefix(version, rest):
		return "", Partial
	case !strings.HasPrefix(rest, version) || r.Target[0] != '/' && !hasScheme(r.Target):
		return "", Target
	}
	return rest[len(version):], ""
}

// parseOther parses another method, and returns what is behind it, "" for none that is plain.
func (r *Request) parseOther(text string) (rest string) {
	for _, method := range [...]string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		if rest, ok := strings.CutPrefix(text, method); ok && strings.HasPrefix(rest, " ") {
			r.Method, r.IsNeutral = method, false
			return rest[1:]
		}
	}
	return ""
}

// targetOf returns the octets of a request-target that a text begins with, "" for none.
func targetOf(text string) string {
	end := 0
	for end < len(text) && targetOctets.has(text[end]) {
		if text[end] == '%' && (end+2 >= len(text) || !isHex(text[end+1]) || !isHex(text[end+2])) {
			return ""
		}
		end++
	}
	return text[:end]
}

// parseField parses a field line, and returns what is behind it.
func (r *Request) parseField(text string) (rest string, reason Reason) {
	colon := 0
	for colon < len(text) && nameOctets.has(text[colon]) {
		colon++
	}
	if colon == len(text) {
		return "", Partial
	}
	if text[colon] != ':' || colon == 0 {
		return "", Field
	}
	end := colon + 1
	for end < len(text) && (text[end] >= ' ' && text[end] <= '~') {
		end++
	}
	switch {
	case end+1 >= len(text) && (end == len(text) || text[end] == '\r'):
		return "", Partial
	case text[end] != '\r' || text[end+1] != '\n':
		return "", Field
	}
	return text[end+2:], r.add(text[:colon], strings.Trim(text[colon+1:end], " "))
}

// add adds a field, and returns why the request is no plain one.
func (r *Request) add(name, value string) Reason {
	if len(name) == len("Host") && equalFold(name, "Host") {
		if r.Host != "" || !isHost(value) {
			return Field
		}
		r.Host = value
		return ""
	}
	known := neutral(name)
	if known == "Connection" {
		return r.addConnection(value)
	}
	if known == "" {
		known, r.IsNeutral = r.other(name, value), false
	}
	if known == "" || r.count == maxFields || r.Has(known) || known == "Proxy-Connection" && !equalFold(value, "keep-alive") {
		return Field
	}
	r.heed(known)
	r.fields[r.count] = field{known, value, name}
	r.count++
	return ""
}

// other returns the name, as http.Header has it, of a field that is not neutral, "" where the request is no plain one by it.
func (r *Request) other(name, value string) string {
	if !r.IsGet() && equalFold(name, lengthField) && r.setLength(value) {
		return lengthField
	}
	return endToEnd(name)
}

const lengthField = "Content-Length"

// setLength sets the length of the body, and reports whether a value says it in the one form that nobody reads in another way.
func (r *Request) setLength(value string) bool {
	const most = 15 // digits
	if value == "" || len(value) > most || value[0] == '0' && value != "0" || strings.Trim(value, "0123456789") != "" {
		return false
	}
	length, err := strconv.ParseInt(value, 10, 64)
	r.Length = length
	return err == nil
}

// addConnection adds the field Connection, which is for this hop.
func (r *Request) addConnection(value string) Reason {
	r.Closes = equalFold(value, "close")
	if r.hasConnection || !r.Closes && !equalFold(value, "keep-alive") {
		return Field
	}
	r.hasConnection = true
	r.IsNeutral = r.IsNeutral && !r.Closes
	return ""
}

// isHost reports whether a value of Host is a name or an address, with or without a port.
func isHost(value string) bool {
	for i := range len(value) {
		if !hostOctets.has(value[i]) {
			return false
		}
	}
	return value != ""
}
