package adversary

import (
	"context"
	"fmt"
	"strings"
)

// blamed are requests that fail because of the client. The origin must not be considered failing: urnd would
// redirect all clients to another location of a name.
func (s *stage) blamed() []payload {
	var payloads []payload
	for name, body := range map[string]string{
		"a chunk of the size g":   "Transfer-Encoding: chunked\r\n\r\ng\r\n",
		"a chunk without its end": "Transfer-Encoding: chunked\r\n\r\n5\r\nabcdefgh\r\n",
		"a body that is cut off":  "Content-Length: 100\r\n\r\nabc",
		"chunks that are cut off": "Transfer-Encoding: chunked\r\n\r\n5\r\nab",
	} {
		host, nid := s.id()+".hosts.example", s.id()
		authority := host + ":" + portOf(s.origin.address)
		s.dns.has(host, "60 IN A "+originHost)
		s.dns.has(nid+"."+zoneRoot, `60 IN NAPTR 1 1 "u" "http+N2L" "!^.*$!http://`+authority+`/!" .`,
			`60 IN NAPTR 1 2 "u" "http+N2L" "!^.*$!http://other.example/!" .`)
		data := "POST http://" + authority + "/p/blamed HTTP/1.1\r\nHost: " + authority + "\r\nConnection: close\r\n" +
			body
		payloads = append(payloads, payload{
			name: name + " is not the fault of the origin", section: "RFC 9110 section 15.5.1", shows: data,
			play: func(ctx context.Context) error {
				if _, err := converse(ctx, s.service, friend, data, "POST"); err != nil {
					return err
				}
				got, err := get(ctx, s.service, stranger, "/urn:"+nid+":a")
				if err == nil && !strings.HasPrefix(got.header.Get("Location"), "http://"+authority) {
					err = fmt.Errorf("another client is answered %d, Location %q", got.status,
						got.header.Get("Location"))
				}
				return err
			},
		})
	}
	return inFamily("health of origins", payloads)
}
