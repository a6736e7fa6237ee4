package adversary

import (
	"context"
	"errors"
	"fmt"
)

// lastHops are requests that must not be forwarded beyond this proxy (RFC 9110 section 7.6.2).
func (s *stage) lastHops() []payload {
	var payloads []payload
	for _, method := range []string{"TRACE", "OPTIONS"} {
		for _, field := range []string{"Max-Forwards: 0", "max-forwards: 0", "Max-Forwards:0", "Max-Forwards: 00"} {
			target := "/p/" + s.id()
			payloads = append(payloads, payload{
				name: method + " with " + field, section: "RFC 9110 section 7.6.2",
				shows: method + " " + target + " " + field,
				play: func(ctx context.Context) error {
					got, err := ask(ctx, s.service, friend, method, "http://"+s.origin.address+target, "", field)
					switch {
					case err != nil:
						return err
					case s.origin.saw(target) != nil:
						return fmt.Errorf("it was forwarded, and answered %d", got.status)
					case got.status >= 500 && got.status != 501:
						return fmt.Errorf("it is answered %d", got.status)
					default:
						return nil
					}
				},
			})
		}
		target := "/p/" + s.id()
		payloads = append(payloads, payload{
			name: method + " with Max-Forwards: 5", section: "RFC 9110 section 7.6.2", shows: method + " " + target,
			play: func(ctx context.Context) error {
				_, err := ask(ctx, s.service, friend, method, "http://"+s.origin.address+target, "", "Max-Forwards: 5")
				if r := s.origin.saw(target); r != nil && r.Header.Get("Max-Forwards") != "4" {
					err = errors.Join(err, fmt.Errorf("it was forwarded with Max-Forwards %q",
						r.Header.Get("Max-Forwards")))
				}
				return err
			},
		})
	}
	return inFamily("last hops", payloads)
}
