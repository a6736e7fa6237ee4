package accesslog

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// Format is a line format. The zero value is JSON. It is immutable and safe for concurrent use.
type Format struct {
	parts []part // nil for JSON
}

// append appends the line of an entry including the line end.
func (f Format) append(b []byte, r *record) []byte {
	if f.parts == nil {
		return appendJSON(b, &r.Entry)
	}
	for i := range f.parts {
		b = f.parts[i].append(b, r)
	}
	return append(b, '\n')
}

// Prefixes of templates in the syntax of Apache's mod_log_config and of Squid's logformat.
const (
	apachePrefix = "apache:"
	squidPrefix  = "squid:"
)

// namedTemplates returns the formats predefined by Apache's documentation and by Squid, as templates.
func namedTemplates() map[string]string {
	return map[string]string{
		"common":       apachePrefix + `%h %l %u %t "%r" %>s %b`,
		"combined":     apachePrefix + `%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i"`,
		"squid":        squidPrefix + `%ts.%03tu %6tr %>a %Ss/%03>Hs %<st %rm %ru %[un %Sh/%<a %mt`,
		"squid_common": squidPrefix + `%>a %[ui %[un [%tl] "%rm %ru HTTP/%rv" %>Hs %<st %Ss:%Sh`,
		"squid_combined": squidPrefix +
			`%>a %[ui %[un [%tl] "%rm %ru HTTP/%rv" %>Hs %<st "%{Referer}>h" "%{User-Agent}>h" %Ss:%Sh`,
		"referrer":  squidPrefix + `%ts.%03tu %>a %{Referer}>h %ru`,
		"useragent": squidPrefix + `%>a [%tl] "%{User-Agent}>h"`,
	}
}

// ParseFormat parses the name of a format, "json" (the default for "") or one predefined by Apache or Squid, or
// a template that begins with "apache:" or "squid:". An error names the invalid token, its offset, and a
// replacement.
func ParseFormat(text string) (Format, error) {
	if text == "" || text == "json" {
		return Format{}, nil
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
	return Format{}, fmt.Errorf("%q is not a format: write %s, or a template that begins with %s or %s", text,
		strings.Join(FormatNames(), ", "), apachePrefix, squidPrefix)
}

// FormatNames returns the names of the predefined formats; "json", the default, is first.
func FormatNames() []string {
	return append([]string{"json"}, slices.Sorted(maps.Keys(namedTemplates()))...)
}

// Cached reports whether the response was served from a cache.
func (e *Entry) Cached() bool {
	return e.Cache == "hit" || e.Cache == "revalidated" || e.Cache == "stale"
}

// squidCode returns Squid's result code for a request, which depends on the kind of request or the result of
// the cache lookup.
func squidCode(e *Entry) string {
	switch {
	case e.Denied:
		return "TCP_DENIED"
	case e.Method == http.MethodConnect && !e.Refused:
		return "TCP_TUNNEL"
	case e.Status == 0 && e.Forwarded: // the client has disconnected, or the server is stopping
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
