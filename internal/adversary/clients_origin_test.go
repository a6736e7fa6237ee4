package adversary

import (
	"bufio"
	"fmt"
	"hash/fnv"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// siteServer contains the origin servers of sites. Each has its own port, so that failures of one do not affect
// another. A resource is the first segment of a path.
type siteServer struct {
	listeners []net.Listener
	done      chan struct{}
	serving   sync.WaitGroup

	mu        sync.Mutex
	resources map[string]*resource
	open      map[net.Conn]bool
}

// siteConnection is a connection of a proxy to an origin.
type siteConnection struct {
	net.Conn
	server *siteServer
	// identity is the user to whom the connection is bound, as by NTLM; "" is none.
	identity string
}

func newSiteServer(n int) (*siteServer, error) {
	s := &siteServer{done: make(chan struct{}), resources: make(map[string]*resource), open: make(map[net.Conn]bool)}
	for range n {
		listener, err := net.Listen("tcp", originHost+":0")
		if err != nil {
			s.close()
			return nil, err
		}
		s.listeners = append(s.listeners, listener)
		s.serving.Go(func() { s.accept(listener) })
	}
	return s, nil
}

// address returns the address of one of the servers.
func (s *siteServer) address(i int) string { return s.listeners[i].Addr().String() }

// on creates a resource. names replaces the texts that identify it.
func (s *siteServer) on(id string, site site, names *strings.Replacer) *resource {
	r := newResource(site, names)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.resources[id] = r
	return r
}

// off releases all requests held by a resource and removes it.
func (s *siteServer) off(id string) {
	s.mu.Lock()
	r := s.resources[id]
	delete(s.resources, id)
	s.mu.Unlock()
	if r != nil {
		r.let(r.release)
	}
}

func (s *siteServer) resource(path string) *resource {
	id, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.resources[id]
}

func (s *siteServer) accept(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.open[conn] = true
		s.mu.Unlock()
		s.serving.Go(func() {
			s.serve(&siteConnection{Conn: conn, server: s})
			_ = conn.Close()
			s.mu.Lock()
			defer s.mu.Unlock()
			delete(s.open, conn)
		})
	}
}

func (s *siteServer) serve(conn *siteConnection) {
	for reader := bufio.NewReaderSize(conn, 64<<10); ; {
		r, err := http.ReadRequest(reader)
		if err != nil {
			return
		}
		content, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
		if err != nil {
			return
		}
		resource := s.resource(r.URL.Path)
		if resource == nil {
			_, _ = io.WriteString(conn,
				"HTTP/1.1 404 Not Found\r\nCache-Control: no-store\r\nContent-Length: 0\r\n\r\n")
			continue
		}
		v := &visit{Request: r, resource: resource, content: string(content), conn: conn}
		resource.enters(v)
		stays := v.answer()
		resource.leaves()
		if !stays {
			return
		}
	}
}

// answer handles a request and reports whether the connection persists.
func (v *visit) answer() bool {
	s := v.site
	if s.gated && v.isAttacker() && !v.isHeld() {
		return v.drops()
	}
	if s.own != nil {
		return s.own(v)
	}
	status, fields := http.StatusOK, []string(nil)
	if s.reacts != nil {
		status, fields = s.reacts(v)
	}
	return v.respond(status, append(append([]string(nil), s.fields...), fields...), v.echo())
}

// drops resets the connection.
func (v *visit) drops() bool {
	if conn, ok := v.conn.Conn.(*net.TCPConn); ok {
		_ = conn.SetLinger(0)
	}
	return false
}

// respond sends a response according to preconditions and ranges (RFC 9110 sections 13.2 and 14.2).
func (v *visit) respond(status int, fields []string, text string) bool {
	hash := fnv.New64a()
	_, _ = io.WriteString(hash, text)
	tag := fmt.Sprintf(`"%x"`, hash.Sum64())
	now := time.Now().UTC().Format(http.TimeFormat)
	fields = append(slices.Clip(fields), "ETag: "+tag, "X-Serial: "+strconv.Itoa(v.serial), "Content-Type: text/plain",
		"Date: "+now)
	switch first, last, ok := v.part(len(text)); {
	case !ok || status != http.StatusOK:
	case first >= len(text):
		fields = append(fields, fmt.Sprintf("Content-Range: bytes */%d", len(text)))
		status, text = http.StatusRequestedRangeNotSatisfiable, "no such range"
	default:
		fields = append(fields, fmt.Sprintf("Content-Range: bytes %d-%d/%d", first, last, len(text)))
		status, text = http.StatusPartialContent, text[first:last+1]
	}
	if status == http.StatusOK && v.Header.Get("If-None-Match") == tag {
		status = http.StatusNotModified
	}
	head := fmt.Sprintf("HTTP/1.1 %d %s\r\n%s\r\n", status, http.StatusText(status), strings.Join(fields, "\r\n"))
	if status == http.StatusNotModified || status == http.StatusNoContent {
		return v.writes(head + "\r\n")
	}
	if (v.site.endless || v.site.chunked) && v.Method != http.MethodHead {
		return v.streams(head, text)
	}
	head += fmt.Sprintf("Content-Length: %d\r\n\r\n", len(text))
	if v.Method == http.MethodHead {
		return v.writes(head)
	}
	if v.site.stalls && v.isAttacker() {
		if !v.writes(head+text[:len(text)/2]) || !v.isHeld() {
			return v.drops()
		}
		return v.writes(text[len(text)/2:])
	}
	return v.writes(head + text)
}

// streams sends a body of unknown length, or an endless one.
func (v *visit) streams(head, text string) bool {
	text = fmt.Sprintf("%x\r\n%s\r\n", len(text), text)
	ok := v.writes(head + "Transfer-Encoding: chunked\r\n\r\n" + text)
	for ok && v.site.endless {
		ok = v.writes(text)
	}
	return ok && v.writes("0\r\n\r\n")
}

func (v *visit) writes(text string) bool {
	_, err := io.WriteString(v.conn, text)
	return err == nil
}

// part returns the requested range; ok is false if it is not a single range supported by this origin.
func (v *visit) part(size int) (first, last int, ok bool) {
	text, ok := strings.CutPrefix(v.Header.Get("Range"), "bytes=")
	from, to, isRange := strings.Cut(text, "-")
	first, err := strconv.Atoi(from)
	if !ok || !isRange || err != nil || v.Method != http.MethodGet || v.Header.Get("If-Range") != "" {
		return 0, 0, false
	}
	last = size - 1
	if to != "" {
		if last, err = strconv.Atoi(to); err != nil || last < first {
			return 0, 0, false
		}
	}
	return first, min(last, size-1), true
}

// close closes all connections and waits for their goroutines.
func (s *siteServer) close() {
	close(s.done)
	for _, listener := range s.listeners {
		_ = listener.Close()
	}
	s.mu.Lock()
	for conn := range s.open {
		_ = conn.Close()
	}
	s.mu.Unlock()
	s.serving.Wait()
}
