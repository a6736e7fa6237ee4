package forward

import (
	"io"
	"net/http"
	"time"
)

// bodyOf returns the body of a request, which is not to be closed: net/http does so, and would read
// what is left first. By HTTP/2 each read of it has a deadline: that of the connection, which the
// listener sets, is one for all of its streams.
func (p *Proxy) bodyOf(w http.ResponseWriter, r *Request) io.Reader {
	if r.ProtoMajor != 2 {
		return struct{ io.Reader }{r.Body}
	}
	return streamBody{r.Body, http.NewResponseController(w), func() time.Time { return p.config.Now().Add(p.config.BodyTimeout) }}
}

// streamBody is the body of a stream.
type streamBody struct {
	io.Reader
	control  *http.ResponseController
	deadline func() time.Time
}

// Read implements io.Reader.
func (b streamBody) Read(p []byte) (int, error) {
	_ = b.control.SetReadDeadline(b.deadline())
	n, err := b.Reader.Read(p)
	_ = b.control.SetReadDeadline(time.Time{}) // or the stream would end when it passes
	return n, err                              //nolint:wrapcheck // it stands for the body that it wraps
}
