package accesslog_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/urnd/urnd/internal/accesslog"
	"github.com/urnd/urnd/internal/redact"
)

// reference returns the line of an entry, by the standard library: slowly, but plainly.
func reference(format string, e accesslog.Entry) string {
	if e.Method == http.MethodConnect {
		e.Target = redact.URLs("//" + e.Target)[2:]
	} else {
		e.Target = redact.URLs(e.Target)
	}
	e.Referer, e.UserAgent = redact.URLs(e.Referer), redact.URLs(e.UserAgent)
	asReceived := e.Target
	if e.Scheme != "" {
		e.Target = e.Scheme + "://" + redact.URLs("//" + e.Host)[2:] + e.Target
	}
	client, origin, hierarchy := "", "", "HIER_NONE/-"
	if e.Server.IsValid() {
		origin, hierarchy = e.Server.String(), "HIER_DIRECT/"+e.Server.Addr().String()
	}
	if e.Client != (netip.Addr{}) {
		client = e.Client.String()
	}
	switch format {
	case "json":
		line, _ := json.Marshal(struct {
			Time      string  `json:"time"`
			Client    string  `json:"client"`
			User      string  `json:"user,omitempty"`
			Method    string  `json:"method"`
			Target    string  `json:"target"`
			Proto     string  `json:"proto"`
			Status    int     `json:"status"`
			Bytes     int64   `json:"bytes"`
			Millis    float64 `json:"ms"`
			Cache     string  `json:"cache"`
			Origin    string  `json:"origin,omitempty"`
			Rule      string  `json:"rule,omitempty"`
			Denied    bool    `json:"denied,omitempty"`
			Form      string  `json:"form"`
			Service   string  `json:"service"`
			RequestID string  `json:"request_id"`
			Referer   string  `json:"referer,omitempty"`
			UserAgent string  `json:"user_agent,omitempty"`
		}{
			e.Time.UTC().Format(time.RFC3339Nano), client, e.User, e.Method, e.Target, e.Proto, e.Status, e.Bytes,
			float64(e.Took.Microseconds()) / 1000, e.Cache, origin, e.Rule, e.Denied, e.Form, e.Service, e.RequestID, e.Referer, e.UserAgent,
		})
		return string(line) + "\n"
	case "combined":
		return fmt.Sprintf("%s - %s [%s] \"%s %s %s\" %s %s \"%s\" \"%s\"\n",
			dash(client), dash(escape(e.User)), e.Time.Add(-e.Took).Format("02/Jan/2006:15:04:05 -0700"), escape(e.Method), escape(asReceived), e.Proto,
			dash(number(int64(e.Status))), dash(number(e.Bytes)), dash(escape(e.Referer)), dash(escape(e.UserAgent)))
	default:
		return fmt.Sprintf("%d.%03d %6d %s %s/%03d %d %s %s %s %s %s\n",
			e.Time.Unix(), e.Time.Nanosecond()/1e6, e.Took.Milliseconds(), dash(client), squidCode(e), e.Status, e.Bytes,
			word(e.Method), word(e.Target), dash(bracketed(e.User)), hierarchy, dash(word(regexp.MustCompile("^[^;\t ]*").FindString(e.Type))))
	}
}

func squidCode(e accesslog.Entry) string {
	switch {
	case e.Denied:
		return "TCP_DENIED"
	case e.Method == http.MethodConnect && !e.Refused:
		return "TCP_TUNNEL"
	case e.Status == 0 && e.Forwarded:
		return "TCP_MISS_ABORTED"
	}
	code, ok := map[string]string{
		"hit": "TCP_MEM_HIT", "revalidated": "TCP_REFRESH_UNMODIFIED", "stale": "TCP_REFRESH_FAIL_OLD", "miss": "TCP_MISS", "collapsed": "TCP_MISS",
	}[e.Cache]
	if !ok && e.Forwarded {
		return "TCP_MISS"
	}
	if !ok {
		return "NONE"
	}
	return code
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// number returns a number, "" for 0.
func number(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

// escape escapes as Apache's ap_escape_logitem.
func escape(s string) string {
	s = strings.ReplaceAll(strings.ReplaceAll(s, `\`, `\\`), `"`, `\"`)
	s = strings.NewReplacer("\b", `\b`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "\v", `\v`).Replace(s)
	return mapBytes(s, func(c byte) bool { return c >= ' ' && c < 0x7F }, `\x%02x`)
}

// bracketed escapes as Squid's QuoteMimeBlob.
func bracketed(s string) string {
	s = mapBytes(s, func(c byte) bool {
		return c >= ' ' && c < 0x7F && !strings.ContainsRune("%[]", rune(c)) || c == '\r' || c == '\n'
	}, "%%%02x")
	return strings.NewReplacer(`\`, `\\`, "\r", `\r`, "\n", `\n`).Replace(s)
}

func word(s string) string {
	return mapBytes(s, func(c byte) bool { return c > ' ' && c < 0x7F }, "%%%02X")
}

func mapBytes(s string, plain func(byte) bool, format string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		if plain(c) {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, format, c)
		}
	}
	return b.String()
}
