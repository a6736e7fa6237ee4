//go:build e2e

package dialogs

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"mime"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// normalizer replaces parts that differ between runs. rules is the complete table: everything else is compared
// unmodified.
type normalizer struct {
	network string            // first three bytes of the addresses of the world
	bodies  map[string][]byte // long texts by hash: see bodyLines
}

// rule replaces the matches of an expression, or its group.
type rule struct {
	name    string
	why     string
	pattern *regexp.Regexp
	replace func(found string) string // nil removes it
}

// All lifetimes in the world are multiples of grain, in seconds. slack is the time limit of a family: a
// lifetime counted down from 600 is recorded as 600 while it is above 450.
const (
	grain = 300
	slack = 150
)

// upward returns the lifetime from which a number of seconds was counted down.
func upward(digits string) string {
	n, err := strconv.ParseInt(digits, 10, 64)
	if err == nil && n < 0 {
		if n > -slack {
			return "0"
		}
		return "<past>"
	}
	if missing := (grain - n%grain) % grain; err == nil && missing < slack {
		return strconv.FormatInt(n+missing, 10)
	}
	return digits
}

// upwardText is like upward for seconds, and for durations in the format of Go: 9m59s.
func upwardText(text string) string {
	lifetime, err := time.ParseDuration(text)
	if err != nil {
		return upward(text)
	}
	seconds, err := strconv.Atoi(upward(strconv.Itoa(int(lifetime.Seconds()))))
	if err != nil {
		return text
	}
	return (time.Duration(seconds) * time.Second).String()
}

// downward returns the age from which a number of seconds was counted up.
func downward(digits string) string {
	n, err := strconv.ParseInt(digits, 10, 64)
	if err == nil && n > 5*365*24*3600 {
		return "<since long ago>"
	}
	if above := n % grain; err == nil && above < slack {
		return strconv.FormatInt(n-above, 10)
	}
	return digits
}

// moment formats a time of today relative to now, and leaves other times unchanged.
func moment(layout string) func(string) string {
	return func(text string) string {
		at, err := time.Parse(layout, text)
		if err != nil {
			return text
		}
		switch distance := time.Until(at).Seconds(); {
		case distance < -slack || distance > 400*24*3600:
			return text
		case distance <= 2:
			return "<now>"
		default:
			return "<now+" + upward(strconv.Itoa(int(distance))) + ">"
		}
	}
}

// durations matches the durations in a trace, which may be 0 on a fast machine.
var durations = regexp.MustCompile(`"(?:took_)?us": ?(\d+)`)

// ages matches the ages of cached entries, in a trace and on its page.
var ages = regexp.MustCompile(`(\d+) ?s old`)

// rules is the table of normalizations.
var rules = []rule{
	{
		"date",
		"the time of a response, or one that is counted from it (Date, Expires, Last-Modified of what urnd makes)",
		regexp.MustCompile(`(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z][a-z] 20\d\d \d\d:\d\d:\d\d GMT`),
		moment(http.TimeFormat),
	},
	{
		"time", "the same in JSON", regexp.MustCompile(`20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z`),
		moment(time.RFC3339Nano),
	},
	{
		"lifetime", "the least of an answer: which record set has it differs by microseconds where several live as long",
		regexp.MustCompile(`\bttl ([0-9hms]+, of [^"<]+)`), func(string) string { return "<least>" },
	},
	{
		"lifetime", "it counts down while the family is played: the multiple of 300 seconds above it",
		regexp.MustCompile(`(?:ttl|max-age|s-maxage|"ttl":|"max_age":) ?=? ?(-?\d+)`), upward,
	},
	{"lifetime", "the same in a trace", regexp.MustCompile(`old, ttl ([0-9hms]+)`), upwardText},
	{"lifetime", "the same in a page", regexp.MustCompile(`validity(?:[\s":=,;]|</?[a-z]+[^0-9>]*>)*(\d+)`), upward},
	{"age", "it counts up: the multiple of 300 seconds below it", regexp.MustCompile(`(?mi)^Age: (\d+)`), downward},
	{"age", "the same in a trace, and on its page", ages, func(string) string { return "0" }},
	{"duration", "microseconds of a trace", durations, func(string) string { return "0" }},
	{
		"session", "the cookie of the admin interface is random",
		regexp.MustCompile(`(?m)^Set-Cookie: urnd=([0-9A-Za-z_-]{43})`), func(string) string { return "<session>" },
	},
	{
		"instance", "what Via calls this urnd is of its machine and addresses",
		regexp.MustCompile(`urnd-[0-9a-z]{9,13}\b`), func(string) string { return "urnd-<instance>" },
	},
	{
		"request identifier", "it is random", regexp.MustCompile(`"request": ?"([0-9a-f]{16})"`),
		func(string) string { return "<request>" },
	},
	{
		"request identifier", "it is random", regexp.MustCompile(`(?mi)^X-Request-Id: ([0-9a-f]{16})`),
		func(string) string { return "<request>" },
	},
}

// text applies the table.
func (n *normalizer) text(text string) string {
	text = strings.ReplaceAll(text, n.network+".", "NET.")
	for _, r := range rules {
		text = r.apply(text)
	}
	return text
}

func (r rule) apply(text string) string {
	var b strings.Builder
	done := 0
	for _, at := range r.pattern.FindAllStringSubmatchIndex(text, -1) {
		start, end := at[len(at)-2], at[len(at)-1]
		b.WriteString(text[done:start])
		b.WriteString(r.replace(text[start:end]))
		done = end
	}
	return b.String() + text[done:]
}

// validatedAge matches the age of a response that was just validated: it is sent after one second, because the
// origin's Date has a resolution of seconds.
var validatedAge = regexp.MustCompile(`(?mi)^Age: 0\r?\n`)

func (n *normalizer) head(head string) string {
	head = n.text(head)
	if strings.Contains(head, "fwd-status=304") {
		head = validatedAge.ReplaceAllString(head, "")
	}
	if at := strings.Index(head, "boundary="); at >= 0 { // of multipart/byteranges, which is random
		end := at + strings.IndexAny(head[at:]+"\r", "\r;")
		head = head[:at] + "boundary=<boundary>" + head[end:]
	}
	return head
}

// body returns a normalized body. One that is not text is unmodified.
func (n *normalizer) body(body []byte, boundary string) []byte {
	if boundary != "" {
		body = bytes.ReplaceAll(body, []byte(boundary), []byte("<boundary>"))
	}
	if len(body) > 64<<10 || bytes.Contains(body, []byte("01234567890")) { // of the origin, identical in all runs
		return body
	}
	return []byte(n.text(string(body)))
}

func boundaryOf(contentType []string) string {
	if len(contentType) == 0 {
		return ""
	}
	_, parameters, err := mime.ParseMediaType(contentType[0])
	if err != nil {
		return ""
	}
	return parameters["boundary"]
}

func hashOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:6])
}

// bodyLines formats a body: a short one completely, a long one by its beginning, size and hash. Long texts are
// stored in testdata/bodies.
func (n *normalizer) bodyLines(body []byte, note string) []string {
	if len(body) == 0 {
		return []string{"< [body: " + note + ", 0 bytes]"}
	}
	const whole, kept = 400, 64 << 10
	shown, rest := body, fmt.Sprintf("%d bytes", len(body))
	if len(body) > whole || !utf8.Valid(body) {
		shown = body[:min(len(body), 60)]
		if !utf8.Valid(body) {
			shown = nil
		}
		for !utf8.Valid(shown) {
			shown = shown[:len(shown)-1]
		}
		rest += ", sha256 " + hashOf(body)
		if len(body) <= kept && utf8.Valid(body) && bytes.Count(body, []byte("0123456789")) < 5 {
			n.bodies[hashOf(body)] = body
		}
	}
	lines := []string{"< [body: " + note + ", " + rest + "]"}
	for line := range strings.Lines(string(shown)) {
		lines = append(lines, "<   "+escape(strings.TrimSuffix(line, "\n")))
	}
	return lines
}
