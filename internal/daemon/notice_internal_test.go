package daemon

import (
	"net/http"
	"runtime"
	"testing"
	"time"
)

// TestNoticeTime checks that connections are accepted for NoticeTime even if none is open, because a load
// balancer may still open one.
func TestNoticeTime(t *testing.T) {
	d := serving(t)
	const notice = 300 * time.Millisecond
	d.current.generation.Load().NoticeTime = notice
	begin := time.Now()
	ended := make(chan struct{})
	go func() {
		d.announce()
		close(ended)
	}()
	for requested := 0; ; {
		select {
		case <-ended:
			if took := time.Since(begin); took < notice || requested < 2 {
				t.Errorf("after %v and %d requests it accepts no more", took, requested)
			}
			return
		default:
		}
		if d.Connections() > 0 { // the last one is closing
			runtime.Gosched()
			continue
		}
		response, err := http.DefaultTransport.RoundTrip(request(t, "http://"+d.Address("http")))
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		requested++
	}
}

func request(t *testing.T, url string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
