package http

import (
	"net/http"
	"net/textproto"
	"sync"

	"github.com/urnd/urnd/internal/httpmessage"
)

// interimRelay forwards the interim responses of a stream in a goroutine of its own. The library reports them in the
// goroutine that reads for all streams of the connection, which a slow client must not block.
type interimRelay struct {
	request *request
	done    sync.WaitGroup

	mu    sync.Mutex
	heads chan interimHead // has capacity for all of them; nil for none yet
	count int
	ended bool
}

type interimHead struct {
	status int
	fields httpmessage.Fields
}

// add adds an interim response. It does not block.
func (i *interimRelay) add(status int, header textproto.MIMEHeader) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.count++; i.count > maxInterim {
		return invalid("more than %d interim responses", maxInterim)
	}
	if i.ended { // the library may still read for a request that was canceled
		return nil
	}
	if i.heads == nil {
		heads := make(chan interimHead, maxInterim)
		i.heads = heads
		i.done.Go(func() { i.forward(heads) })
	}
	i.heads <- interimHead{status, httpmessage.FromHeader(http.Header(header))}
	return nil
}

func (i *interimRelay) forward(heads <-chan interimHead) {
	for head := range heads {
		i.request.interim(head.status, head.fields)
	}
}

// end waits until all interim responses are forwarded. Later ones are dropped.
func (i *interimRelay) end() {
	i.mu.Lock()
	i.ended = true
	if i.heads != nil {
		close(i.heads)
	}
	i.mu.Unlock()
	i.done.Wait()
}
