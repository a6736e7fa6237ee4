package accesslog

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// appendJSON appends the entry as encoding/json would encode it, but without allocating.
func appendJSON(b []byte, e *Entry) []byte {
	b = append(b, `{"time":"`...)
	b = e.Time.UTC().AppendFormat(b, time.RFC3339Nano)
	b = append(b, `","client":`...)
	switch {
	case !e.Client.IsValid():
		b = append(b, `""`...)
	case e.Client.Zone() != "": // a zone may contain any bytes
		b = appendString(b, e.Client.String())
	default:
		b = append(e.Client.AppendTo(append(b, '"')), '"')
	}
	b = appendOptional(b, `,"user":`, e.User)
	b = appendString(append(b, `,"method":`...), e.Method)
	b = append(b, `,"target":"`...)
	if e.Scheme != "" {
		b = appendEscaped(append(append(b, e.Scheme...), "://"...), e.Host)
	}
	b = append(appendEscaped(b, e.Target), '"')
	b = appendString(append(b, `,"proto":`...), e.Proto)
	b = strconv.AppendInt(append(b, `,"status":`...), int64(e.Status), 10)
	b = strconv.AppendInt(append(b, `,"bytes":`...), e.Bytes, 10)
	b = strconv.AppendFloat(append(b, `,"ms":`...), float64(e.Took.Microseconds())/1000, 'f', -1, 64)
	b = appendString(append(b, `,"cache":`...), e.Cache)
	if e.Server.IsValid() {
		b = append(e.Server.AppendTo(append(b, `,"origin":"`...)), '"')
	}
	b = appendOptional(b, `,"rule":`, e.Rule)
	if e.Denied {
		b = append(b, `,"denied":true`...)
	}
	b = appendString(append(b, `,"form":`...), e.Form)
	b = appendString(append(b, `,"service":`...), e.Service)
	b = appendString(append(b, `,"request_id":`...), e.RequestID)
	b = appendOptional(b, `,"referer":`, e.Referer)
	b = appendOptional(b, `,"user_agent":`, e.UserAgent)
	return append(b, "}\n"...)
}

// appendOptional appends a member of an object unless value is empty.
func appendOptional(b []byte, name, value string) []byte {
	if value == "" {
		return b
	}
	return appendString(append(b, name...), value)
}

// plain marks the bytes that need no escaping in a string. As in encoding/json, the result is also safe in
// HTML.
var plain = plainBytes()

func plainBytes() (all [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		all[c] = !strings.ContainsRune(`"\<>&`, c)
	}
	return all
}

// appendString appends a JSON string (RFC 8259 section 7). Invalid UTF-8 is replaced by U+FFFD.
func appendString(b []byte, s string) []byte {
	return append(appendEscaped(append(b, '"'), s), '"')
}

// appendEscaped is like appendString without the quotation marks.
func appendEscaped(b []byte, s string) []byte {
	done := 0
	for i := 0; i < len(s); {
		if plain[s[i]] {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if isEscaped(r, size) {
			b = appendRune(append(b, s[done:i]...), r)
			done = i + size
		}
		i += size
	}
	return append(b, s[done:]...)
}

// isEscaped reports whether a character of size bytes that is not plain is escaped. U+2028 and U+2029 end a
// line in JavaScript.
func isEscaped(r rune, size int) bool {
	return r < utf8.RuneSelf || r == utf8.RuneError && size == 1 || r == '\u2028' || r == '\u2029'
}

func appendRune(b []byte, r rune) []byte {
	switch r {
	case '"', '\\':
		return append(b, '\\', byte(r))
	case '\b':
		return append(b, `\b`...)
	case '\f':
		return append(b, `\f`...)
	case '\n':
		return append(b, `\n`...)
	case '\r':
		return append(b, `\r`...)
	case '\t':
		return append(b, `\t`...)
	default:
		return append(b, '\\', 'u', lowerHex[r>>12&0xF], lowerHex[r>>8&0xF], lowerHex[r>>4&0xF], lowerHex[r&0xF])
	}
}
