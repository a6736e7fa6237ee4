package ddds

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver"
)

// hostile returns families of records that would multiply memory or time.
func hostile() map[string]func(i int) NAPTR {
	rule := func(expression string) func(int) NAPTR {
		return func(i int) NAPTR { return NAPTR{Order: 1, Preference: uint16(i), Flags: "u", Regexp: expression} }
	}
	random := rand.New(rand.NewPCG(1, 2))
	return map[string]func(i int) NAPTR{
		"back-references": rule("!^(.*)$!http://a/" + strings.Repeat(`\1`, 108) + "!"),
		"just too long":   rule(`!^(.*)$!http://a/\1\1!`),
		"repetitions":     rule("!(.?){999}x!http://a/!"),
		"nested":          rule("!((((a{9}){9}){9})|b)*x!http://a/!"),
		"many groups":     rule("!" + strings.Repeat("(.?){9}", 26) + "x!http://a/!"),
		"ambiguous":       rule("!(.*a){20}b!http://a/!"),
		"alternatives":    rule("!(a|b|c|d|e|f|g|h)*z!http://a/!"),
		"classes":         rule("!" + strings.Repeat("[[:alnum:][:punct:]]*", 10) + "x!http://a/!i"),
		"stars":           rule("!" + strings.Repeat("a*", 100) + "x!http://a/!"),
		"servers and paths": func(int) NAPTR {
			return NAPTR{Order: 1, Flags: "s", Services: "thttp+N2L", Replacement: "many.example."}
		},
		"random": func(i int) NAPTR {
			const parts = "(((a|.)*+?{9}[^b])$^"
			var b strings.Builder
			for range 120 {
				b.WriteByte(parts[random.IntN(len(parts))])
			}
			return rule("!" + b.String() + `!http://a/\1\2!`)(i)
		},
	}
}

func bytesOf(records []NAPTR) int {
	n := 0
	for _, r := range records {
		n += 12 + len(r.Flags) + len(r.Services) + len(r.Regexp) + len(r.Replacement)
	}
	return n
}

// The memory for one name is linear in the bytes of the records, and within the limits of an answer; the work
// of matching is within its limit.
func TestLinear(t *testing.T) {
	const bytesEach = 2500 // bytes of memory for each byte of a record: a program of a thousand instructions
	var many []SRV
	for i := range 1500 {
		many = append(many, SRV{Port: uint16(i), Target: "a.example."})
	}
	for family, make := range hostile() {
		for _, n := range []int{1, 10, 100, 300} {
			for _, length := range []int{10, 1000, 7900} {
				var records []NAPTR
				for i := range n {
					records = append(records, make(i))
				}
				s := &script{sets: map[string]set{
					"foo.urn.arpa. NAPTR": {naptr: records, ttl: time.Hour},
					"many.example. SRV":   {srv: many, ttl: time.Hour},
				}}
				r := New(Config{Lookup: s, Roots: []string{"urn.arpa."}, MaxDomains: 5})
				name := "urn:foo:" + strings.Repeat("a", length)
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				answer, err := r.Resolve(t.Context(), query(t, name))
				runtime.ReadMemStats(&after)
				used := int(after.TotalAlloc - before.TotalAlloc)
				if most := bytesEach*bytesOf(records[:min(n, maxRules)]) + 8*resolver.MaxAnswer +
					400*length*min(n, maxRules); used > most {
					t.Errorf("%s, %d records, %d bytes of name: %d bytes of memory, more than %d", family, n, length,
						used, most)
				}
				total := 0
				for _, l := range answer.Locations {
					if total += len(l.URI); len(l.URI) > resolver.MaxLocation {
						t.Errorf("%s: a location of %d bytes", family, len(l.URI))
					}
				}
				if total > resolver.MaxAnswer {
					t.Errorf("%s: an answer of %d bytes", family, total)
				}
				if err == nil && total == 0 {
					t.Errorf("%s: an answer without locations", family)
				}
			}
		}
	}
}

// If the work limit is reached before a rule matches, the resolution fails without a negative answer, and the
// trace has the reason.
func TestWork(t *testing.T) {
	var records []NAPTR
	for i := range 40 {
		records = append(records, hostile()["many groups"](i))
	}
	last := NAPTR{Order: 1, Preference: 1000, Flags: "u", Regexp: "!.*!http://a/!"}
	wrong := NAPTR{Order: 2, Services: "", Replacement: "wrong.example."} // costs no work, and would match all names
	s := &script{sets: map[string]set{"foo.urn.arpa. NAPTR": {naptr: append(records[2:], last, wrong), ttl: time.Hour}}}
	r := New(Config{Lookup: s, Roots: []string{"urn.arpa."}, MaxDomains: 5})
	ctx, trace := resolver.WithTrace(t.Context(), time.Now)
	_, err := r.Resolve(ctx, query(t, "urn:foo:"+strings.Repeat("a", 7900)))
	if !errors.Is(err, resolver.ErrUnreachable) || !errors.Is(err, errWork) {
		t.Errorf("got %v", err)
	}
	if steps := fmt.Sprint(trace.Steps()); !strings.Contains(steps,
		"matching the rules exceeds the budget of one name") {
		t.Errorf("the trace is %.500s", steps)
	}
	if answer, err := r.Resolve(t.Context(), query(t, "urn:foo:a")); err != nil || locations(answer) != "http://a/" {
		t.Errorf("a name of usual length: %v, %v", answer, err)
	}
}

// A result that is too long matches but is not usable; the next rule of the order is.
func TestLongResult(t *testing.T) {
	s := &script{sets: map[string]set{"foo.urn.arpa. NAPTR": {naptr: []NAPTR{
		{Order: 1, Preference: 1, Flags: "u", Regexp: `!^(.*)$!http://a/\1\1!`},
		{Order: 1, Preference: 2, Flags: "u", Regexp: `!^(.*)$!http://b/!`},
	}, ttl: time.Hour}}}
	r := New(Config{Lookup: s, Roots: []string{"urn.arpa."}, MaxDomains: 5})
	ctx, trace := resolver.WithTrace(t.Context(), time.Now)
	answer, err := r.Resolve(ctx, query(t, "urn:foo:"+strings.Repeat("a", 5000)))
	if err != nil || locations(answer) != "http://b/" {
		t.Errorf("%v, %v", answer, err)
	}
	if steps := fmt.Sprint(trace.Steps()); !strings.Contains(steps, "result exceeds 8192 bytes") {
		t.Errorf("the trace is %.500s", steps)
	}
}
