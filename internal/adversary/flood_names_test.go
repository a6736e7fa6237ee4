package adversary

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// slowNames are many names, or pages, requested by one client, whose server does not respond (RFC 9110 section
// 17.12, CWE-770).
func (s *stage) slowNames() []payload {
	s.origin.on("/uri-res/N2L", s.origin.hangs)
	s.origin.on("/hang", s.origin.hangs)
	slow := []string{
		"URND_LIMITS_REQUESTS=32", "URND_THTTP_TIMEOUT=15s", "URND_RESOLVE_TIMEOUT=15s",
		"URND_ACCESS_PROXY_CLIENTS=127.0.0.0/8", "URND_LIMITS_FETCHES=32", "URND_LIMITS_ORIGIN_TIMEOUT=15s",
	}
	fresh := s.id()
	s.dns.has(fresh+"."+zoneRoot, rightRule)
	requested := payload{name: "names whose server is silent", section: "CWE-770"}
	fetched := payload{name: "pages whose server is silent", section: "CWE-770"}
	silent := payload{name: "names whose DNS is silent", section: "CWE-770"}
	return inFamily("slow names", []payload{
		s.alone(requested, func(ctx context.Context, d *daemon) error {
			return s.starves(ctx, d, 64, func(i int) string { return fmt.Sprintf("/urn:held:slow-%d", i) },
				"/urn:"+fresh+":b", 302)
		}, slow...),
		s.alone(fetched, func(ctx context.Context, d *daemon) error {
			return s.starves(ctx, d, 64,
				func(i int) string { return fmt.Sprintf("http://%s/hang?%d", s.origin.address, i) },
				"http://"+s.origin.address+"/p/victim", 200)
		}, slow...),
		s.alone(silent, func(ctx context.Context, d *daemon) error {
			for i := range 64 {
				s.dns.on(fmt.Sprintf("silent%d.%s", i, zoneRoot), func(question) [][]byte { return nil })
			}
			return s.starves(ctx, d, 64, func(i int) string { return fmt.Sprintf("/urn:silent%d:a", i) },
				"/urn:"+fresh+":c", 302)
		}, append(slow, "URND_DNS_TIMEOUT=15s")...),
	})
}

// starves sends n slow requests of one client. While they wait, another client must get a response; the first
// one is rejected beyond its quota, but still gets responses that need no server.
func (s *stage) starves(
	ctx context.Context, d *daemon, n int, target func(i int) string, other string, status int,
) error {
	flooding, stop := context.WithCancel(ctx)
	var outcomes tally
	var sent atomic.Int64
	done := make(chan struct{})
	defer func() { stop(); <-done }()
	go func() {
		defer close(done)
		many(n, func(i int) {
			sent.Add(1)
			outcomes.note(getUntil(flooding, d.service, stranger, target(i)))
		})
	}()
	const share = 16 // half of the slots; generous, because the default quota is a quarter
	err := eventually(ctx, 5*time.Second, func() error {
		if refused := outcomes.sum("503"); refused < n-share || sent.Load() < int64(n) {
			return fmt.Errorf("of %d slow requests of one client only %d are refused: %s", n, refused, &outcomes)
		}
		return nil
	})
	if late := soon(ctx, d, victim, other, status); late != nil {
		return errors.Join(fmt.Errorf("another client is not answered: %w", late), err)
	}
	if err != nil {
		return err
	}
	if bare := outcomes.sum("503") - outcomes.sum("503 with Retry-After"); bare > 0 {
		return fmt.Errorf("%d refusals have no Retry-After", bare)
	}
	for _, client := range []string{stranger, victim} {
		for i, name := range []string{"/urn:ietf:rfc:%d", "/urn:isbn:0-395-36341-1?=%d"} {
			if err := soon(ctx, d, client, fmt.Sprintf(name, 1000+i+len(client)), 302); err != nil {
				return fmt.Errorf("a name that needs no server: %w", err)
			}
		}
	}
	return nil
}

// getUntil is like get, but ends with ctx.
func getUntil(ctx context.Context, address, from, target string) (reply, error) {
	conn, err := connect(ctx, address, from)
	if err != nil {
		return reply{}, err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	return roundTrip(conn, "GET "+target+" HTTP/1.1\r\nHost: "+address+"\r\nConnection: close\r\n\r\n")
}
