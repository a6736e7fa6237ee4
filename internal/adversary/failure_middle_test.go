package adversary

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// partialAction is an incomplete action of a client when the process ends: the beginning of a request to the service
// unless specified otherwise. %[1]s is the address of the origin, and %[2]s a unique text.
type partialAction struct {
	name, sends string
	to          func(*daemon) string // nil is the service
	reaches     string               // target that the origin must have received by then; "" is none
}

// middles end the process within each form of request by SIGTERM and by SIGKILL, and restart it with all that
// it has stored: no partial results may exist, and requests must be answered (RFC 9112 section 8,
// docs/operations.md).
func (s *stage) middles() []payload {
	admin := func(d *daemon) string { return d.admin }
	var payloads []payload
	for _, m := range []partialAction{
		{name: "a request line", sends: "GET /urn:ie"},
		{name: "a head", sends: "GET /urn:ietf:rfc:2648 HTTP/1.1\r\nHost: a\r\nAcc"},
		{name: "a PROXY header", sends: "PROXY TCP4 192.0."},
		{name: "the preface of HTTP/2", sends: "PRI * HTTP/2.0\r\n\r\nSM"},
		{
			name: "a body",
			sends: "POST /api/v1/resolve HTTP/1.1\r\nHost: a\r\nContent-Type: text/plain\r\nContent-Length: " +
				"100\r\n\r\nurn:plain:a\n",
		},
		{
			name: "a chunked body",
			sends: "POST /api/v1/resolve HTTP/1.1\r\nHost: a\r\nContent-Type: text/plain\r\nTransfer-Encoding: " +
				"chunked\r\n\r\nff\r\nurn:plain:a\n",
		},
		{
			name: "a name that is resolved", sends: "GET /urn:held:%[2]s HTTP/1.1\r\nHost: a\r\n\r\n",
			reaches: "/uri-res/N2L?urn:held:%[2]s",
		},
		{
			name: "a response that is stored", sends: "GET http://%[1]s/half/%[2]s HTTP/1.1\r\nHost: a\r\n\r\n",
			reaches: "/half/%[2]s",
		},
		{
			name:  "a response that is fetched",
			sends: "GET /fetch?uri=http://%[1]s/half/%[2]s HTTP/1.1\r\nHost: HOST\r\n\r\n", reaches: "/half/%[2]s",
		},
		{name: "an upload", sends: "PUT http://%[1]s/p/%[2]s HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nhalf"},
		{
			name:    "a tunnel",
			sends:   "CONNECT %[1]s HTTP/1.1\r\nHost: a\r\n\r\nGET /half/%[2]s HTTP/1.1\r\nHost: a\r\n\r\n",
			reaches: "/half/%[2]s",
		},
		{
			name: "a switched protocol",
			sends: "GET http://%[1]s/switch/%[2]s HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: " +
				"websocket\r\n\r\nhalf",
			reaches: "/switch/%[2]s",
		},
		{
			name: "a change of the registry",
			sends: "PUT /api/v1/names?uri=urn:own:%[2]s HTTP/1.1\r\nHost: HOST\r\nContent-Type: " +
				"application/json\r\nContent-Length: 60\r\n\r\n{\"targets\":[{\"uri\":",
			to: admin,
		},
	} {
		for signal, end := range map[string]func(context.Context, *daemon) error{
			"SIGTERM": func(ctx context.Context, d *daemon) error { return d.stop(ctx) },
			"SIGKILL": func(_ context.Context, d *daemon) error { d.kill(); return nil },
		} {
			payloads = append(payloads, payload{
				name: signal + " in the middle of " + m.name, section: "RFC 9112 section 8", shows: m.sends,
				play: func(ctx context.Context) error { return s.endsInTheMiddle(ctx, m, end) },
			})
		}
	}
	return inFamily("middles", payloads)
}

// endsInTheMiddle ends a daemon during a request, and starts another one with its stored data.
func (s *stage) endsInTheMiddle(ctx context.Context, m partialAction, end func(context.Context, *daemon) error) error {
	id, released := s.id(), make(chan struct{})
	release := sync.OnceFunc(func() { close(released) })
	defer release()
	for target, script := range s.halves(id, released) {
		s.origin.on(target, script)
	}
	directory := filepath.Join(s.directory, id)
	if err := os.Mkdir(directory, 0o700); err != nil {
		return err
	}
	store := "sqlite:" + filepath.Join(directory, "registry.db")
	environment := []string{
		"URND_REGISTRY_STORE=" + store, "URND_CACHE_DIRECTORY=" + directory, "URND_CACHE_DISK=16MiB",
		"URND_CACHE_DISK_DIRECTORY=" + filepath.Join(directory, "disk"),
		"URND_PROXY_CONNECT_PORTS=" + portOf(s.origin.address),
		"URND_LIMITS_SHUTDOWN_TIMEOUT=1s", "URND_LIMITS_ORIGIN_TIMEOUT=1m", "URND_THTTP_TIMEOUT=1m",
		"URND_RESOLVE_TIMEOUT=1m",
	}
	first, err := s.startWith(ctx, s.loggingTo(filepath.Join(directory, "access.log")), environment...)
	if err != nil {
		return err
	}
	defer first.kill()
	conn, err := s.begin(ctx, first, m, id)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := end(ctx, first); err != nil {
		return err
	}
	release()
	second, err := s.startWith(ctx, s.loggingTo(filepath.Join(directory, "access.log")), environment...)
	if err != nil {
		return fmt.Errorf("it does not start again: %w", err)
	}
	defer second.kill()
	return errors.Join(s.isWhole(ctx, second, id), second.answers(ctx), second.stop(ctx), s.verified(ctx, store))
}

// halves are scripts of the origin that begin a response, and end it when released is closed.
func (s *stage) halves(id string, released <-chan struct{}) map[string]script {
	begins := func(text string) script {
		return func(conn net.Conn, r *http.Request) bool {
			select {
			case <-released:
				return page(conn, r) // later requests get the complete page
			default:
			}
			_, _ = io.WriteString(conn, text)
			<-released
			return false
		}
	}
	half := "HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nContent-Type: text/plain\r\nContent-Length: " +
		"100000\r\n\r\n" + strings.Repeat("half",
		1000)
	return map[string]script{
		"/half/" + id: begins(half), "/switch/" + id: begins(switching),
		"/uri-res/N2L?urn:held:" + id: begins(""),
	}
}

// begin sends the beginning of a request and waits until it has arrived.
func (s *stage) begin(ctx context.Context, d *daemon, m partialAction, id string) (net.Conn, error) {
	address := d.service
	if m.to != nil {
		address = m.to(d)
	}
	from := friend
	if strings.HasPrefix(m.sends, "PROXY") {
		from = balancer
	}
	conn, err := connect(ctx, address, from)
	if err != nil {
		return nil, err
	}
	text := strings.NewReplacer("%[1]s", s.origin.address, "%[2]s", id, "HOST", address)
	if _, err := io.WriteString(conn, text.Replace(m.sends)); err != nil || m.reaches == "" {
		return conn, err
	}
	return conn, eventually(ctx, inTime, func() error {
		if s.origin.saw(text.Replace(m.reaches)) == nil {
			return errors.New("the request does not reach the origin")
		}
		return nil
	})
}

// isWhole returns an error if a partial response is served.
func (s *stage) isWhole(ctx context.Context, d *daemon, id string) error {
	got, err := get(ctx, d.service, friend, "http://"+s.origin.address+"/half/"+id)
	if err != nil || got.status == 200 && got.body != "yes" && len(got.body) != 100_000 {
		return errors.Join(err, fmt.Errorf("the response is answered %d with %d bytes", got.status, len(got.body)))
	}
	if got, err = get(ctx, d.admin, friend, "/api/v1/names?uri=urn:own:"+id); err != nil || got.status != 404 {
		return errors.Join(err, fmt.Errorf("half of a change is answered %d: %.200q", got.status, got.body))
	}
	return nil
}

// verified returns an error if a registry is damaged.
func (s *stage) verified(ctx context.Context, store string) error {
	if reported, err := exec.CommandContext(ctx, s.binary, "registry", "verify", "--store",
		store).CombinedOutput(); err != nil {
		return fmt.Errorf("verifying the registry: %w: %s", err, reported)
	}
	return nil
}
