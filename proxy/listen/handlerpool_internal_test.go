package listen

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/urnd/urnd/internal/testserver"
)

// Handlers are called, and their panics are passed on, whether a goroutine of the pool is free or not, and none is left of the pool.
func TestHandlerPool(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	var running, callers sync.WaitGroup
	pool := newHandlerPool(ctx, &running)
	request := &http.Request{ProtoMajor: 2}
	began, release := make(chan struct{}), make(chan struct{})
	block := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		began <- struct{}{}
		<-release
		w.WriteHeader(http.StatusTeapot)
	})
	const calls = pooledHandlers + 10
	status := make(chan int, calls)
	for range calls {
		callers.Go(func() {
			w := httptest.NewRecorder()
			pool.serve(block, w, request)
			status <- w.Code
		})
	}
	testserver.Within(t, "all handlers at once", func() {
		for range calls {
			<-began
		}
	})
	abort := func() {
		for range 2 {
			func() {
				defer func() {
					if got, _ := recover().(error); !errors.Is(got, http.ErrAbortHandler) {
						t.Errorf("the panic is %v", got)
					}
				}()
				pool.serve(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }), nil, request)
			}()
		}
	}
	abort()
	close(release)
	testserver.Within(t, "the end of the handlers", callers.Wait)
	for range calls {
		if got := <-status; got != http.StatusTeapot {
			t.Errorf("status %d", got)
		}
	}
	abort()
	end()
	testserver.Within(t, "the end of the pool", running.Wait)
	abort()
}
