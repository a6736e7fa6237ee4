package accesslog

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Values of tokens, shared by both families. Each appends nothing if the entry has no value.

func clientValue(b []byte, e *Entry) []byte {
	if !e.Client.IsValid() {
		return b
	}
	return e.Client.AppendTo(b)
}

func serverValue(b []byte, e *Entry) []byte {
	if !e.Server.IsValid() {
		return b
	}
	return e.Server.Addr().AppendTo(b)
}

func serverPortValue(b []byte, e *Entry) []byte {
	if !e.Server.IsValid() {
		return b
	}
	return strconv.AppendUint(b, uint64(e.Server.Port()), 10)
}

func userValue(b []byte, e *Entry) []byte   { return append(b, e.User...) }
func methodValue(b []byte, e *Entry) []byte { return append(b, e.Method...) }
func protoValue(b []byte, e *Entry) []byte  { return append(b, e.Proto...) }
func typeValue(b []byte, e *Entry) []byte   { return append(b, e.Type...) }

// mediaTypeValue is the media type without parameters.
func mediaTypeValue(b []byte, e *Entry) []byte {
	end := 0
	for end < len(e.Type) && e.Type[end] != ';' && e.Type[end] != ' ' && e.Type[end] != '\t' {
		end++
	}
	return append(b, e.Type[:end]...)
}

func refererValue(b []byte, e *Entry) []byte   { return append(b, e.Referer...) }
func userAgentValue(b []byte, e *Entry) []byte { return append(b, e.UserAgent...) }
func hostFieldValue(b []byte, e *Entry) []byte { return append(b, e.Host...) }
func requestIDValue(b []byte, e *Entry) []byte { return append(b, e.RequestID...) }
func ruleValue(b []byte, e *Entry) []byte      { return append(b, e.Rule...) }
func deniedValue(b []byte, e *Entry) []byte {
	if !e.Denied {
		return b
	}
	return append(b, "denied"...)
}

func formValue(b []byte, e *Entry) []byte      { return append(b, e.Form...) }
func serviceValue(b []byte, e *Entry) []byte   { return append(b, e.Service...) }
func cacheValue(b []byte, e *Entry) []byte     { return append(b, e.Cache...) }
func squidCodeValue(b []byte, e *Entry) []byte { return append(b, squidCode(e)...) }

// noValue is the value of common tokens that do not apply to urnd: they write "-".
func noValue(b []byte, _ *Entry) []byte { return b }

// constant returns a constant value.
func constant(text string) value {
	return func(b []byte, _ *Entry) []byte { return append(b, text...) }
}

// versionValue is the HTTP version: "1.1".
func versionValue(b []byte, e *Entry) []byte {
	return append(b, strings.TrimPrefix(e.Proto, "HTTP/")...)
}

// requestLineValue is the request line as received (RFC 9112 section 3). For HTTP/2 it is composed of the
// equivalent pseudo-header fields.
func requestLineValue(b []byte, e *Entry) []byte {
	b = append(append(b, e.Method...), ' ')
	b = append(append(b, e.Target...), ' ')
	return append(b, e.Proto...)
}

// urlValue is the complete target.
func urlValue(b []byte, e *Entry) []byte {
	if e.Scheme != "" {
		b = append(append(append(b, e.Scheme...), "://"...), e.Host...)
	}
	return append(b, e.Target...)
}

// target returns the scheme, the host and port, and the path and query of the target. scheme is "" for CONNECT
// and for requests to urnd itself; path is "" for CONNECT and for a URL without a path.
func (e *Entry) target() (scheme, host, path string) {
	if e.Method == http.MethodConnect {
		return "", e.Target, ""
	}
	scheme, rest, whole := strings.Cut(e.Target, "://")
	if e.Scheme != "" || !whole || strings.HasPrefix(e.Target, "/") || strings.Contains(scheme, "?") {
		return e.Scheme, e.Host, e.Target
	}
	host = rest
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		host, path = rest[:i], rest[i:]
	}
	return scheme, host[strings.LastIndexByte(host, '@')+1:], path
}

// HostName returns the requested host in lower case, without port, IPv6 brackets and final dot, in the form
// that the rules of the proxy compare.
func (e *Entry) HostName() string {
	_, host, _ := e.target()
	host, _ = splitPort(host)
	return strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
}

// splitPort splits a host and its port, "" for none.
func splitPort(host string) (name, port string) {
	i := strings.LastIndexByte(host, ':')
	if i < 0 || strings.Contains(host[i:], "]") || strings.Count(host, ":") > 1 && host[0] != '[' {
		return host, ""
	}
	return host[:i], host[i+1:]
}

func schemeValue(b []byte, e *Entry) []byte {
	scheme, _, _ := e.target()
	return append(b, scheme...)
}

func hostValue(b []byte, e *Entry) []byte {
	_, host, _ := e.target()
	host, _ = splitPort(host)
	return append(b, host...)
}

func portValue(b []byte, e *Entry) []byte {
	scheme, host, _ := e.target()
	_, port := splitPort(host)
	if port == "" {
		switch scheme {
		case "http":
			port = "80"
		case "https":
			port = "443"
		}
	}
	return append(b, port...)
}

// pathQueryValue is the path with the query.
func pathQueryValue(b []byte, e *Entry) []byte {
	_, _, path := e.target()
	return append(b, path...)
}

func pathValue(b []byte, e *Entry) []byte {
	_, _, path := e.target()
	path, _, _ = strings.Cut(path, "?")
	return append(b, path...)
}

// queryValue is the query with its question mark.
func queryValue(b []byte, e *Entry) []byte {
	_, _, path := e.target()
	if i := strings.IndexByte(path, '?'); i >= 0 {
		return append(b, path[i:]...)
	}
	return b
}

// statusValue is the status; nothing if the client disconnected before a status was sent.
func statusValue(b []byte, e *Entry) []byte {
	if e.Status == 0 {
		return b
	}
	return strconv.AppendInt(b, int64(e.Status), 10)
}

// wholeStatusValue is the status, 0 for none, as Squid writes it.
func wholeStatusValue(b []byte, e *Entry) []byte { return strconv.AppendInt(b, int64(e.Status), 10) }

func bytesValue(b []byte, e *Entry) []byte { return strconv.AppendInt(b, e.Bytes, 10) }

// someBytesValue is the number of bytes in the Common Log Format: nothing for 0.
func someBytesValue(b []byte, e *Entry) []byte {
	if e.Bytes == 0 {
		return b
	}
	return bytesValue(b, e)
}

// tookValue returns the duration of the request in a unit.
func tookValue(unit time.Duration) value {
	return func(b []byte, e *Entry) []byte { return strconv.AppendInt(b, int64(e.Took/unit), 10) }
}

// hierarchyValue is Squid's hierarchy code.
func hierarchyValue(b []byte, e *Entry) []byte {
	if e.Server.IsValid() {
		return append(b, "HIER_DIRECT"...)
	}
	return append(b, "HIER_NONE"...)
}

// began and ended return the start and the end of a request.
func began(e *Entry) time.Time { return e.Time.Add(-e.Took) }
func ended(e *Entry) time.Time { return e.Time }

// epochValue returns a time in whole units since 1970.
func epochValue(at func(e *Entry) time.Time, unit time.Duration) value {
	if unit == time.Second {
		return func(b []byte, e *Entry) []byte { return strconv.AppendInt(b, at(e).Unix(), 10) }
	}
	return func(b []byte, e *Entry) []byte {
		t := at(e)
		return strconv.AppendInt(b, t.Unix()*int64(time.Second/unit)+int64(t.Nanosecond())/int64(unit), 10)
	}
}

// fractionValue returns the first digits of the fraction of a second, padded with zeros if padded is set.
func fractionValue(at func(e *Entry) time.Time, digits int, padded bool) value {
	divisor := 1
	for range 9 - digits {
		divisor *= 10
	}
	return func(b []byte, e *Entry) []byte {
		n := at(e).Nanosecond() / divisor
		if !padded {
			return strconv.AppendInt(b, int64(n), 10)
		}
		start := len(b)
		b = append(b, "000000000"[:digits]...)
		for i := start + digits - 1; n > 0; i-- {
			b[i] += byte(n % 10)
			n /= 10
		}
		return b
	}
}
