package adversary

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// rules are NAPTR records with expensive expressions, or whose replacements grow exponentially (RFC 3402
// section 3.2, CWE-1333).
func (s *stage) rules() []payload {
	var payloads []payload
	add := func(name string, expression string) {
		nid := s.id()
		var records []string
		for i := range 100 {
			records = append(records, fmt.Sprintf(`60 IN NAPTR 1 %d "u" "http+N2L" "%s" .`, i, masterFile(expression)))
		}
		s.dns.has(nid+"."+zoneRoot, records...)
		p := payload{name: name, section: "RFC 3402 section 3.2", shows: expression}
		payloads = append(payloads, s.alone(p, func(ctx context.Context, d *daemon) error {
			return s.explodes(ctx, d, nid)
		}))
	}
	add("108 back-references", `!^(.*)$!http://a.example/`+strings.Repeat(`\1`, 105)+"!")
	add("back-references of nine groups",
		`!^((((((((((.*))))))))))$!http://a.example/`+strings.Repeat(`\1\2\3\4\5\6\7\8\9`, 11)+"!")
	add("a replacement that is no location", `!^(.*)$!`+strings.Repeat(`\1`, 110)+"!")
	add("nested repetitions", `!^((((a*)*)*)*)*b$!http://a.example/!`)
	add("alternatives that overlap", `!^(a|a|a|a|a|a|a|aa|aaa)*b$!http://a.example/!`)
	add("counted repetitions", `!^(.{0,30}){0,30}b$!http://a.example/!`)
	add("the largest counted repetition", `!^(.?){90}(.?){90}(.?){90}b$!http://a.example/!`)
	add("many groups", `!^`+strings.Repeat("(.*)", 50)+`b$!http://a.example/!`)
	add("no anchor", `!`+strings.Repeat("a*", 100)+`b!http://a.example/!`)
	add("classes", `!^`+strings.Repeat("[^b]*", 40)+`b$!http://a.example/!i`)
	return inFamily("expensive rules", payloads)
}

// explodes requests 64 names of 8 kB concurrently, while another client must get a response.
func (s *stage) explodes(ctx context.Context, d *daemon, nid string) error {
	var outcomes tally
	done := make(chan struct{})
	go func() {
		defer close(done)
		many(64, func(i int) {
			prefix := fmt.Sprintf("/urn:%s:%d", nid, i)
			outcomes.note(getUntil(ctx, d.service, fmt.Sprintf("127.0.1.%d", i+1),
				prefix+strings.Repeat("a", 8150-len(prefix))))
		})
	}()
	late := soon(ctx, d, victim, "/urn:ietf:rfc:7", 302)
	<-done
	if outcomes.sum("3") > 0 {
		late = errors.Join(late, fmt.Errorf("there are locations: %s", &outcomes))
	}
	if bad := outcomes.sum("500") + outcomes.sum("error"); bad > 0 {
		late = errors.Join(late, fmt.Errorf("they are answered %s", &outcomes))
	}
	return errors.Join(late, d.below(300))
}
