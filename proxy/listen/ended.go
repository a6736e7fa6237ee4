package listen

import (
	"context"
	"net/http"
	"sync"
)

// Ended returns a context that ends when the client has ended its side of the connection, while the request may be
// answered: it may have left. It is nil for a request that came by no Server.
func Ended(r *http.Request) context.Context {
	conn, ok := r.Context().Value(connKey{}).(*requestConn)
	if !ok {
		return nil
	}
	return conn.ended.context()
}

// ended is whether the client of a connection has ended its side. It is safe for concurrent use.
type ended struct {
	begin sync.Once
	ctx   context.Context //nolint:containedctx // it is that of no request
	end   context.CancelFunc
}

func (e *ended) context() context.Context {
	e.begin.Do(func() { e.ctx, e.end = context.WithCancel(context.Background()) })
	return e.ctx
}

// note notes the end.
func (e *ended) note() {
	e.context()
	e.end()
}
