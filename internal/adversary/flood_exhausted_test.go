package adversary

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// exhausted exhaust a limit, and then request each form of response: the result is the usual response, or a
// rejection that must not depend on the exhausted resource (CWE-770). Afterwards everything works as before.
func (s *stage) exhausted() []payload {
	var payloads []payload
	for _, q := range []struct{ limit, request string }{
		{"requests", "GET /urn:held:%[2]s HTTP/1.1\r\nHost: a\r\n\r\n"},
		{"fetches", "GET http://%[1]s/hang/%[2]s HTTP/1.1\r\nHost: a\r\n\r\n"},
		{
			"streams",
			"GET http://%[1]s/switch/%[2]s HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
		},
	} {
		p := payload{name: "limits." + q.limit + " and each form of reply", section: "CWE-770", shows: q.request}
		payloads = append(payloads, s.alone(p, func(ctx context.Context, d *daemon) error {
			idle, err := s.forms(ctx, d, nil)
			if err != nil {
				return err
			}
			release, err := s.exhaust(ctx, d, q.request)
			if err != nil {
				return err
			}
			refused, err := s.forms(ctx, d, idle)
			release()
			if err == nil && refused["503"] == 0 {
				err = errors.New("nothing is refused")
			}
			return errors.Join(err, eventually(ctx, inTime, func() error {
				after, err := s.forms(ctx, d, idle)
				if err == nil && after["503"] > idle["503"] {
					err = fmt.Errorf("%d are refused afterwards", after["503"])
				}
				return err
			}))
		}, "URND_LIMITS_"+strings.ToUpper(q.limit)+"=1", "URND_LIMITS_CLIENT_SHARE=100",
			"URND_LIMITS_ORIGIN_TIMEOUT=1m", "URND_RESOLVE_TIMEOUT=1m",
			"URND_THTTP_TIMEOUT=1m", "URND_LIMITS_IDLE_TIMEOUT=1m"))
	}
	return inFamily("exhausted", payloads)
}

// exhaust sends a request that the origin does not complete, and returns once it has arrived there.
func (s *stage) exhaust(ctx context.Context, d *daemon, request string) (release func(), err error) {
	id, released := s.id(), make(chan struct{})
	hangs := func(net.Conn, *http.Request) bool {
		<-released
		return false
	}
	switches := func(conn net.Conn, r *http.Request) bool {
		_, _ = io.WriteString(conn, switching)
		return hangs(conn, r)
	}
	targets := map[string]script{"/uri-res/N2L?urn:held:" + id: hangs, "/hang/" + id: hangs, "/switch/" + id: switches}
	for target, script := range targets {
		s.origin.on(target, script)
	}
	conn, err := connect(ctx, d.service, friend)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(conn, request, s.origin.address, id)
	err = eventually(ctx, inTime, func() error {
		for target := range targets {
			if s.origin.saw(target) != nil {
				return nil
			}
		}
		return errors.New("the request does not reach the origin")
	})
	return func() {
		conn.Close()
		close(released) // urnd may continue abandoned requests
	}, err
}

// forms requests each form of response, and returns the statuses by form and the number of each. If idle is not
// nil, each must be equal to that in idle, or a rejection with Retry-After.
func (s *stage) forms(ctx context.Context, d *daemon, idle map[string]int) (map[string]int, error) {
	all := make(map[string]int)
	for _, form := range []string{
		"GET /", "GET /urn:ietf:rfc:2648", "GET /urn:plain:%s", "GET /urn:held:%s", "GET /urn:none:%s", "GET /urn:a",
		"GET /nothing",
		"GET /uri-res/N2L?urn:plain:%s", "GET /uri-res/N2Ls?urn:held:%s", "GET /uri-res/N2C?urn:held:%s",
		"GET /uri-res/N2R?urn:held:%s",
		"GET /uri-res/I=I?urn:held:%s%%0aurn:held:a", "GET /api/v1/resolve?uri=urn:held:%s",
		"GET /api/v1/explain?uri=urn:held:%s",
		"POST /api/v1/resolve", "GET /namespaces", "GET /namespaces/ietf", "GET /?uri=urn:held:%s",
		"GET /fetch?uri=http://" + s.origin.address + "/p/%s",
		"GET http://" + s.origin.address + "/p/%s", "PUT http://" + s.origin.address + "/p/%s",
		"GET /http://" + s.origin.address + "/p/%s",
		"CONNECT " + s.origin.address, "GET http://" + s.origin.address + "/upgrade/%s", "OPTIONS *", "TRACE /",
		"GET /robots.txt",
	} {
		for _, mode := range []string{
			"", "Accept: text/html", "Accept: application/json", "Accept-Encoding: gzip",
			"HEAD",
		} {
			method, target, _ := strings.Cut(form, " ")
			id := s.id()
			s.origin.on("/uri-res/N2L?urn:held:"+id,
				respond("HTTP/1.1 302 Found\r\nLocation: http://a.example/\r\nContent-Length: 0\r\n\r\n"))
			target = strings.Replace(target, "%s", id, 1)
			fields, body := []string{mode}, ""
			switch {
			case mode == "HEAD" && method != "GET":
				continue
			case mode == "HEAD":
				method, fields = mode, nil
			case mode == "":
				fields = nil
			}
			if method == "POST" || method == "PUT" {
				body = "urn:held:" + id
				fields = append(fields, "Content-Type: text/plain")
			}
			key := form + " " + mode
			var got reply
			var err error
			if strings.Contains(target, "/upgrade/") {
				got, err = s.upgraded(ctx, d, target)
			} else {
				got, err = s.soonest(ctx, d, method, target, body, fields)
			}
			if err != nil {
				return nil, fmt.Errorf("%s (idle: %t): %w", key, idle == nil, err)
			}
			all[key] = got.status
			all[fmt.Sprint(got.status)]++
			isRefusal := got.status == 503 && got.header.Get("Retry-After") != "" &&
				got.header.Get("Cache-Control") == "no-store"
			if idle != nil && got.status != idle[key] && !isRefusal {
				return nil, fmt.Errorf("%s is answered %d %v, and %d before", key, got.status, got.header, idle[key])
			}
		}
	}
	return all, nil
}

// switching is the response of an origin that switches protocols.
const switching = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"

// upgraded requests a protocol switch from an origin, which accepts and then closes the connection.
func (s *stage) upgraded(ctx context.Context, d *daemon, target string) (reply, error) {
	s.origin.on(strings.TrimPrefix(target, "http://"+s.origin.address), respond(switching))
	conn, err := connect(ctx, d.service, friend)
	if err != nil {
		return reply{}, err
	}
	defer conn.Close()
	return roundTrip(conn, "GET "+target+" HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
}

// soonest sends a request with the time limit of a rejection.
func (s *stage) soonest(ctx context.Context, d *daemon, method, target, body string, fields []string) (reply, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return ask(ctx, d.service, friend, method, target, body, fields...)
}
