package proxy_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/proxy"
)

// A location whose server failed is avoided for a while if there is another one.
func TestRedirectByHealth(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	down := "http://" + closed.Addr().String() + "/"
	closed.Close()
	up := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer up.Close()
	var later atomic.Int64
	s := start(t, func(c *proxy.Config) { c.Now = func() time.Time { return time.Unix(later.Load(), 0) } })
	s.next = withLocations(down, up.URL+"/")
	location := func() string { return s.get(t, "/urn:example:1").Header.Get("Location") }
	if got := location(); got != down {
		t.Errorf("before anybody knows: %s", got)
	}
	if response := s.get(t, "/uri-res/N2R?urn:example:1"); response.StatusCode != http.StatusOK {
		t.Errorf("the second one has it: %d", response.StatusCode)
	}
	if got := location(); got != up.URL+"/" {
		t.Errorf("while it is known to fail: %s", got)
	}
	list := text(t, s.get(t, "/uri-res/N2Ls?urn:example:1", "Accept: application/json"))
	if first, second, _ := strings.Cut(list, "},"); !strings.Contains(first, `"failing": true`) ||
		strings.Contains(second, "failing") {
		t.Errorf("all locations: %s", list)
	}
	later.Store(31)
	if got := location(); got != down {
		t.Errorf("after a while: %s", got)
	}
	s.next = withLocations(down)
	if s.get(t, "/uri-res/N2R?urn:example:1"); location() != down {
		t.Error("the only server is skipped")
	}
}
