package accesslog

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// Format is a format of lines. The zero value is JSON. It is immutable and safe for concurrent use.
type Format struct {
	lines func(b []byte, r *record) []byte // nil is JSON
}

// append appends the line of an entry, with its line end.
func (f Format) append(b []byte, r *record) []byte {
	if f.lines == nil {
		return appendJSON(b, &r.Entry)
	}
	return f.lines(b, r)
}

// The prefixes of formats that are templates, in the syntax of Apache's mod_log_config and of Squid's logformat.
const (
	apachePrefix = "apache:"
	squidPrefix  = "squid:"
)

// namedTemplates are the formats that Apache's documentation and Squid define, as templates.
func namedTemplates() map[string]string {
	return map[string]string{
		"common":         apachePrefix + `%h %l %u %t "%r" %>s %b`,
		"squid_common":   squidPrefix + `%>a %[ui %[un [%tl] "%rm %ru HTTP/%rv" %>Hs %<st %Ss:%Sh`,
		"squid_combined": squidPrefix + `%>a %[ui %[un [%tl] "%rm %ru HTTP/%rv" %>Hs %<st "%{Referer}>h" "%{User-Agent}>h" %Ss:%Sh`,
		"referrer":       squidPrefix + `%ts.%03tu %>a %{Referer}>h %ru`,
		"useragent":      squidPrefix + `%>a [%tl] "%{User-Agent}>h"`,
	}
}

// ParseFormat returns a format: "json" (as ""), "combined" of Apache, "squid", another that Apache or Squid has a name for, or a
// template that begins with "apache:" or "squid:". The error names the token of the template that is wrong, its offset, and what to
// write instead.
func ParseFormat(text string) (Format, error) {
	switch text {
	case "", "json":
		return Format{}, nil
	case "combined":
		return Format{func(b []byte, r *record) []byte { return appendCombined(b, &r.Entry) }}, nil
	case "squid":
		return Format{func(b []byte, r *record) []byte { return appendSquid(b, &r.Entry) }}, nil
	}
	named, isNamed := namedTemplates()[text]
	if isNamed {
		text = named
	}
	if template, isApache := strings.CutPrefix(text, apachePrefix); isApache {
		return compile(apachePrefix, template, parseApache)
	}
	if template, isSquid := strings.CutPrefix(text, squidPrefix); isSquid {
		return compile(squidPrefix, template, parseSquid)
	}
	return Format{}, fmt.Errorf("%q is no format: write %s, or a template that begins with %s or %s", text,
		strings.Join(FormatNames(), ", "), apachePrefix, squidPrefix)
}

// FormatNames returns the formats that have a name, "json", the default, first.
func FormatNames() []string {
	return append([]string{"json", "combined", "squid"}, slices.Sorted(maps.Keys(namedTemplates()))...)
}

// appendCombined is the "combined" format of Apache's mod_log_config.
func appendCombined(b []byte, e *Entry) []byte {
	b = appendClient(b, e.Client)
	b = append(b, " - "...)
	b = appendQuoted(b, orDash(e.User))
	b = e.Time.AppendFormat(b, " [02/Jan/2006:15:04:05 -0700] ")
	b = append(b, '"')
	b = appendQuoted(b, e.Method)
	b = append(b, ' ')
	if e.Scheme != "" {
		b = appendQuoted(append(append(b, e.Scheme...), "://"...), e.Host)
	}
	b = appendQuoted(b, e.Target)
	b = append(b, ' ')
	b = append(b, e.Proto...)
	b = append(b, `" `...)
	b = strconv.AppendInt(b, int64(e.Status), 10)
	b = append(b, ' ')
	b = strconv.AppendInt(b, e.Bytes, 10)
	b = append(b, ` "`...)
	b = appendQuoted(b, orDash(e.Referer))
	b = append(b, `" "`...)
	b = appendQuoted(b, orDash(e.UserAgent))
	return append(b, "\"\n"...)
}

// appendSquid is the native format of Squid's access.log.
func appendSquid(b []byte, e *Entry) []byte {
	b = strconv.AppendInt(b, e.Time.Unix(), 10)
	b = append(b, '.')
	b = appendPadded(b, int64(e.Time.Nanosecond()/1e6), "00")
	b = append(b, ' ')
	b = appendPadded(b, e.Took.Milliseconds(), "     ")
	b = append(b, ' ')
	b = appendClient(b, e.Client)
	b = append(b, ' ')
	b = append(b, squidCode(e)...)
	b = append(b, '/')
	b = appendPadded(b, int64(e.Status), "00")
	b = append(b, ' ')
	b = strconv.AppendInt(b, e.Bytes, 10)
	b = append(b, ' ')
	b = appendWord(b, e.Method)
	b = append(b, ' ')
	if e.Scheme != "" {
		b = appendWord(append(append(b, e.Scheme...), "://"...), e.Host)
	}
	b = appendWord(b, e.Target)
	b = append(b, ' ')
	b = appendWord(b, orDash(e.User))
	if e.Server.IsValid() {
		b = e.Server.Addr().AppendTo(append(b, " HIER_DIRECT/"...))
		b = append(b, ' ')
	} else {
		b = append(b, " HIER_NONE/- "...)
	}
	b = appendWord(b, orDash(e.Type))
	return append(b, '\n')
}

// Denied reports whether urnd itself has refused the request by its rules.
func (e *Entry) Denied() bool {
	return e.Refused && (e.Status == http.StatusForbidden || e.Status == http.StatusProxyAuthRequired || e.Status == http.StatusTooManyRequests)
}

// Cached reports whether the answer was from a cache.
func (e *Entry) Cached() bool {
	return e.Cache == "hit" || e.Cache == "revalidated" || e.Cache == "stale"
}

// squidCode returns the result code of Squid for a request: its kind, or the outcome of a cache lookup.
func squidCode(e *Entry) string {
	switch {
	case e.Denied():
		return "TCP_DENIED"
	case e.Method == http.MethodConnect && !e.Refused:
		return "TCP_TUNNEL"
	case e.Status == 0 && e.Forwarded: // the client has disconnected, or the server has stopped
		return "TCP_MISS_ABORTED"
	}
	switch e.Cache {
	case "hit":
		return "TCP_MEM_HIT"
	case "revalidated":
		return "TCP_REFRESH_UNMODIFIED"
	case "stale":
		return "TCP_REFRESH_FAIL_OLD"
	case "miss", "collapsed":
		return "TCP_MISS"
	}
	if e.Forwarded {
		return "TCP_MISS"
	}
	return "NONE"
}

func appendClient(b []byte, client netip.Addr) []byte {
	if !client.IsValid() {
		return append(b, '-')
	}
	return client.AppendTo(b)
}

func orDash(s string) string { return cmp.Or(s, "-") }

// appendPadded appends a number, with so much of the padding before it that the two are at least one
// octet longer than the padding.
func appendPadded(b []byte, n int64, padding string) []byte {
	start := len(b)
	b = append(b, padding...)
	b = strconv.AppendInt(b, n, 10)
	surplus := min(len(b)-start-len(padding)-1, len(padding))
	return append(b[:start], b[start+surplus:]...)
}

const (
	lowerHex = "0123456789abcdef"
	upperHex = "0123456789ABCDEF"
)

// appendQuoted appends what is to stand in quotation marks, as Apache escapes it: octets that could
// end a field or a line, and those that are not ASCII, in hexadecimal.
func appendQuoted(b []byte, s string) []byte {
	done := 0
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			b = append(b, s[done:i]...)
			b = append(b, '\\', 'x', lowerHex[c>>4], lowerHex[c&0xF])
			done = i + 1
		}
	}
	return append(b, s[done:]...)
}

// appendWord appends a field that ends at a space, as Squid does: spaces, control characters and
// octets that are not ASCII are percent-encoded.
func appendWord(b []byte, s string) []byte {
	done := 0
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c > '~' {
			b = append(b, s[done:i]...)
			b = append(b, '%', upperHex[c>>4], upperHex[c&0xF])
			done = i + 1
		}
	}
	return append(b, s[done:]...)
}
