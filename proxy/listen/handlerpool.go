package listen

import (
	"context"
	"net/http"
	"sync"
)

// net/http begins a goroutine for each request by HTTP/2, whose stack grows anew: that was a tenth of what a cached answer costs. So
// handlers run in goroutines that wait for the next request, where one is free.

// handlerPool runs handlers. A nil pool has no goroutines. It is safe for concurrent use.
type handlerPool struct {
	calls  chan *handlerCall
	unused sync.Pool // of *handlerCall
}

// handlerCall is one request, for which another goroutine waits.
type handlerCall struct {
	handler  http.Handler
	w        http.ResponseWriter
	r        *http.Request
	panicked any
	ended    chan struct{}
}

// pooledHandlers is how many goroutines there are.
const pooledHandlers = 32

// newHandlerPool starts the goroutines of a pool, which end with ctx.
func newHandlerPool(ctx context.Context, running *sync.WaitGroup) *handlerPool {
	p := &handlerPool{calls: make(chan *handlerCall)}
	for range pooledHandlers {
		running.Go(func() { p.work(ctx) })
	}
	return p
}

func (p *handlerPool) work(ctx context.Context) {
	for {
		select {
		case call := <-p.calls:
			call.run()
		case <-ctx.Done():
			return
		}
	}
}

// serve calls a handler, and returns or panics as that does. Where no goroutine is free it is called in this one, as it is by HTTP/1,
// where this is that of the connection.
func (p *handlerPool) serve(handler http.Handler, w http.ResponseWriter, r *http.Request) {
	if p == nil || r.ProtoMajor != 2 {
		handler.ServeHTTP(w, r)
		return
	}
	call, _ := p.unused.Get().(*handlerCall)
	if call == nil {
		call = &handlerCall{ended: make(chan struct{}, 1)}
	}
	call.handler, call.w, call.r = handler, w, r
	select {
	case p.calls <- call:
		<-call.ended
	default:
		handler.ServeHTTP(w, r)
	}
	panicked := call.panicked
	*call = handlerCall{ended: call.ended}
	p.unused.Put(call)
	if panicked != nil {
		panic(panicked) //nolint:forbidigo // it is that of the handler
	}
}

func (c *handlerCall) run() {
	defer func() {
		c.panicked = recover()
		c.ended <- struct{}{}
	}()
	c.handler.ServeHTTP(c.w, c.r)
}
