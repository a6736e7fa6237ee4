package forward_test

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/cache/memory"
	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/testserver"
)

// parsedFields returns the fields of a text as a parser of HTTP does: names and values are substrings.
func parsedFields(text string) httpmessage.Fields {
	fields := make(httpmessage.Fields, 0, strings.Count(text, "\n"))
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
		fields.Add(name, value)
	}
	return fields
}

// manyFields returns n lines with distinct names.
func manyFields(n int, value string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("f" + strconv.Itoa(i) + ":" + value + "\n")
	}
	return b.String()
}

// TestMemoryOfResponses: the size counted for stored responses matches the growth of the heap.
func TestMemoryOfResponses(t *testing.T) {
	if testing.Short() {
		t.Skip("it is long: make test-all runs it")
	}
	const usual = "Date:Sun, 22 Nov 2026 08:00:00 GMT\nContent-Type:text/html; " +
		"charset=utf-8\nEtag:\"0123456789abcdef\"\nLast-Modified:Sat, 21 Nov 2026 08:00:00 GMT\n" +
		"Server:nginx\nAccept-Ranges:bytes\nX-Frame-Options:DENY\nX-Content-Type-Options:nosniff\nReferrer-Policy:no-referrer\n"
	for _, shape := range []struct {
		name, fields string
		uris         int
		requests     func(i int) []httpmessage.Fields
	}{
		{"usual", usual, 1000, nil},
		{"few fields", "", 1000, nil},
		{"990 empty fields", manyFields(990, ""), 50, nil},
		{"400 empty fields", manyFields(400, ""), 200, nil},
		{"100 fields", manyFields(100, "some value"), 200, nil},
		{"few large", "X-A:" + strings.Repeat("a", 30000) + "\nX-B:" + strings.Repeat("b", 50000) + "\n", 100, nil},
		{"long names", manyFields(20, "") + "X-" + strings.Repeat("a", 5000) + ":1\nX-" + strings.Repeat("b", 5000) +
			":1\n", 300, nil},
		{"values of one name", strings.Repeat("Link:\n", 990), 200, nil},
		{"removed", "Connection:X-Gone\nX-Gone:" + strings.Repeat("a",
			100_000) + "\nCache-Control:max-age=60, private=\"X-Private\"\nX-Private:" + strings.Repeat("b", 50_000) +
			"\n", 1000, nil},
		{"variants", usual + "Vary:Accept-Language\n", 50, func(int) []httpmessage.Fields {
			var all []httpmessage.Fields
			for i := range 30 {
				all = append(all, httpmessage.NewFields("Accept-Language", fmt.Sprintf("de-%d, en;q=0.5", i)))
			}
			return all
		}},
		{"long selectors", usual + "Vary:Cookie\n", 20, func(int) []httpmessage.Fields {
			var all []httpmessage.Fields
			for i := range 20 {
				all = append(all, httpmessage.NewFields("Cookie",
					fmt.Sprintf("a=%d; b=%s", i, strings.Repeat("c", 4000))))
			}
			return all
		}},
		{
			"many selectors", usual + "Vary:A0, A1, A2, A3, A4, A5, A6, A7, A8, A9, A10, A11, A12, A13, A14, A15\n",
			500, nil,
		},
	} {
		t.Run(shape.name, func(t *testing.T) {
			store, err := memory.New(memory.Config[*httpcache.Entry]{
				MaxBytes: 512 << 20,
				Size:     (*httpcache.Entry).Size,
			})
			if err != nil {
				t.Fatal(err)
			}
			defer store.Close()
			now := func() time.Time { return time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC) }
			c := httpcache.New(httpcache.Config{
				Store: store, Now: now, MaxObject: 1 << 20, MaxArriving: 1 << 20,
				SameOrigin: func(string, string) (string, bool) { return "", false },
			})
			defer c.Close()
			store.Each(func(*cache.Entry[*httpcache.Entry]) bool { return true })
			before := testserver.HeapInUse()
			for i := range shape.uris {
				requests := []httpmessage.Fields{nil}
				if shape.requests != nil {
					requests = shape.requests(i)
				}
				for j, request := range requests {
					fill(t, c, "http://a.example/"+strconv.Itoa(i), request,
						"Cache-Control:max-age=60\n"+shape.fields+"X-End:"+strconv.Itoa(i)+" "+strconv.Itoa(j)+"\n")
				}
			}
			store.Each(func(*cache.Entry[*httpcache.Entry]) bool { return true }) // waits for pending writes
			grown, counted := testserver.HeapInUse()-before, store.Stats().Bytes
			t.Logf("%d entries, %d bytes grown, %d counted: %.2f", store.Stats().Entries, grown, counted,
				float64(counted)/float64(grown))
			if counted*5 < grown*4 || counted*4 > grown*5 {
				t.Errorf("%d bytes grown, %d counted", grown, counted)
			}
			runtime.KeepAlive(c)
		})
	}
}

// fill stores a response to a request.
func fill(t *testing.T, c *httpcache.Cache, key string, request httpmessage.Fields, fields string) {
	t.Helper()
	a, err := c.Serve(t.Context(),
		&httpcache.Request{Request: httpmessage.Request{Method: "GET", Fields: request}, Key: key},
		httpcache.OriginFunc(func(context.Context, httpcache.Outgoing) (*httpmessage.Response, error) {
			text := "HTTP/1.1 200 Fine\n" + fields
			_, lines, _ := strings.Cut(text, "\n")
			return &httpmessage.Response{
				Status: 200, Reason: text[len("HTTP/1.1 200 "):len("HTTP/1.1 200 Fine")],
				Fields: httpcache.EndToEnd(parsedFields(lines)),
				Body:   io.NopCloser(strings.NewReader("0123456789abcdef")), ContentLength: 16,
			}, nil
		}))
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Content.SendTo(io.Discard, nil); err != nil {
		t.Fatal(err)
	}
	a.Content.Close()
}
