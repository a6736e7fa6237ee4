package httpcache_test

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/internal/httpmessage"
)

// row is a requirement of a specification, or another rule, with a script that checks it. The lines of a script
// are:
//
//	< STATUS BODY | FIELD: VALUE | ...    set the response of the origin; "_" is no body
//	< fails                               make the origin unreachable
//	+ 3s                                  advance the clock
//	> METHOD PATH | FIELD: VALUE | ...    send a client request; the path may be missing
//	= HOW STATUS BODY | FIELD: VALUE      expect an answer; "!FIELD" must be missing, "*" is any body
//	^ FIELD: VALUE | ...                  expect the last request at the origin; "METHOD" alone is its method
//
// HOW is hit, stale (a stale hit), miss, valid (the origin sent 304) or error. {-10} is the HTTP-date 10
// seconds ago.
type row struct{ section, level, name, script string }

const must, should, may = "MUST", "SHOULD", "MAY"

// play runs the scripts, and counts the requirements by level.
func play(t *testing.T, rows []row) {
	t.Helper()
	counts := make(map[string]int)
	for _, r := range rows {
		counts[r.level]++
		t.Run(r.section+" "+r.name, func(t *testing.T) { newSite(t, nil).play(r.script) })
	}
	t.Logf("%d MUST, %d SHOULD, %d MAY", counts[must], counts[should], counts[may])
}

func (s *site) play(script string) {
	s.t.Helper()
	var last got
	for line := range strings.Lines(script) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		parts := strings.Split(s.dated(line[1:]), " | ")
		for i := range parts {
			parts[i] = strings.Trim(parts[i], " ")
		}
		words := strings.Fields(parts[0])
		switch line[0] {
		case '<':
			s.answers(words, parts[1:])
		case '+':
			d, err := time.ParseDuration(words[0])
			if err != nil {
				s.t.Fatal(err)
			}
			s.clock.advance(d)
		case '>':
			r := &httpcache.Request{
				Request: httpmessage.Request{Method: words[0], Fields: fields(parts[1:]...)},
				Key:     target, Gateway: true,
			}
			if len(words) > 1 {
				r.Key = "http://a.example" + words[1]
			}
			last = s.request(r)
		case '=':
			s.wants(line, last, words, parts[1:])
		case '^':
			s.asked(line, s.last(), parts)
		default:
			s.t.Fatalf("%q is not a step", line)
		}
	}
}

// answers sets the response of the origin.
func (s *site) answers(words, lines []string) {
	if words[0] == "fails" {
		s.fails(errOrigin)
		return
	}
	status, err := strconv.Atoi(words[0])
	if err != nil {
		s.t.Fatal(err)
	}
	body := strings.Join(words[1:], " ")
	if body == "_" {
		body = ""
	}
	s.sends(status, body, lines...)
}

var how = map[string]func(got) bool{
	"hit":   func(g got) bool { return g.Outcome.Hit() && !g.Outcome.Stale },
	"stale": func(g got) bool { return g.Outcome.Hit() && g.Outcome.Stale },
	"miss":  func(g got) bool { return !g.Outcome.Hit() && (g.Outcome.OriginStatus != 304) },
	"valid": func(g got) bool { return !g.Outcome.Hit() && g.Outcome.OriginStatus == 304 },
}

// wants checks the answer that the client received.
func (s *site) wants(line string, g got, words, lines []string) {
	s.t.Helper()
	if words[0] == "error" {
		if g.err == nil {
			s.t.Errorf("%s: got %d %q, %s", line, g.Status, g.body, g.Outcome.Status("urnd"))
		}
		return
	}
	if g.err != nil {
		s.t.Fatalf("%s: it failed: %v", line, g.err)
	}
	body := ""
	if len(words) > 2 {
		body = strings.Join(words[2:], " ")
	}
	if !how[words[0]](g) || strconv.Itoa(g.Status) != words[1] || body != "*" && g.body != body || g.broken != nil {
		s.t.Errorf("%s: got %d %q %v, %s", line, g.Status, g.body, g.broken, g.Outcome.Status("urnd"))
	}
	header := g.Fields.Clone()
	for _, f := range g.Added {
		header.Set(f.Name, f.Value)
	}
	s.has(line, header, lines)
}

// asked checks the request that the origin received.
func (s *site) asked(line string, r sent, parts []string) {
	s.t.Helper()
	if !strings.ContainsAny(parts[0], ":!") {
		if r.method != parts[0] {
			s.t.Errorf("%s: the origin got %s", line, r.method)
		}
		parts = parts[1:]
	}
	s.has(line, r.header, parts)
}

func (s *site) has(line string, header httpmessage.Fields, lines []string) {
	s.t.Helper()
	for _, want := range lines {
		if name, ok := strings.CutPrefix(want, "!"); ok {
			if values := header.Values(http.CanonicalHeaderKey(name)); len(values) > 0 {
				s.t.Errorf("%s: %s is %q", line, name, values)
			}
			continue
		}
		name, value, _ := strings.Cut(want, ": ")
		if got := strings.Join(header.Values(http.CanonicalHeaderKey(name)), ", "); got != value {
			s.t.Errorf("%s: %s is %q", line, name, got)
		}
	}
}

var offset = regexp.MustCompile(`\{([+-]?\d+)\}`)

// dated replaces {-10} by the HTTP-date 10 seconds ago.
func (s *site) dated(line string) string {
	return offset.ReplaceAllStringFunc(line, func(m string) string {
		n, _ := strconv.Atoi(m[1 : len(m)-1])
		return s.clock.now().Add(time.Duration(n) * time.Second).UTC().Format(http.TimeFormat)
	})
}
